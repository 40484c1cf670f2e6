/* `autofit doctor`: is all there that autofit needs, and if not, what to do. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_DOCTOR_DOCTOR_H
#define AUTOFIT_LAUNCHER_DOCTOR_DOCTOR_H

#include "launcher/options/options.h"
#include "probes/process/process_state.h"

/* A line for each check on stdout. 0, or 119 when one needs a remedy. */
int doctor_command(const struct options *options,
		   const struct process_state *state);

#endif
