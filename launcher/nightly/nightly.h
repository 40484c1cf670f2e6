/* `autofit nightly`: a list of commands tuned, compared and published. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_NIGHTLY_H
#define AUTOFIT_LAUNCHER_NIGHTLY_NIGHTLY_H

#include "launcher/options/options.h"
#include "probes/process/process_state.h"

/*
 * The exit code: 0, 119 when a job needs a look, 125 when the list has
 * mistakes (all of them on stderr, nothing started) or results cannot be
 * written. A signal that ended the night ends the program.
 */
int nightly_command(const struct options *options,
		    const struct process_state *state);

#endif
