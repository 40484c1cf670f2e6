/* A recorded split that ran out of memory later, to the next smaller. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_RECORDS_RECORD_LOWER_H
#define AUTOFIT_CONFIGS_RECORDS_RECORD_LOWER_H

#include "base/error.h"
#include "configs/records/record.h"

/*
 * The largest smaller split that record_split_find knows becomes the record's,
 * with its evidence; the old one becomes a misfit by "run". -ENOENT when there
 * is none; the record is then as it was.
 */
int record_lower(struct record *record, struct error *err);

#endif
