/* What a probe has written for real, or was kept from writing. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_ISOLATION_PROBE_WRITES_H
#define AUTOFIT_LAUNCHER_TUNING_ISOLATION_PROBE_WRITES_H

#include "base/error.h"
#include "launcher/tuning/isolation/probe_isolation.h"

/*
 * After a probe, with a message for exit 123: -EUCLEAN when it has written for
 * real (compared, or in a cache what was there before), -EPERM when a write of
 * its was refused (refused: the file as it was printed, or NULL). What was
 * compared and kept is put back.
 */
int probe_writes_check(const struct probe_isolation *isolation,
		       const char *refused, struct error *err);

#endif
