/* A command while its launchers are taken off. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_WRAPPER_H
#define AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_WRAPPER_H

#include "base/error.h"
#include "base/strlist.h"
#include "configs/launchers/launcher.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/shell/shell_command.h"
#include "launcher/command/text/command_hints.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/wrappers/unwrap.h"

#include <stdbool.h>
#include <stddef.h>

/* A command while its launchers are peeled. */
struct wrapper {
	struct command_view *view;
	const struct strlist *argv; /* flat */
	size_t at;                  /* the argument that is looked at */
	bool done;                  /* the program itself is found */
	bool shell_is_taken;        /* apart, that is */
	const struct command_hints *hints;
	const struct launchers *launchers;
	const struct presets *presets;
	struct strlist environment; /* of what is started, as far as known */
	struct named_files *texts;
	struct error *err;
};

/* The argument at wrapper->at, or NULL. */
const char *wrapper_here(const struct wrapper *wrapper);
/* The word of shell text that argument index is; NULL: of no such. */
const struct word *wrapper_word(const struct wrapper *wrapper, size_t index);
/* Fails where what the argument at wrapper->at stands for is not known. */
enum command_outcome wrapper_check_known(const struct wrapper *wrapper);
/* The value for what is started; NULL: not set, or not known. */
const char *wrapper_variable(const struct wrapper *wrapper, const char *name);
/* NAME=value holds from here on. */
void wrapper_assign(struct wrapper *wrapper, const char *assignment);
/*
 * Does what an option says that changes what is known; else nothing. second:
 * of the option's two values, or NULL.
 */
void wrapper_apply(struct wrapper *wrapper, enum launch_word word,
		   const char *value, const char *second);
/* launcher: what should have named one. */
enum command_outcome wrapper_no_program(const struct wrapper *wrapper,
					const char *launcher);
/* Sets the message; returns the outcome. */
enum command_outcome launch_fail(const struct wrapper *wrapper,
				 enum command_outcome outcome,
				 const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The user says where the sizes belong. */
bool wrapper_has_placeholders(const struct wrapper *wrapper);
/* The program at wrapper->at is taken with all that follows: nothing of it is
 * read but the placeholders. */
enum command_outcome wrapper_as_it_stands(struct wrapper *wrapper);
/* Python would read its program from standard input: refused. */
enum command_outcome wrapper_from_stdin(const struct wrapper *wrapper);
/* A script of Python is at wrapper->at: it is taken. */
enum command_outcome wrapper_script(struct wrapper *wrapper);

#endif
