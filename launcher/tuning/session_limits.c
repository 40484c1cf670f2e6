/* The limits of a tuning, and what moves them on its way. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_limits.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/units.h"
#include "launcher/admission/neighbours.h"
#include "launcher/request/memory_target_words.h"
#include "probes/verdict/rejudge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A probe of host memory is never more than this times the largest fit. */
#define HOST_MAX_GROWTH 4

/* The devices as the record and the report name them. */
static void set_devices(struct record *record,
			const struct memory_target *target)
{
	bool is_host = target->device == PROBE_HOST;

	assert(target->gpu_count <=
	       sizeof(record->devices) / sizeof(*record->devices));
	record->device_count = is_host ? 1 : target->gpu_count;
	memset(record->devices, 0, sizeof(record->devices));
	if (is_host) {
		(void)snprintf(record->devices[0].name,
			       sizeof(record->devices[0].name), "host memory");
		record->devices[0].total_bytes = target->host.total_bytes;
		record->devices[0].free_bytes = target->host.available_bytes;
		record->devices[0].budget_bytes = target->budget_bytes;
		return;
	}
	for (size_t i = 0; i < target->gpu_count; i++) {
		struct record_device *device = &record->devices[i];
		const struct gpu_device *gpu = &target->gpus[i];

		memcpy(device->uuid, gpu->uuid, sizeof(device->uuid));
		(void)snprintf(device->name, sizeof(device->name), "%s%s",
			       target->is_phantom ? "phantom " : "", gpu->name);
		device->total_bytes = gpu->total_bytes;
		device->free_bytes = gpu->free_bytes;
		device->budget_bytes = target->budget_bytes;
		if (target->emulated_as)
			(void)snprintf(device->emulated_as,
				       sizeof(device->emulated_as), "%s",
				       target->emulated_as);
	}
}

void session_limits_set(struct session *session)
{
	const struct memory_target *target = session->given.target;
	struct result *result = session->result;
	struct record *record = &result->record;
	bool may_be_host = target->device == PROBE_HOST || target->may_be_host;

	assert(target->limit_bytes <= target->budget_bytes);
	session->plan.problem.limit_bytes = target->limit_bytes;
	/* Host memory has no soft failure: no leaps beyond what fitted. On a
	 * GPU a misfit is cheap, and harms nobody. */
	session->plan.problem.max_growth = may_be_host ? HOST_MAX_GROWTH : 0;
	session->plan.proves_misfit = !may_be_host;
	free(result->budget_source);
	result->budget_source = xstrdup(memory_target_budget_source(
		target, session->given.request->options));
	record->limit_bytes = target->limit_bytes;
	record->headroom_bytes = target->headroom_bytes;
	record->budget_bytes = target->budget_bytes;
	free(record->device_kind);
	record->device_kind = xstrdup(target->device == PROBE_HOST ? "host"
				      : target->is_phantom         ? "phantom"
								   : "cuda");
	set_devices(record, target);
}

const char *session_limits_rejudge(const struct session *session,
				   struct trial *trial,
				   enum limit_change change)
{
	const struct memory_target *target = session->given.target;
	uint64_t headroom = memory_target_headroom_for(
		target, session->given.request->options, trial);
	struct trial_limits limits = { .limit_bytes = 0 };

	assert(target->limit_bytes > 0);
	if (change == LIMIT_MOVED)
		limits.limit_bytes = target->limit_bytes;
	if (headroom > target->headroom_bytes)
		limits.confirmed_limit_bytes =
			target->budget_bytes > headroom
				? target->budget_bytes - headroom
				: 1;
	return trial_rejudge(trial, &limits);
}

void session_limits_rejudge_all(struct session *session)
{
	struct probe_notes *notes = session->trials.notes;

	for (size_t i = 0; i < notes->count; i++)
		(void)session_limits_rejudge(session, &notes->items[i].trial,
					     LIMIT_MOVED);
}

int session_limits_share_again(struct session *session, struct error *err)
{
	struct memory_target *target = session->given.target;
	const struct options *options = session->given.request->options;
	char budget[BYTES_TEXT_MAX];
	bool moved = false;
	int result;

	if (!options->probe.shared || target->device != PROBE_CUDA)
		return 0;
	result = neighbours_share_again(target, options, &moved, err);
	if (result < 0 || !moved)
		return result;
	log_warning("the memory of others on the GPU moved: the share is %s "
		    "now",
		    bytes_format(budget, target->budget_bytes));
	session_limits_set(session);
	session_limits_rejudge_all(session);
	return 0;
}

int session_limits_become_host(struct session *session, struct error *err)
{
	const struct session_setup *given = &session->given;
	bool waited = false;
	int result = memory_target_become_host(given->target,
					       given->request->options, err);

	if (result == 0)
		result = probe_kit_reserve(&session->kit, given->target, err);
	if (result == 0)
		result = device_locks_take(given->guard, given->request,
					   given->target, &waited, err);
	session_limits_set(session);
	/* The estimate was of a GPU. */
	session->plan.problem.estimated_bytes_per_sample = 0;
	free(session->result->estimate);
	session->result->estimate = NULL;
	return result;
}

bool session_limits_note_coverage(struct session *session,
				  const struct trial *trial)
{
	struct memory_target *target = session->given.target;

	/* What ended at once may not have been seen long enough. */
	if (target->device != PROBE_CUDA || !trial_is_point(trial) ||
	    trial->coverage == COVERAGE_EXACT ||
	    !memory_target_lose_exact(target, session->given.request->options,
				      session->plan.asked.world_size))
		return false;
	session_limits_rejudge_all(session);
	return true;
}
