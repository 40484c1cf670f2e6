/* Answers from records: finds the record, checks that it holds here and now. */
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
int record_answer_find(struct record_match *match,
		       const struct request *request, struct error *err);

/*
 * Answer without a probe if the match allows it: exact, or near with
 * --trust-record; the split keeps what was asked for; and its peak is free
 * now, else the largest recorded split that fits now is taken. 1: result is
 * filled in as reused and has taken the record over; 0: it cannot be used.
 */
int record_answer_use(struct result *result, struct record_match *match,
		      const struct request *request);

/* Both at once, when no more is wanted of a record than an answer. */
int record_answer_fill(struct result *result, const struct request *request);

/*
 * A run that is resumed or requeued keeps the split it was first started with,
 * unless that no longer fits. 1: result is filled in as reused.
 */
int record_answer_start(struct result *result, const struct request *request);

/* Worth one check probe: near, and its split answers what is asked for. */
bool record_answer_is_checkable(const struct record_match *match,
				const struct request *request);

#endif
