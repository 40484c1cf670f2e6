/* The program: options in, one sub-command run, an exit code out. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_APP_H
#define AUTOFIT_LAUNCHER_APP_H

#include "probes/process/process_state.h"

/*
 * Returns the exit code, unless autofit became the command, or a signal ended
 * a tuning: then it dies by that signal.
 */
int app_run(const struct process_state *state, int argc, char **argv);

#endif
