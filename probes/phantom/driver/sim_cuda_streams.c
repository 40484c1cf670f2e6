/* Streams of the simulated driver, and what is captured from them. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_events.h"
#include "probes/phantom/device/sim_owners.h"

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */
/* NOLINTBEGIN(readability-function-size): the driver's signatures */

enum { ILLEGAL_STATE = 401 };

struct stream {
	struct sim_object object;
	struct sim_context *context;
	unsigned int flags;
	int priority;
	struct sim_graph *graph; /* NULL: it is not captured */
	uint64_t capture;        /* the number of this capture */
};

/* NULL, the default stream of all threads, that of each. */
static bool is_default(const void *handle)
{
	return (uintptr_t)handle <= 2;
}

bool sim_stream_is_known(const void *handle)
{
	return is_default(handle) || sim_object_find(handle, SIM_STREAM);
}

struct sim_graph *sim_stream_graph(const void *handle)
{
	const struct stream *stream =
		is_default(handle) ? NULL : sim_object_find(handle, SIM_STREAM);

	return stream ? stream->graph : NULL;
}

/* The stream (NULL: a default one), with the tables held if that is OK. */
static int enter_stream(const void *handle, struct stream **stream)
{
	struct sim_context *context = NULL;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	*stream =
		is_default(handle) ? NULL : sim_object_find(handle, SIM_STREAM);
	return *stream || is_default(handle) ? OK : sim_leave(INVALID_HANDLE);
}

EXPORT int cuStreamCreateWithPriority(void **handle, unsigned int flags,
				      int priority)
{
	struct sim_context *context = NULL;
	struct stream *stream;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (!handle || flags > 1)
		return sim_leave(INVALID_VALUE);
	stream = sim_object_make(SIM_STREAM, sizeof(*stream), context);
	if (!stream)
		return sim_leave(OUT_OF_MEMORY);
	stream->context = context;
	stream->flags = flags;
	stream->priority = priority;
	*handle = stream;
	return sim_leave(OK);
}

EXPORT int cuStreamCreate(void **handle, unsigned int flags)
{
	return cuStreamCreateWithPriority(handle, flags, 0);
}

EXPORT int cuStreamDestroy_v2(const void *handle)
{
	struct stream *stream = NULL;
	int result = enter_stream(handle, &stream);

	if (result)
		return result;
	if (!stream)
		return sim_leave(INVALID_HANDLE);
	sim_object_free(stream);
	return sim_leave(OK);
}

SIM_TWIN(cuStreamDestroy, cuStreamDestroy_v2, (const void *handle), (handle))

/* A captured stream cannot be waited for. */
static int streams_look_at(const void *handle, bool is_wait)
{
	struct stream *stream = NULL;
	int result = enter_stream(handle, &stream);

	if (result)
		return result;
	if (stream && stream->graph)
		return sim_leave(STREAM_CAPTURE_UNSUPPORTED);
	result = sim_event_wait();
	if (!result && is_wait)
		sim_pools_settle();
	return sim_leave(result);
}

EXPORT int cuStreamSynchronize(const void *handle)
{
	return streams_look_at(handle, true);
}

EXPORT int cuStreamQuery(const void *handle)
{
	return streams_look_at(handle, false);
}

EXPORT int cuStreamWaitEvent(const void *handle, const void *event,
			     unsigned int flags)
{
	struct stream *stream = NULL;
	int result = enter_stream(handle, &stream);

	(void)flags;
	if (result)
		return result;
	return sim_leave(sim_object_find(event, SIM_EVENT) ? OK
							   : INVALID_HANDLE);
}

EXPORT int cuStreamGetFlags(const void *handle, unsigned int *flags)
{
	struct stream *stream = NULL;
	int result = enter_stream(handle, &stream);

	if (result)
		return result;
	if (!flags)
		return sim_leave(INVALID_VALUE);
	*flags = stream ? stream->flags : 0;
	return sim_leave(OK);
}

EXPORT int cuStreamGetPriority(const void *handle, int *priority)
{
	struct stream *stream = NULL;
	int result = enter_stream(handle, &stream);

	if (result)
		return result;
	if (!priority)
		return sim_leave(INVALID_VALUE);
	*priority = stream ? stream->priority : 0;
	return sim_leave(OK);
}

EXPORT int cuStreamGetCtx(const void *handle, void **context)
{
	struct sim_context *current = NULL;
	struct stream *stream = NULL;
	int result = enter_stream(handle, &stream);

	if (result)
		return result;
	(void)sim_leave(OK);
	if (!context)
		return INVALID_VALUE;
	if (stream) {
		*context = stream->context;
		return OK;
	}
	result = sim_enter_context(&current);
	if (result)
		return result;
	*context = current;
	return sim_leave(OK);
}

EXPORT int cuStreamBeginCapture_v2(const void *handle, unsigned int mode)
{
	static uint64_t captures; /* for who entered */
	struct stream *stream = NULL;
	int result = enter_stream(handle, &stream);

	if (result)
		return result;
	if (mode > 2)
		return sim_leave(INVALID_VALUE);
	if (!stream)
		return sim_leave(STREAM_CAPTURE_UNSUPPORTED);
	if (stream->graph)
		return sim_leave(ILLEGAL_STATE);
	stream->graph = sim_graph_make();
	stream->capture = ++captures;
	return sim_leave(stream->graph ? OK : OUT_OF_MEMORY);
}

EXPORT int cuStreamBeginCapture(const void *handle)
{
	return cuStreamBeginCapture_v2(handle, 0);
}

EXPORT int cuStreamEndCapture(const void *handle, void **graph)
{
	struct stream *stream = NULL;
	int result = enter_stream(handle, &stream);

	if (result)
		return result;
	if (!graph)
		return sim_leave(INVALID_VALUE);
	*graph = NULL;
	if (!stream || !stream->graph)
		return sim_leave(ILLEGAL_STATE);
	*graph = stream->graph;
	stream->graph = NULL;
	return sim_leave(OK);
}

/* Of both; either may be NULL. */
static int capture_of(const void *handle, int *status, uint64_t *number,
		      void **graph)
{
	struct stream *stream = NULL;
	int result = enter_stream(handle, &stream);
	bool is_active;

	if (result)
		return result;
	if (!status)
		return sim_leave(INVALID_VALUE);
	is_active = stream && stream->graph;
	*status = is_active;
	if (is_active && number)
		*number = stream->capture;
	if (is_active && graph)
		*graph = stream->graph;
	return sim_leave(OK);
}

EXPORT int cuStreamIsCapturing(const void *handle, int *status)
{
	return capture_of(handle, status, NULL, NULL);
}

EXPORT int cuStreamGetCaptureInfo(const void *handle, int *status,
				  uint64_t *number)
{
	return capture_of(handle, status, number, NULL);
}

EXPORT int cuStreamGetCaptureInfo_v2(const void *handle, int *status,
				     uint64_t *number, void **graph,
				     const void **dependencies, size_t *count)
{
	if (dependencies)
		*dependencies = NULL;
	if (count)
		*count = 0;
	return capture_of(handle, status, number, graph);
}

EXPORT int cuStreamGetCaptureInfo_v3(const void *handle, int *status,
				     uint64_t *number, void **graph,
				     const void **dependencies,
				     const void **edges, size_t *count)
{
	if (edges)
		*edges = NULL;
	return cuStreamGetCaptureInfo_v2(handle, status, number, graph,
					 dependencies, count);
}

SIM_TWIN(cuStreamSynchronize_ptsz, cuStreamSynchronize, (const void *handle),
	 (handle))
SIM_TWIN(cuStreamQuery_ptsz, cuStreamQuery, (const void *handle), (handle))
SIM_TWIN(cuStreamWaitEvent_ptsz, cuStreamWaitEvent,
	 (const void *handle, const void *event, unsigned int flags),
	 (handle, event, flags))
SIM_TWIN(cuStreamGetFlags_ptsz, cuStreamGetFlags,
	 (const void *handle, unsigned int *flags), (handle, flags))
SIM_TWIN(cuStreamGetPriority_ptsz, cuStreamGetPriority,
	 (const void *handle, int *priority), (handle, priority))
SIM_TWIN(cuStreamGetCtx_ptsz, cuStreamGetCtx,
	 (const void *handle, void **context), (handle, context))
SIM_TWIN(cuStreamBeginCapture_ptsz, cuStreamBeginCapture, (const void *handle),
	 (handle))
SIM_TWIN(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture_v2,
	 (const void *handle, unsigned int mode), (handle, mode))
SIM_TWIN(cuStreamEndCapture_ptsz, cuStreamEndCapture,
	 (const void *handle, void **graph), (handle, graph))
SIM_TWIN(cuStreamIsCapturing_ptsz, cuStreamIsCapturing,
	 (const void *handle, int *status), (handle, status))
SIM_TWIN(cuStreamGetCaptureInfo_ptsz, cuStreamGetCaptureInfo,
	 (const void *handle, int *status, uint64_t *number),
	 (handle, status, number))
SIM_TWIN(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo_v2,
	 (const void *handle, int *status, uint64_t *number, void **graph,
	  const void **dependencies, size_t *count),
	 (handle, status, number, graph, dependencies, count))
SIM_TWIN(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo_v3,
	 (const void *handle, int *status, uint64_t *number, void **graph,
	  const void **dependencies, const void **edges, size_t *count),
	 (handle, status, number, graph, dependencies, edges, count))

const struct sim_export sim_stream_exports[] = {
	SIM_SAME(cuStreamCreate, 2000),
	SIM_SAME(cuStreamCreateWithPriority, 5050),
	SIM_SAME(cuStreamDestroy, 2000),
	SIM_ROW(cuStreamDestroy_v2, "cuStreamDestroy", 4000),
	SIM_SAME(cuStreamSynchronize, 2000),
	SIM_PER_THREAD(cuStreamSynchronize_ptsz, "cuStreamSynchronize", 7000),
	SIM_SAME(cuStreamQuery, 2000),
	SIM_PER_THREAD(cuStreamQuery_ptsz, "cuStreamQuery", 7000),
	SIM_SAME(cuStreamWaitEvent, 3020),
	SIM_PER_THREAD(cuStreamWaitEvent_ptsz, "cuStreamWaitEvent", 7000),
	SIM_SAME(cuStreamGetFlags, 5050),
	SIM_PER_THREAD(cuStreamGetFlags_ptsz, "cuStreamGetFlags", 7000),
	SIM_SAME(cuStreamGetPriority, 5050),
	SIM_PER_THREAD(cuStreamGetPriority_ptsz, "cuStreamGetPriority", 7000),
	SIM_SAME(cuStreamGetCtx, 9020),
	SIM_PER_THREAD(cuStreamGetCtx_ptsz, "cuStreamGetCtx", 9020),
	SIM_SAME(cuStreamBeginCapture, 10000),
	SIM_PER_THREAD(cuStreamBeginCapture_ptsz, "cuStreamBeginCapture",
		       10000),
	SIM_ROW(cuStreamBeginCapture_v2, "cuStreamBeginCapture", 10010),
	SIM_PER_THREAD(cuStreamBeginCapture_v2_ptsz, "cuStreamBeginCapture",
		       10010),
	SIM_SAME(cuStreamEndCapture, 10000),
	SIM_PER_THREAD(cuStreamEndCapture_ptsz, "cuStreamEndCapture", 10000),
	SIM_SAME(cuStreamIsCapturing, 10000),
	SIM_PER_THREAD(cuStreamIsCapturing_ptsz, "cuStreamIsCapturing", 10000),
	SIM_SAME(cuStreamGetCaptureInfo, 10010),
	SIM_PER_THREAD(cuStreamGetCaptureInfo_ptsz, "cuStreamGetCaptureInfo",
		       10010),
	SIM_ROW(cuStreamGetCaptureInfo_v2, "cuStreamGetCaptureInfo", 11030),
	SIM_PER_THREAD(cuStreamGetCaptureInfo_v2_ptsz, "cuStreamGetCaptureInfo",
		       11030),
	SIM_ROW(cuStreamGetCaptureInfo_v3, "cuStreamGetCaptureInfo", 12030),
	SIM_PER_THREAD(cuStreamGetCaptureInfo_v3_ptsz, "cuStreamGetCaptureInfo",
		       12030),
	SIM_END,
};

/* NOLINTEND(readability-function-size) */
/* NOLINTEND(readability-identifier-naming) */
