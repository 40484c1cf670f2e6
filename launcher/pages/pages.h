/* `autofit report`: what was found, as curves or as a page. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PAGES_PAGES_H
#define AUTOFIT_LAUNCHER_PAGES_PAGES_H

#include "launcher/options/options.h"
#include "probes/process/process_state.h"

/* Of a record, or of the night in a folder of results; returns the exit code.
 */
int pages_command(const struct options *options,
		  const struct process_state *state);

#endif
