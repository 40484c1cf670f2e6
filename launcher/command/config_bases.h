/* The config files that a config file is built on. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_CONFIG_BASES_H
#define AUTOFIT_LAUNCHER_COMMAND_CONFIG_BASES_H

#include "launcher/command/parts/recognition.h"

/*
 * Of a framework whose sizes are KEY=VALUE words: what the files below the key
 * _base_ of its config hold, and over it what the config holds itself, become
 * the settings of that file. Where one is missing, or more than values decides,
 * nothing is said of any of it.
 */
enum command_outcome config_bases_find(struct recognition *r);

#endif
