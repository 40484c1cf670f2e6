/* A tuning within a launch: its lease, its devices, and what ends it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_LAUNCH_TUNE_H
#define AUTOFIT_LAUNCHER_LAUNCH_TUNE_H

#include "configs/records/record.h"
#include "launcher/report/result.h"
#include "launcher/request/request.h"

#include <stdint.h>

/* Moves on with every record that is written; 0: there is no folder. */
int64_t launch_records_change(const struct request *request);

/*
 * Tunes, once nobody else tunes this command and the devices are free; the
 * answer is another's where that came meanwhile. match: the record to begin
 * from, if any. seen: launch_records_change before the records were searched.
 * A signal that came is in result, else it strikes again when this returns.
 */
void launch_tune(const struct request *request, struct record_match *match,
		 int64_t seen, struct result *result);

#endif
