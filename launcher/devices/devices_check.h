/* `autofit devices --check`: a self-test of GPUs that users run and send. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_DEVICES_DEVICES_CHECK_H
#define AUTOFIT_LAUNCHER_DEVICES_DEVICES_CHECK_H

#include "base/strlist.h"
#include "launcher/options/options.h"
#include "probes/process/process_state.h"

/*
 * Looks at all GPUs and tests one of them, with at most 1 GiB of its memory
 * and for at most 30 s. The findings go to stdout, with --json - the object
 * instead, with --json FILE both. Returns 0, 119 when something is not as
 * autofit needs it, 125 when no GPU could be tested; ends by a signal that
 * came meanwhile.
 */
int devices_check_command(const struct options *options,
			  const struct strlist *environment,
			  const struct process_state *state);

#endif
