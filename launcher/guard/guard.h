/* --guard: the real run is watched, and started smaller if memory ran out. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_GUARD_GUARD_H
#define AUTOFIT_LAUNCHER_GUARD_GUARD_H

#include "launcher/report/result.h"
#include "launcher/request/request.h"

#include <stdbool.h>

/*
 * Without --guard autofit becomes the run by exec, and knows nothing of its
 * end. With it autofit stays as the parent of the run, which looks from outside
 * as if it were autofit itself (see guarded_run.h). What happens at its end:
 *
 * - It ends well: where the split had a short probe only, its record is
 *   confirmed. Autofit ends with 0.
 * - It ran out of memory (see run_evidence.h for what tells): the record is
 *   lowered, as by `autofit lower`, and the run is started again with the next
 *   smaller tested split of the same effective batch. That wants a way to go on
 *   from where it was: {resume:WORDS} in the command, or what the preset says.
 *   Where there is neither, or no smaller split, autofit says so and ends as
 *   the run did: work is never begun anew without being asked for, over
 *   checkpoints that may be there.
 * - Anything else, also an end that a signal to autofit asked for: autofit ends
 *   as the run did, by its status or its signal.
 *
 * Each restart has a smaller micro-batch than the one before, so that there are
 * few. Processes that a run left behind may hold its memory: they are waited
 * for, and where they stay nothing is started.
 */

/* Has this answer a record that can be learned from, here? Says why not. */
bool guard_can(const struct request *request, const struct result *result);

/*
 * Runs what the result recommends until it is over; the exit code of autofit.
 * Does not return where autofit ends by a signal.
 */
int guard_run(const struct request *request, struct result *result);

#endif
