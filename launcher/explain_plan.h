/* What `explain` says of a command, as JSON for programs. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_EXPLAIN_PLAN_H
#define AUTOFIT_LAUNCHER_EXPLAIN_PLAN_H

#include "launcher/command/rewrite/rewrite.h"
#include "launcher/request/request.h"
#include "launcher/tuning/plan/plan.h"

#include <stdint.h>

/* What a launch of the command would do. */
struct explained {
	const struct request *request;
	/* The first probe; another action than PLAN_PROBE: there is none. */
	struct plan_step first;
	/* What would be run: the recorded split, else that of the first probe
	 * were it the answer. */
	int64_t micro_batch, grad_accum;
};

/* The values of the probe and of the run. */
struct command_values explain_probe_values(const struct explained *explained);
struct command_values explain_final_values(const struct explained *explained);

/* Names of knobs for the user: "micro-batch"; and for programs: "micro". */
const char *knob_title(enum knob_kind kind);

/*
 * The object "plan" of the result: recognition with its evidence, knobs,
 * constraints, caveats, model facts, and the commands of the first probe and
 * of the run with their config copies line by line. The caller frees the text.
 */
char *explain_plan(const struct explained *explained);

#endif
