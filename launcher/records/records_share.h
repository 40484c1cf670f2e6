/* A record before it is handed on to others. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_RECORDS_RECORDS_SHARE_H
#define AUTOFIT_LAUNCHER_RECORDS_RECORDS_SHARE_H

#include "configs/records/record.h"

/* Without what holds only where it was made, or must not be handed on. */
void record_share_strip(struct record *record);

#endif
