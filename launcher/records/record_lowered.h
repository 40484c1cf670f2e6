/* Writes a record that a real run has changed. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_RECORDS_RECORD_LOWERED_H
#define AUTOFIT_LAUNCHER_RECORDS_RECORD_LOWERED_H

#include "base/error.h"
#include "configs/files/paths.h"
#include "configs/records/record.h"

/*
 * Into the user's own folder, also where it came from the site's; newer than
 * the copies that were handed on. The splits that resumed runs would keep of it
 * are forgotten: they did not fit.
 */
int record_lowered_write(struct record *record, const struct paths *paths,
			 struct error *err);

#endif
