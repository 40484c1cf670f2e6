/* What real runs show of a recorded split: too large, or good. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_RECORDS_RECORD_LOWER_H
#define AUTOFIT_CONFIGS_RECORDS_RECORD_LOWER_H

#include "base/error.h"
#include "configs/records/record.h"

#include <stdbool.h>

/*
 * The largest smaller split that record_split_find knows becomes the record's,
 * with its evidence; the old one becomes a misfit by "run". -ENOENT when there
 * is none; the record is then as it was.
 */
int record_lower(struct record *record, struct error *err);

/*
 * A short probe is all that speaks for the split of this new record: a run
 * under --guard is to confirm it, and no other start takes it for an answer.
 */
void record_await_run(struct record *record);
bool record_awaits_run(const struct record *record);

/*
 * A run with the recommended split went to its end, with all that it does
 * there. False: that adds nothing to the record.
 */
bool record_confirm_by_run(struct record *record);

#endif
