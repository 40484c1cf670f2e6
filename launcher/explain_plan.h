/* What `explain` says of a command, as JSON for programs. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_EXPLAIN_PLAN_H
#define AUTOFIT_LAUNCHER_EXPLAIN_PLAN_H

#include "launcher/command/rewrite/rewrite.h"
#include "launcher/request/request.h"

#include <stdint.h>

/* The values of a probe and of the run, as explain shows them. */
struct command_values explain_probe_values(const struct request *request,
					   int64_t micro, int64_t accum);
struct command_values explain_final_values(const struct request *request,
					   int64_t micro, int64_t accum);

/* Names of knobs for the user: "micro-batch"; and for programs: "micro". */
const char *knob_title(enum knob_kind kind);

/*
 * The object "plan" of the result: recognition with its evidence, knobs,
 * constraints, caveats, model facts, and the commands of the first probe and
 * of the run with their config copies line by line. The caller frees the text.
 */
char *explain_plan(const struct request *request, int64_t micro, int64_t accum);

#endif
