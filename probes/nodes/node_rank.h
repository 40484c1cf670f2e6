/* The autofit in front of a rank, on the node where Slurm has started it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_NODES_NODE_RANK_H
#define AUTOFIT_PROBES_NODES_NODE_RANK_H

#include "base/strlist.h"
#include "probes/process/process_state.h"

/*
 * Runs the command below a keeper of its own, passes its output on, looks at
 * its memory, and reports to the folder that NODE_VARIABLE named (see
 * node_report.h). Ends it when told so there, when the folder is gone, when the
 * autofit that waits for the reports has not moved for a while, and by SIGTERM.
 * Returns the command's exit status, or ends by the signal that ended it.
 */
int node_rank_run(const struct process_state *state, const char *folder,
		  const struct strlist *argv);

#endif
