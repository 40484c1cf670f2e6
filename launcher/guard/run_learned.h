/* What a guarded run teaches the record that its sizes came from. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_GUARD_RUN_LEARNED_H
#define AUTOFIT_LAUNCHER_GUARD_RUN_LEARNED_H

#include "base/error.h"
#include "configs/records/record.h"
#include "launcher/request/request.h"

/*
 * The split of this record, with which the run was started, ran out of memory:
 * the next smaller tested one of the same effective batch takes its place, as
 * by `autofit lower`. A run takes long, so that the file may have changed: it
 * is read anew. Where it is smaller by now, it is right; where it is larger,
 * the run had a smaller split because less was free, and nothing is written.
 * -ENOENT when there is no smaller split; the record is then as it was.
 */
int run_learned_lower(struct record *record, const struct request *request,
		      struct error *err);

/* The run went to its end: what had a short probe only is confirmed. */
void run_learned_confirm(const struct record *record,
			 const struct request *request);

#endif
