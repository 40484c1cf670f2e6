/* `autofit diff OLD NEW`: two records, or two summaries of nights. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_DIFF_H
#define AUTOFIT_LAUNCHER_NIGHTLY_DIFF_H

#include "launcher/options/options.h"
#include "probes/process/process_state.h"

/* 0, 119 when NEW is worse or fails somewhere, 125 for a file of neither. */
int diff_command(const struct options *options,
		 const struct process_state *state);

#endif
