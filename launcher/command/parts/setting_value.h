/* The value of a setting in a command, by argument or file. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_PARTS_SETTING_VALUE_H
#define AUTOFIT_LAUNCHER_COMMAND_PARTS_SETTING_VALUE_H

#include "base/strlist.h"
#include "launcher/command/parts/command.h"
#include "launcher/command/parts/recognition.h"
#include "launcher/command/text/names.h"

#include <stdbool.h>

/* Equal keys of one file beyond so many are not told apart. */
#define SETTINGS_SAME_MAX 16

/*
 * What the command says of a setting: by its last argument, else by its config
 * files; "true" for a switch; NULL: nothing.
 */
const char *setting_value(const struct command *command, const char *name);
/* The same of "NAME" or "NAME DEFAULT"; name takes the name. */
const char *setting_or_default(const struct command *command, const char *entry,
			       char name[NAME_MAX_BYTES]);
/* A variable of the command's environment; NULL: not set, or not known. */
const char *variable_value(const struct recognition *r, const char *name);
/* See docs/presets.md, CONDITION. */
bool condition_holds(const struct recognition *r, const char *condition);
bool any_condition_holds(const struct recognition *r,
			 const struct strlist *conditions);

/* The script lets Hydra put its configuration together. */
bool uses_hydra(const struct recognition *r);

/* May a config file set more than is known of it? */
bool config_is_open(const struct recognition *r);

#endif
