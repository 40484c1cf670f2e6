/* Graphs of the simulated driver as they run: made ready, launched. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_graph.h"

#include <stdlib.h>

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

#define UPLOAD_FLAG 2U
#define FLAGS_ALL 15U

struct instantiate_parameters {
	uint64_t flags;
	void *upload_stream, *error_node;
	unsigned int result;
};

static void free_exec(struct sim_exec *exec)
{
	for (size_t i = 0; i < exec->count; i++)
		sim_graph_memory_release(exec->steps[i].memory);
	free(exec->steps);
	sim_object_free(exec);
}

static struct sim_exec *make_exec(const struct sim_graph *graph, uint64_t flags)
{
	struct sim_exec *exec = sim_object_make(SIM_EXEC, sizeof(*exec), NULL);

	if (!exec)
		return NULL;
	exec->flags = flags;
	exec->steps = calloc(graph->count + 1, sizeof(*exec->steps));
	if (!exec->steps) {
		sim_object_free(exec);
		return NULL;
	}
	for (const struct sim_node *node = graph->nodes; node;
	     node = node->next) {
		struct sim_step *step = &exec->steps[exec->count++];

		step->type = node->type;
		step->memory = node->memory;
		if (step->memory)
			step->memory->references++;
	}
	return exec;
}

EXPORT int cuGraphInstantiateWithFlags(void **handle, const void *graph,
				       uint64_t flags)
{
	const struct sim_graph *found;
	struct sim_exec *exec;
	int result = sim_enter();

	if (result)
		return result;
	found = sim_object_find(graph, SIM_GRAPH);
	if (!handle || !found || (flags & ~(uint64_t)FLAGS_ALL))
		return sim_leave(INVALID_VALUE);
	exec = make_exec(found, flags);
	if (!exec)
		return sim_leave(OUT_OF_MEMORY);
	if (flags & UPLOAD_FLAG)
		result = sim_graph_reserve(exec);
	if (result)
		free_exec(exec);
	else
		*handle = exec;
	return sim_leave(result);
}

EXPORT int
cuGraphInstantiateWithParams(void **handle, const void *graph,
			     struct instantiate_parameters *parameters)
{
	int result;

	if (!parameters)
		return sim_check() ? NOT_INITIALIZED : INVALID_VALUE;
	result = cuGraphInstantiateWithFlags(handle, graph, parameters->flags);
	parameters->result = result ? 1 : 0;
	parameters->error_node = NULL;
	return result;
}

EXPORT int cuGraphInstantiate_v2(void **handle, const void *graph,
				 void **error_node, char *log, size_t log_bytes)
{
	if (error_node)
		*error_node = NULL;
	if (log && log_bytes)
		*log = '\0';
	return cuGraphInstantiateWithFlags(handle, graph, 0);
}

SIM_TWIN(cuGraphInstantiate, cuGraphInstantiate_v2,
	 (void **handle, const void *graph, void **error_node, char *log,
	  size_t log_bytes),
	 (handle, graph, error_node, log, log_bytes))

/* The instance and the context, with the tables held if that is OK. */
static int enter_exec(const void *handle, const void *stream,
		      struct sim_exec **exec, struct sim_context **context)
{
	int result = sim_enter_context(context);

	if (result)
		return result;
	*exec = sim_object_find(handle, SIM_EXEC);
	return *exec && sim_stream_is_known(stream) ? OK
						    : sim_leave(INVALID_HANDLE);
}

EXPORT int cuGraphUpload(const void *handle, const void *stream)
{
	struct sim_context *context = NULL;
	struct sim_exec *exec = NULL;
	int result = enter_exec(handle, stream, &exec, &context);

	return result ? result : sim_leave(sim_graph_reserve(exec));
}

EXPORT int cuGraphLaunch(const void *handle, const void *stream)
{
	struct sim_context *context = NULL;
	struct sim_exec *exec = NULL;
	int result = enter_exec(handle, stream, &exec, &context);

	if (result)
		return result;
	result = sim_launch(context);
	return sim_leave(result ? result : sim_graph_run(exec));
}

EXPORT int cuGraphExecDestroy(const void *handle)
{
	struct sim_exec *exec;
	int result = sim_enter();

	if (result)
		return result;
	exec = sim_object_find(handle, SIM_EXEC);
	if (!exec)
		return sim_leave(INVALID_VALUE);
	free_exec(exec);
	return sim_leave(OK);
}

SIM_TWIN(cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams,
	 (void **handle, const void *graph,
	  struct instantiate_parameters *parameters),
	 (handle, graph, parameters))
SIM_TWIN(cuGraphUpload_ptsz, cuGraphUpload,
	 (const void *handle, const void *stream), (handle, stream))
SIM_TWIN(cuGraphLaunch_ptsz, cuGraphLaunch,
	 (const void *handle, const void *stream), (handle, stream))

const struct sim_export sim_exec_exports[] = {
	SIM_SAME(cuGraphInstantiate, 10000),
	SIM_ROW(cuGraphInstantiate_v2, "cuGraphInstantiate", 11000),
	SIM_SAME(cuGraphInstantiateWithFlags, 11040),
	SIM_SAME(cuGraphInstantiateWithParams, 12000),
	SIM_PER_THREAD(cuGraphInstantiateWithParams_ptsz,
		       "cuGraphInstantiateWithParams", 12000),
	SIM_SAME(cuGraphUpload, 11010),
	SIM_PER_THREAD(cuGraphUpload_ptsz, "cuGraphUpload", 11010),
	SIM_SAME(cuGraphLaunch, 10000),
	SIM_PER_THREAD(cuGraphLaunch_ptsz, "cuGraphLaunch", 10000),
	SIM_SAME(cuGraphExecDestroy, 10000),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
