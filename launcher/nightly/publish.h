/* Records for everybody: into a folder that AUTOFIT_SITE can name. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_PUBLISH_H
#define AUTOFIT_LAUNCHER_NIGHTLY_PUBLISH_H

#include "base/error.h"
#include "configs/records/record.h"

/*
 * Into site/records, readable by all, replaced as a whole and synced. A record
 * of the same identity that is there and not older stays: 0; 1: written.
 */
int publish_record(const struct record *record, const char *site,
		   struct error *err);

#endif
