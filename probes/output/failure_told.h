/* What launchers tell of the processes that they started. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OUTPUT_FAILURE_TOLD_H
#define AUTOFIT_PROBES_OUTPUT_FAILURE_TOLD_H

#include "base/span.h"
#include "probes/output/failure.h"

/*
 * Is the line a launcher's own, and not of what it started? What it tells is
 * noted. Known are torchrun, accelerate, deepspeed, mpirun, srun, horovodrun,
 * Lightning, conda run, make.
 */
bool failure_told_line(struct failure_told *told, struct span line);

/* The exception of one: torch's spawn names a rank in it. */
void failure_told_exception(struct failure_told *told, struct span exception);

#endif
