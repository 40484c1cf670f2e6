/* Refuses commands that must not be probed, before the first probe. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ADMISSION_PRECONDITIONS_H
#define AUTOFIT_LAUNCHER_ADMISSION_PRECONDITIONS_H

#include "launcher/command/text/command_outcome.h"
#include "launcher/request/request.h"
#include "probes/probe.h"

/*
 * COMMAND_REFUSED with a message when a probe would take something from the
 * real run (a named pipe among the arguments), or would run where nothing may
 * run (a Slurm login node, unless --device host or --memory says that it is
 * meant). Else COMMAND_OK. See also command_unwrap.
 */
enum command_outcome preconditions_check_unsafe(const struct request *request,
						struct error *err);

/*
 * COMMAND_REFUSED for host memory of processes that are no descendants of the
 * command (srun, docker) and report nothing: nothing of it would be seen. And
 * for GPUs on several nodes.
 */
enum command_outcome preconditions_check_outside(const struct request *request,
						 enum probe_device device,
						 struct error *err);

#endif
