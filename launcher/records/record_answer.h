/* What is recorded for a command, and whether it holds here and now. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_RECORDS_RECORD_ANSWER_H
#define AUTOFIT_LAUNCHER_RECORDS_RECORD_ANSWER_H

#include "base/error.h"
#include "configs/records/record.h"
#include "launcher/report/result.h"
#include "launcher/request/request.h"

/*
 * The best record of the job's command, or what --from names; none with
 * --fresh. -errno only when --from cannot be used. The caller releases it.
 */
int recall_find(struct record_match *match, const struct job *job,
		struct error *err);

/*
 * Answer without a probe if the match allows it: exact, or near with
 * --trust-record; the split keeps what was asked for; and its peak is free
 * now, else the largest recorded split that fits now is taken. 1: result is
 * filled in as reused and has taken the record over; 0: it cannot be used.
 */
int recall_use(struct result *result, struct record_match *match,
	       const struct job *job);

/* Both at once, when no more is wanted of a record than an answer. */
int recall_answer(struct result *result, const struct job *job);

/*
 * A run that is resumed or requeued keeps the split it was first started with,
 * unless that no longer fits. 1: result is filled in as reused.
 */
int recall_start(struct result *result, const struct job *job);

/* Worth one check probe: near, and its split answers what is asked for. */
bool recall_is_checkable(const struct record_match *match,
			 const struct job *job);

/* The question asks for nothing that this split would not keep. */
bool recall_keeps_batch(const struct job *job, const struct record *record);

#endif
