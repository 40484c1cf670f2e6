/* A command of the user's run once under the library of probes. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_DEVICES_DEVICES_CHECK_COMMAND_H
#define AUTOFIT_LAUNCHER_DEVICES_DEVICES_CHECK_COMMAND_H

#include "launcher/devices/devices_checked.h"
#include "probes/process/process_state.h"

/*
 * Starts the command as it is typed, but for the library and the step hook, its
 * output on stderr, and waits for its end; --time-limit and a signal end it.
 * What the library counted and torch says go into checked->command. folder is
 * this user's alone, library lies in it.
 */
void devices_check_command_run(struct devices_checked *checked,
			       const struct options *options,
			       const struct process_state *state,
			       const char *folder, const char *library);

#endif
