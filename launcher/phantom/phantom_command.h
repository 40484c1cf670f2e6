/* `autofit phantom CARD -- command`: once, untouched, on a phantom card. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PHANTOM_PHANTOM_COMMAND_H
#define AUTOFIT_LAUNCHER_PHANTOM_PHANTOM_COMMAND_H

#include "launcher/options/options.h"
#include "probes/process/process_state.h"

/*
 * The exit code is the command's own when it failed; else 120 when a process
 * took more of a card than --limit, 123 when that cannot be said (no process
 * used the card, or sizes depend on values), and 0.
 */
int phantom_command(const struct options *options,
		    const struct process_state *state);

#endif
