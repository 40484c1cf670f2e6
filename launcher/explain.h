/* `autofit explain`: what would be done, and why; starts nothing. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_EXPLAIN_H
#define AUTOFIT_LAUNCHER_EXPLAIN_H

#include "launcher/options/options.h"
#include "probes/process/process_state.h"

/* Prints to stdout, or JSON with --json; the exit code. */
int explain_command(const struct options *options,
		    const struct process_state *state);

#endif
