/* `autofit nightly --init`: a commented list to begin with. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_NIGHTLY_INIT_H
#define AUTOFIT_LAUNCHER_NIGHTLY_NIGHTLY_INIT_H

#include "launcher/options/options.h"
#include "probes/process/process_state.h"

/* To JOBS, which must not be there yet, or to stdout. The exit code. */
int nightly_init(const struct options *options,
		 const struct process_state *state);

#endif
