/* The limits of a session, and what moves them on its way. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_internal.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/units.h"
#include "launcher/admission/neighbours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST_MAX_GROWTH 4

/* The devices as the record and the report name them. */
static void set_devices(struct session *session)
{
	const struct memory_target *target = session->target;
	struct record *record = &session->result->record;

	record->device_count = 0;
	if (target->device == PROBE_HOST) {
		struct record_device *device = &record->devices[0];

		memset(device, 0, sizeof(*device));
		(void)snprintf(device->name, sizeof(device->name),
			       "host memory");
		device->total_bytes = target->host.total_bytes;
		device->free_bytes = target->host.available_bytes;
		device->budget_bytes = target->budget_bytes;
		record->device_count = 1;
		return;
	}
	for (size_t i = 0; i < target->gpu_count; i++) {
		struct record_device *device =
			&record->devices[record->device_count++];

		memset(device, 0, sizeof(*device));
		memcpy(device->uuid, target->gpus[i].uuid,
		       sizeof(device->uuid));
		memcpy(device->name, target->gpus[i].name,
		       sizeof(device->name));
		device->total_bytes = target->gpus[i].total_bytes;
		device->free_bytes = target->gpus[i].free_bytes;
		device->budget_bytes = target->budget_bytes;
		if (target->emulated_as)
			(void)snprintf(device->emulated_as,
				       sizeof(device->emulated_as), "%s",
				       target->emulated_as);
	}
}

void session_set_limits(struct session *session)
{
	const struct memory_target *target = session->target;
	struct search_problem *problem = &session->plan.problem;
	struct record *record = &session->result->record;

	problem->limit_bytes = target->limit_bytes;
	/* Host memory has no soft failure: no leaps beyond what fitted. */
	problem->max_growth =
		target->device == PROBE_HOST || target->may_be_host
			? HOST_MAX_GROWTH
			: 0;
	/* On a GPU a misfit is cheap, and harms nobody. */
	session->plan.proves_misfit =
		target->device == PROBE_CUDA && !target->may_be_host;
	free(session->result->budget_source);
	session->result->budget_source = xstrdup(
		memory_target_budget_source(target, session->request->options));
	record->limit_bytes = target->limit_bytes;
	record->headroom_bytes = target->headroom_bytes;
	record->budget_bytes = target->budget_bytes;
	free(record->device_kind);
	record->device_kind =
		xstrdup(target->device == PROBE_CUDA ? "cuda" : "host");
	set_devices(session);
}

const char *session_rejudge(const struct session *session, struct trial *trial,
			    uint64_t moved_limit_bytes)
{
	const struct memory_target *target = session->target;
	uint64_t headroom = memory_target_headroom_for(
		target, session->request->options, trial);
	struct trial_limits limits = { .limit_bytes = moved_limit_bytes };

	if (headroom > target->headroom_bytes)
		limits.confirmed_limit_bytes =
			target->budget_bytes > headroom
				? target->budget_bytes - headroom
				: 1;
	return trial_rejudge(trial, &limits);
}

void session_judge_headroom(struct session *session,
			    struct probe_report *report)
{
	const char *why = session_rejudge(session, &report->trial, 0);

	if (!why)
		return;
	free(report->why);
	report->why = xstrdup(why);
}

/* auto: the first probe used no GPU, so this is a tuning of host memory. */
int session_become_host(struct session *session, struct error *err)
{
	bool waited = false;
	int result = memory_target_become_host(session->target,
					       session->request->options, err);

	if (result == 0)
		result = session_reserve(session, err);
	if (result == 0)
		result = device_locks_take(session->guard, session->request,
					   session->target, &waited, err);
	session_set_limits(session);
	/* It was of a GPU. */
	session->plan.problem.estimated_bytes_per_sample = 0;
	free(session->result->estimate);
	session->result->estimate = NULL;
	if (result == 0 && !session->request->options->quiet) {
		(void)fputs("autofit: the first probe used no GPU, so this "
			    "tunes host memory\n",
			    stderr);
		session_print_start(session);
	}
	return result;
}

/* By the limit as it is now. */
static void rejudge_all(struct session *session)
{
	for (size_t i = 0; i < session->notes->count; i++)
		(void)session_rejudge(session, &session->notes->items[i].trial,
				      session->target->limit_bytes);
}

int session_follow_neighbours(struct session *session, struct error *err)
{
	char budget[BYTES_TEXT_MAX];
	bool moved = false;
	int result = 0;

	if (session->request->options->shared &&
	    session->target->device == PROBE_CUDA)
		result = neighbours_share_again(session->target,
						session->request->options,
						&moved, err);
	if (result < 0 || !moved)
		return result;
	log_warning("the memory of others on the GPU moved: the share is %s "
		    "now",
		    bytes_format(budget, session->target->budget_bytes));
	session_set_limits(session);
	rejudge_all(session);
	return 0;
}

/*
 * The first limit counts on exact readings. Where they turn out to be none,
 * the larger headroom holds, for what was measured before as well.
 */
void session_note_coverage(struct session *session, struct trial *trial)
{
	struct memory_target *target = session->target;

	/* What ended at once may not have been seen long enough. */
	if (target->device != PROBE_CUDA || !trial_is_point(trial) ||
	    trial->coverage == COVERAGE_EXACT)
		return;
	if (!memory_target_lose_exact(target, session->request->options,
				      session->plan.world_size))
		return;
	rejudge_all(session);
	(void)session_rejudge(session, trial, target->limit_bytes);
}
