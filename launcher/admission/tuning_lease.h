/* Many starts of one command: one tunes, the others wait for its record. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ADMISSION_TUNING_LEASE_H
#define AUTOFIT_LAUNCHER_ADMISSION_TUNING_LEASE_H

#include "base/error.h"
#include "launcher/request/request.h"
#include "probes/locks/lease.h"

/*
 * Take the lease of the job's identity. While another process holds it, on
 * this machine or another, waits and says once for whom and how far it is;
 * -EBUSY with --no-wait, -EINTR when a signal that ends waits (endings.h).
 * There may be a record now. Where no lease can be kept the tuning goes on
 * without one (lease->path is NULL).
 */
int tuning_lease_join(struct lease *lease, const struct request *request,
		      struct error *err);

/*
 * There is a record: what a tuning left that was killed between its record and
 * its end, journal and lease, goes. A tuning that is under way keeps both.
 */
void tuning_lease_clear(const struct request *request);

/* To be called twice in LEASE_BEAT_MS or more often; beats when it is time. */
void tuning_lease_beat(struct lease *lease, const char *doing);

#endif
