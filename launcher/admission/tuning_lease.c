/* Many starts of one command: one tunes, the others wait for its record. */
/* SPDX-License-Identifier: MIT */
#include "launcher/admission/tuning_lease.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "configs/records/journal.h"
#include "launcher/request/end_signals.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 250
#define SAY_AGAIN_MS 60000

static void tuning_lease_say(const struct lease_note *holder)
{
	log_warning("waiting for process %d on %s, which is tuning this very "
		    "command%s%s; --no-wait does not wait",
		    (int)holder->pid, holder->host,
		    holder->doing[0] ? ": " : "", holder->doing);
}

static int busy(const struct lease_note *holder, struct error *err)
{
	return error_set(err, -EBUSY,
			 "process %d on %s is tuning this very command "
			 "already%s%s: wait for it (without --no-wait), or "
			 "start the command as it is with --no-probe",
			 (int)holder->pid, holder->host,
			 holder->doing[0] ? ": " : "", holder->doing);
}

static int wait_for_turn(struct lease *lease, const struct request *request,
			 const char *name, struct error *err)
{
	struct lease_note holder;
	int64_t said_ms = 0;
	bool waited = false;
	int result;

	while ((result = lease_take(lease, request->paths.leases, name,
				    clock_ms(), &holder, err)) ==
	       -EWOULDBLOCK) {
		if (request->options->reuse.no_wait)
			return busy(&holder, err);
		if (!said_ms || clock_ms() - said_ms >= SAY_AGAIN_MS) {
			tuning_lease_say(&holder);
			said_ms = clock_ms();
		}
		waited = true;
		(void)poll(NULL, 0, LOOK_MS);
		if (end_signals_waiting())
			return error_set(err, -EINTR,
					 "stopped while waiting for process %d",
					 (int)holder.pid);
	}
	return result < 0 ? result : waited;
}

static void lease_name(char name[17], const struct request *request)
{
	(void)snprintf(name, 17, "%016llx",
		       (unsigned long long)hash_bytes(
			       request->identity, strlen(request->identity)));
}

int tuning_lease_join(struct lease *lease, const struct request *request,
		      struct error *err)
{
	struct error why = ERROR_INIT;
	char name[17];
	int result = paths_make(request->paths.leases, &why);

	memset(lease, 0, sizeof(*lease));
	lease_name(name, request);
	if (result == 0)
		result = wait_for_turn(lease, request, name, &why);
	if (result == -EBUSY || result == -EINTR) {
		(void)error_set(err, result, "%s", why.message);
		return result;
	}
	if (result < 0)
		log_verbose("tuning without a lease: %s", why.message);
	return result > 0;
}

void tuning_lease_clear(const struct request *request)
{
	const struct paths *paths = &request->paths;
	struct lease lease = { .path = NULL };
	struct lease_note holder;
	char name[17];
	char *path;

	lease_name(name, request);
	path = xasprintf("%s/%s.lease", paths->leases, name);
	if (access(path, F_OK) == 0 &&
	    lease_take(&lease, paths->leases, name, clock_ms(), &holder,
		       NULL) == 0) {
		(void)journal_forget(paths->journals, request->identity, NULL);
		lease_release(&lease);
	}
	free(path);
}

void tuning_lease_beat(struct lease *lease, const char *doing)
{
	int64_t now = clock_ms();

	/* The holder has no use for what a waiter keeps there. */
	if (!lease->path || now - lease->seen_at_ms < LEASE_BEAT_MS / 2)
		return;
	lease->seen_at_ms = now;
	/* Lost: another took over while this one was stopped. The locks of the
	 * devices still keep the two apart. */
	if (lease_beat(lease, doing, NULL) == -ESTALE)
		lease_release(lease);
}
