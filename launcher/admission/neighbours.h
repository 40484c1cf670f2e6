/* Other people's work on a device: nothing starts beside it unasked. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ADMISSION_NEIGHBOURS_H
#define AUTOFIT_LAUNCHER_ADMISSION_NEIGHBOURS_H

#include "base/error.h"
#include "launcher/options/options.h"
#include "launcher/request/memory_target.h"

/*
 * Compute processes on the target's GPUs, before any probe of this tuning (a
 * display and a small process count as base load), and memory that nobody who
 * is listed has. -EBUSY with device, pid, user, bytes and the
 * ways out, unless --shared; then budget and cap become what is free less
 * max(1 GiB, 10% of the card), and limits follow. A host target: 0.
 */
int neighbours_check(struct memory_target *target,
		     const struct options *options, struct error *err);

/*
 * --shared, before each probe: others may have moved since the last one. Then
 * (moved) what they use now is the new base, and the share is taken anew: by
 * the old one a probe would be charged with what is theirs. As above.
 */
int neighbours_share_again(struct memory_target *target,
			   const struct options *options, bool *moved,
			   struct error *err);

#endif
