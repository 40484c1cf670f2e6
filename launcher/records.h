/* `autofit show`: the records of this user, read from their folder. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_RECORDS_H
#define AUTOFIT_LAUNCHER_RECORDS_H

#include "launcher/options.h"
#include "probes/process_state.h"

/* All records, the one of NAME, or the one of a command. The exit code. */
int records_show_command(const struct options *options,
			 const struct process_state *state);

#endif
