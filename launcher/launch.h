/* `autofit -- command` and `autofit tune`: record or tuning, report, exec. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_LAUNCH_H
#define AUTOFIT_LAUNCHER_LAUNCH_H

#include "launcher/options/options.h"
#include "launcher/report/report.h"
#include "launcher/report/result.h"
#include "launcher/request/request.h"
#include "probes/process/process_state.h"

#include <stdbool.h>

/* The exit code; does not return when the command was started. */
int launch_command(const struct options *options,
		   const struct process_state *state);

/* Only a copy could have other sizes, and nobody has asked for one: a launch
 * ends with 122. */
bool launch_lacks_copy(const struct request *request);

#endif
