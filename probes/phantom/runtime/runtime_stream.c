/* Streams, events and graphs of a phantom card's CUDA runtime. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/runtime/runtime.h"

/* NOLINTBEGIN(readability-identifier-naming): the runtime's names */
/* NOLINTBEGIN(readability-function-size): the runtime's signatures */

/* The handles are the driver's own: Triton gives them to the driver. */
FORWARD(cudaStreamCreateWithPriority, "cuStreamCreateWithPriority",
	(void **stream, unsigned int flags, int priority),
	(stream, flags, priority))
FORWARD(cudaStreamDestroy, "cuStreamDestroy_v2", (void *stream), (stream))
FORWARD(cudaStreamGetPriority, "cuStreamGetPriority",
	(void *stream, int *priority), (stream, priority))
FORWARD(cudaStreamQuery, "cuStreamQuery", (void *stream), (stream))
FORWARD(cudaStreamSynchronize, "cuStreamSynchronize", (void *stream), (stream))
FORWARD(cudaStreamWaitEvent, "cuStreamWaitEvent",
	(void *stream, void *event, unsigned int flags), (stream, event, flags))
FORWARD(cudaLaunchHostFunc, "cuLaunchHostFunc",
	(void *stream, void (*function)(void *), void *data),
	(stream, function, data))

EXPORT int cudaStreamCreate(void **stream)
{
	return cudaStreamCreateWithPriority(stream, 0, 0);
}

EXPORT int cudaStreamCreateWithFlags(void **stream, unsigned int flags)
{
	return cudaStreamCreateWithPriority(stream, flags, 0);
}

/* All before it is over. */
EXPORT int cudaStreamAddCallback(void *stream,
				 void (*function)(void *, int, void *),
				 void *data, unsigned int flags)
{
	(void)flags;
	function(stream, RUNTIME_OK, data);
	return RUNTIME_OK;
}

FORWARD(cudaEventCreateWithFlags, "cuEventCreate",
	(void **event, unsigned int flags), (event, flags))
FORWARD(cudaEventDestroy, "cuEventDestroy_v2", (void *event), (event))
FORWARD(cudaEventRecord, "cuEventRecord", (void *event, void *stream),
	(event, stream))
FORWARD(cudaEventRecordWithFlags, "cuEventRecordWithFlags",
	(void *event, void *stream, unsigned int flags), (event, stream, flags))
FORWARD(cudaEventQuery, "cuEventQuery", (void *event), (event))
FORWARD(cudaEventSynchronize, "cuEventSynchronize", (void *event), (event))
FORWARD(cudaEventElapsedTime, "cuEventElapsedTime",
	(float *ms, void *from, void *to), (ms, from, to))

EXPORT int cudaEventCreate(void **event)
{
	return cudaEventCreateWithFlags(event, 0);
}

FORWARD(cudaStreamBeginCapture, "cuStreamBeginCapture_v2",
	(void *stream, int mode), (stream, mode))
FORWARD(cudaStreamEndCapture, "cuStreamEndCapture",
	(void *stream, void **graph), (stream, graph))
FORWARD(cudaStreamIsCapturing, "cuStreamIsCapturing",
	(void *stream, int *status), (stream, status))
#if PHANTOM_MAJOR < 13
FORWARD(cudaStreamGetCaptureInfo_v2, "cuStreamGetCaptureInfo_v2",
	(void *stream, int *status, unsigned long long *id, void **graph,
	 const void **dependencies, size_t *count),
	(stream, status, id, graph, dependencies, count))
FORWARD(cudaStreamUpdateCaptureDependencies,
	"cuStreamUpdateCaptureDependencies",
	(void *stream, void **dependencies, size_t count, unsigned int flags),
	(stream, dependencies, count, flags))
#else
FORWARD(cudaStreamGetCaptureInfo, "cuStreamGetCaptureInfo_v3",
	(void *stream, int *status, unsigned long long *id, void **graph,
	 const void **dependencies, const void **edges, size_t *count),
	(stream, status, id, graph, dependencies, edges, count))
DRIVER_CALL(update_dependencies, "cuStreamUpdateCaptureDependencies",
	    (void *stream, void **dependencies, size_t count,
	     unsigned int flags),
	    (stream, dependencies, count, flags))

/* What is on an edge is for kernels. */
EXPORT int cudaStreamUpdateCaptureDependencies(void *stream,
					       void **dependencies,
					       const void *edges, size_t count,
					       unsigned int flags)
{
	(void)edges;
	return runtime_answer(
		update_dependencies(stream, dependencies, count, flags));
}
#endif
FORWARD(cudaGraphInstantiate, "cuGraphInstantiateWithFlags",
	(void **executable, void *graph, unsigned long long flags),
	(executable, graph, flags))
FORWARD(cudaGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags",
	(void **executable, void *graph, unsigned long long flags),
	(executable, graph, flags))
FORWARD(cudaGraphDestroy, "cuGraphDestroy", (void *graph), (graph))
FORWARD(cudaGraphExecDestroy, "cuGraphExecDestroy", (void *executable),
	(executable))
FORWARD(cudaGraphLaunch, "cuGraphLaunch", (void *executable, void *stream),
	(executable, stream))
FORWARD(cudaGraphGetNodes, "cuGraphGetNodes",
	(void *graph, void **nodes, size_t *count), (graph, nodes, count))
FORWARD(cudaGraphNodeGetType, "cuGraphNodeGetType", (void *node, int *type),
	(node, type))
FORWARD(cudaGraphAddEmptyNode, "cuGraphAddEmptyNode",
	(void **node, void *graph, const void *const *dependencies,
	 size_t count),
	(node, graph, dependencies, count))

/* NOLINTEND(readability-function-size) */
/* NOLINTEND(readability-identifier-naming) */
