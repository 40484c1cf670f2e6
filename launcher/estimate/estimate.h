/* `autofit estimate`: what memory a run needs, before anything is started. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_H
#define AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_H

#include "launcher/options/options.h"
#include "probes/process/process_state.h"

/*
 * The text on stdout, with --json - the object instead, with --json FILE both.
 * 0 whether or not it fits; 122 and 123 where a command cannot be read, 125
 * where numbers are missing or do not go together, after a line on stderr.
 */
int estimate_command(const struct options *options,
		     const struct process_state *state);

#endif
