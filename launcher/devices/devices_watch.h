/* `autofit devices --watch`: the devices again and again, until stopped. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_DEVICES_DEVICES_WATCH_H
#define AUTOFIT_LAUNCHER_DEVICES_DEVICES_WATCH_H

#include "base/strlist.h"
#include "launcher/options/options.h"
#include "probes/process/process_state.h"

/*
 * One look every options->watch_ms: on a terminal a table that is drawn over
 * itself, else a line for each device, with --json - a JSON line instead, with
 * --json FILE both. Ends by a signal as any program does, and with 0 when
 * nobody reads on; 125 when nothing can be watched or written.
 */
int devices_watch_command(const struct options *options,
			  const struct strlist *environment,
			  const struct process_state *state);

#endif
