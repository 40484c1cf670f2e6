/* Events of the simulated driver: each is over when it is recorded. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_events.h"
#include "probes/phantom/device/sim_owners.h"

#include <time.h>

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

struct event {
	struct sim_object object;
	struct timespec recorded;
	bool is_recorded;
};

/* The event with the tables held, if that is OK. */
static int enter_event(const void *handle, struct event **event)
{
	int result = sim_enter();

	if (result)
		return result;
	*event = sim_object_find(handle, SIM_EVENT);
	return *event ? OK : sim_leave(INVALID_HANDLE);
}

EXPORT int cuEventCreate(void **handle, unsigned int flags)
{
	struct sim_context *context = NULL;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (!handle || flags > 7)
		return sim_leave(INVALID_VALUE);
	*handle = sim_object_make(SIM_EVENT, sizeof(struct event), context);
	return sim_leave(*handle ? OK : OUT_OF_MEMORY);
}

EXPORT int cuEventDestroy_v2(const void *handle)
{
	struct event *event = NULL;
	int result = enter_event(handle, &event);

	if (result)
		return result;
	sim_object_free(event);
	return sim_leave(OK);
}

EXPORT int cuEventRecord(const void *handle, const void *stream)
{
	struct event *event = NULL;
	int result = enter_event(handle, &event);

	if (result)
		return result;
	if (!sim_stream_is_known(stream))
		return sim_leave(INVALID_HANDLE);
	event->is_recorded = true;
	(void)clock_gettime(CLOCK_MONOTONIC, &event->recorded);
	return sim_leave(OK);
}

EXPORT int cuEventRecordWithFlags(const void *handle, const void *stream,
				  unsigned int flags)
{
	if (flags > 1)
		return sim_check() ? NOT_INITIALIZED : INVALID_VALUE;
	return cuEventRecord(handle, stream);
}

EXPORT int cuEventQuery(const void *handle)
{
	struct event *event = NULL;
	int result = enter_event(handle, &event);

	return result ? result : sim_leave(sim_event_wait());
}

EXPORT int cuEventSynchronize(const void *handle)
{
	struct event *event = NULL;
	int result = enter_event(handle, &event);

	if (result)
		return result;
	result = sim_event_wait();
	if (!result)
		sim_pools_settle();
	return sim_leave(result);
}

EXPORT int cuEventElapsedTime(float *milliseconds, const void *from,
			      const void *to)
{
	const struct event *end;
	struct event *start = NULL;
	int result = enter_event(from, &start);

	if (result)
		return result;
	end = sim_object_find(to, SIM_EVENT);
	if (!end || !start->is_recorded || !end->is_recorded)
		return sim_leave(INVALID_HANDLE);
	if (!milliseconds)
		return sim_leave(INVALID_VALUE);
	*milliseconds =
		(float)(end->recorded.tv_sec - start->recorded.tv_sec) * 1e3F +
		(float)(end->recorded.tv_nsec - start->recorded.tv_nsec) / 1e6F;
	return sim_leave(OK);
}

SIM_TWIN(cuEventDestroy, cuEventDestroy_v2, (const void *handle), (handle))
SIM_TWIN(cuEventElapsedTime_v2, cuEventElapsedTime,
	 (float *milliseconds, const void *from, const void *to),
	 (milliseconds, from, to))
SIM_TWIN(cuEventRecord_ptsz, cuEventRecord,
	 (const void *handle, const void *stream), (handle, stream))
SIM_TWIN(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags,
	 (const void *handle, const void *stream, unsigned int flags),
	 (handle, stream, flags))

const struct sim_export sim_event_exports[] = {
	SIM_SAME(cuEventCreate, 2000),
	SIM_SAME(cuEventDestroy, 2000),
	SIM_ROW(cuEventDestroy_v2, "cuEventDestroy", 4000),
	SIM_SAME(cuEventRecord, 2000),
	SIM_PER_THREAD(cuEventRecord_ptsz, "cuEventRecord", 7000),
	SIM_SAME(cuEventRecordWithFlags, 11010),
	SIM_PER_THREAD(cuEventRecordWithFlags_ptsz, "cuEventRecordWithFlags",
		       11010),
	SIM_SAME(cuEventQuery, 2000),
	SIM_SAME(cuEventSynchronize, 2000),
	SIM_SAME(cuEventElapsedTime, 2000),
	SIM_ROW(cuEventElapsedTime_v2, "cuEventElapsedTime", 12080),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
