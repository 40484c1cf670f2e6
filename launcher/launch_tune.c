/* A tuning within a launch: its lease, its devices, and what ends it. */
/* SPDX-License-Identifier: MIT */
#include "launcher/launch_tune.h"

#include "base/alloc.h"
#include "base/error.h"
#include "launcher/admission/device_locks.h"
#include "launcher/admission/neighbours.h"
#include "launcher/admission/preconditions.h"
#include "launcher/admission/tuning_lease.h"
#include "launcher/options/exitcode.h"
#include "launcher/records/record_answer.h"
#include "launcher/report/report_style.h"
#include "launcher/report/result_fill.h"
#include "launcher/request/end_signals.h"
#include "launcher/request/memory_target.h"
#include "launcher/tuning/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTORS_MIN 28

/* Every process that a killed keeper leaves comes to autofit. */
static void tune_on(const struct session_setup *setup, struct result *result)
{
	int before = setup->request->state->subreaper;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	session_tune(setup, result);
	(void)prctl(PR_SET_CHILD_SUBREAPER, before, 0, 0, 0);
}

/* While a device is waited for, those who wait for this one see it alive. */
static bool beats(void *context)
{
	tuning_lease_beat(context, "waiting for a device");
	return end_signals_waiting() != 0;
}

/*
 * The locks of the devices, and what is free on them then. 1: there was a
 * wait, and the answer came meanwhile.
 */
static int launch_take_devices(struct session_setup *setup,
			       struct result *result, struct error *err)
{
	const struct request *request = setup->request;
	int64_t world = request->command.batch.world_size;
	bool waited = false;
	int code =
		memory_target_open(setup->target, request->options, world, err);

	setup->guard->context = setup->lease;
	setup->guard->must_end = beats;
	if (code == 0)
		code = device_locks_take(setup->guard, request, setup->target,
					 &waited, err);
	setup->guard->must_end = NULL;
	if (code < 0 || !waited)
		return code;
	if (record_answer_fill(result, request))
		return 1;
	memory_target_release(setup->target);
	return memory_target_open(setup->target, request->options, world, err);
}

static void tune_with_lease(struct session_setup *setup, struct result *result)
{
	struct error err = ERROR_INIT;
	int code = launch_take_devices(setup, result, &err);

	if (code == 0 &&
	    preconditions_check_outside(setup->request, setup->target->device,
					&err) != COMMAND_OK) {
		result_refuse(result, COMMAND_REFUSED, err.message);
		return;
	}
	if (code == 0)
		code = neighbours_check(setup->target, setup->request->options,
					&err);
	if (code < 0)
		result_refuse(result,
			      code == -EBUSY ? COMMAND_REFUSED : COMMAND_USAGE,
			      err.message);
	else if (code == 0)
		tune_on(setup, result);
	/* There are no answers yet that it could leave. */
	if (code == -ETIME) {
		result->outcome = OUTCOME_TIME_LIMIT;
		result->exit_code = EXIT_TIME_LIMIT;
	}
}

/* Nothing is left to undo: autofit may die by it. */
static void interrupt(struct result *result, int number)
{
	result->outcome = OUTCOME_INTERRUPTED;
	result->exit_code = 128 + number;
	result->signal_number = number;
	free(result->message);
	result->message = xstrdup("by a signal");
}

int64_t launch_records_change(const struct request *request)
{
	struct stat info;

	if (stat(request->paths.records, &info) < 0)
		return 0;
	return (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
}

/* With fewer a probe could neither be watched nor cleaned up after. */
static int check_descriptors(struct error *err)
{
	int fds[DESCRIPTORS_MIN];
	int count = 0;
	int code;

	while (count < DESCRIPTORS_MIN &&
	       (fds[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		count++;
	code = -errno;
	for (int i = 0; i < count; i++)
		(void)close(fds[i]);
	if (count == DESCRIPTORS_MIN)
		return 0;
	if (code != -EMFILE)
		return error_set_errno(err, code, "cannot open /dev/null");
	return error_set(err, -EMFILE,
			 "probes need %d files open at once, and only %d more "
			 "are allowed: raise `ulimit -n`",
			 DESCRIPTORS_MIN, count);
}

void launch_tune(const struct request *request, struct record_match *match,
		 int64_t seen, struct result *result)
{
	struct report_style style = report_style_choose(request->options);
	struct device_locks *guard = xcalloc(1, sizeof(*guard));
	struct memory_target *target = xcalloc(1, sizeof(*target));
	struct lease lease;
	struct error err = ERROR_INIT;
	struct session_setup setup = { .request = request,
				       .target = target,
				       .guard = guard,
				       .lease = &lease,
				       .match = match,
				       .style = &style };
	bool changed;
	int joined = check_descriptors(&err);

	end_signals_hold();
	memset(&lease, 0, sizeof(lease));
	if (joined == 0)
		joined = tuning_lease_join(&lease, request, &err);
	/* Another may have tuned this very command since it was looked for. */
	changed = joined > 0 || launch_records_change(request) != seen;
	if (joined < 0)
		result_refuse(result,
			      joined == -EMFILE ? COMMAND_USAGE
						: COMMAND_REFUSED,
			      err.message);
	else if (!changed || !record_answer_fill(result, request))
		tune_with_lease(&setup, result);
	device_locks_release(guard);
	memory_target_release(target);
	free(guard);
	free(target);
	lease_release(&lease);
	/* What waits strikes when the mask is restored, after the report. */
	if (end_signals_waiting())
		interrupt(result, end_signals_waiting());
	else
		end_signals_let(request->state);
}
