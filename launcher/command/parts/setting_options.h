/* Words that set what a config file of the command does. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_PARTS_SETTING_OPTIONS_H
#define AUTOFIT_LAUNCHER_COMMAND_PARTS_SETTING_OPTIONS_H

#include "launcher/command/parts/recognition.h"

/*
 * The word behind "--name" is its value, so "--tag batch_size=8" sets nothing.
 * It is a setting where the script says that the option takes many words, or
 * none at all; and where nothing is said of the option, but a config file of
 * the command has that very key, or the option speaks of a config. So is the
 * word before a number that is such a key itself. Sets view.setting_options and
 * view.pair_keys, once the script's options and the config files are read.
 */
enum command_outcome setting_options_find(struct recognition *r);

#endif
