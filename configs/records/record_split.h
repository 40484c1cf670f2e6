/* The other splits that a record's tuning has tested. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_RECORDS_RECORD_SPLIT_H
#define AUTOFIT_CONFIGS_RECORDS_RECORD_SPLIT_H

#include "configs/records/record.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The largest micro-batch below `below` that ran and fitted (of several trials
 * of one size the last counts), with accumulation where the split has it, that
 * splits the record's effective batch exactly, and whose peak is known and at
 * most peak_max. NULL: none. The trial lies in the record.
 */
const struct trial *record_split_find(const struct record *record,
				      int64_t below, uint64_t peak_max);

/* Did the recommended micro-batch itself run and fit? A file can be edited. */
bool record_split_is_tested(const struct record *record);

/* The recommended split becomes that of the trial, with its evidence. */
void record_split_use(struct record *record, const struct trial *trial);

#endif
