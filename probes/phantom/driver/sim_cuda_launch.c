/* Launches of the simulated driver: counted, charged, and over at once. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_events.h"
#include "probes/phantom/device/sim_owners.h"

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */
/* NOLINTBEGIN(readability-function-size): the driver's signatures */

#define BLOCK_MAX 1024

struct shape {
	unsigned int grid_x, grid_y, grid_z;
	unsigned int block_x, block_y, block_z;
};

struct configuration {
	struct shape shape;
	unsigned int shared_bytes;
	const void *stream;
	const void *attributes;
	unsigned int attribute_count;
};

int sim_launch(struct sim_context *context)
{
	uint64_t number = context->launches + 1;
	uint64_t code_bytes = 0;
	int result = sim_event_launch();

	if (result)
		return result;
	sim_forget_kept();
	if (number == 1)
		code_bytes += context->module_bytes;
	if (number == context->grow_launch)
		code_bytes += context->grow_bytes;
	if (code_bytes)
		result = sim_charge(context->device, code_bytes);
	if (result)
		return result;
	context->charged_bytes += code_bytes;
	context->launches = number;
	return OK;
}

static bool launch_is_sound(const struct shape *shape)
{
	uint64_t grid = (uint64_t)shape->grid_x * shape->grid_y;
	uint64_t block = (uint64_t)shape->block_x * shape->block_y;

	return grid && shape->grid_z && block && block <= BLOCK_MAX &&
	       shape->block_z && block * shape->block_z <= BLOCK_MAX;
}

static int launch_launch(const void *function, const struct shape *shape,
			 const void *stream)
{
	struct sim_context *context = NULL;
	struct sim_graph *graph;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (!sim_object_find(function, SIM_FUNCTION) ||
	    !sim_stream_is_known(stream))
		return sim_leave(INVALID_HANDLE);
	if (!launch_is_sound(shape))
		return sim_leave(INVALID_VALUE);
	graph = sim_stream_graph(stream);
	return sim_leave(graph ? sim_graph_add_kernel(graph)
			       : sim_launch(context));
}

EXPORT int cuLaunchKernel(const void *function, unsigned int grid_x,
			  unsigned int grid_y, unsigned int grid_z,
			  unsigned int block_x, unsigned int block_y,
			  unsigned int block_z, unsigned int shared_bytes,
			  const void *stream, void **arguments, void **extra)
{
	const struct shape shape = { grid_x,  grid_y,  grid_z,
				     block_x, block_y, block_z };

	(void)shared_bytes;
	(void)arguments;
	(void)extra;
	return launch_launch(function, &shape, stream);
}

EXPORT int cuLaunchCooperativeKernel(const void *function, unsigned int grid_x,
				     unsigned int grid_y, unsigned int grid_z,
				     unsigned int block_x, unsigned int block_y,
				     unsigned int block_z,
				     unsigned int shared_bytes,
				     const void *stream, void **arguments)
{
	const struct shape shape = { grid_x,  grid_y,  grid_z,
				     block_x, block_y, block_z };

	(void)shared_bytes;
	(void)arguments;
	return launch_launch(function, &shape, stream);
}

EXPORT int cuLaunchKernelEx(const struct configuration *configuration,
			    const void *function, void **arguments,
			    void **extra)
{
	(void)arguments;
	(void)extra;
	if (!configuration)
		return sim_check() ? NOT_INITIALIZED : INVALID_VALUE;
	return launch_launch(function, &configuration->shape,
			     configuration->stream);
}

/* At once: everything before it is over. */
EXPORT int cuLaunchHostFunc(const void *stream, void (*function)(void *),
			    void *data)
{
	struct sim_context *context = NULL;
	struct sim_graph *graph;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (!function || !sim_stream_is_known(stream))
		return sim_leave(INVALID_VALUE);
	graph = sim_stream_graph(stream);
	(void)sim_leave(OK);
	if (!graph)
		function(data);
	return OK;
}

SIM_TWIN(cuLaunchKernel_ptsz, cuLaunchKernel,
	 (const void *function, unsigned int grid_x, unsigned int grid_y,
	  unsigned int grid_z, unsigned int block_x, unsigned int block_y,
	  unsigned int block_z, unsigned int shared_bytes, const void *stream,
	  void **arguments, void **extra),
	 (function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
	  shared_bytes, stream, arguments, extra))
SIM_TWIN(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel,
	 (const void *function, unsigned int grid_x, unsigned int grid_y,
	  unsigned int grid_z, unsigned int block_x, unsigned int block_y,
	  unsigned int block_z, unsigned int shared_bytes, const void *stream,
	  void **arguments),
	 (function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
	  shared_bytes, stream, arguments))
SIM_TWIN(cuLaunchKernelEx_ptsz, cuLaunchKernelEx,
	 (const struct configuration *configuration, const void *function,
	  void **arguments, void **extra),
	 (configuration, function, arguments, extra))
SIM_TWIN(cuLaunchHostFunc_ptsz, cuLaunchHostFunc,
	 (const void *stream, void (*function)(void *), void *data),
	 (stream, function, data))

const struct sim_export sim_launch_exports[] = {
	SIM_SAME(cuLaunchKernel, 4000),
	SIM_PER_THREAD(cuLaunchKernel_ptsz, "cuLaunchKernel", 7000),
	SIM_SAME(cuLaunchCooperativeKernel, 9000),
	SIM_PER_THREAD(cuLaunchCooperativeKernel_ptsz,
		       "cuLaunchCooperativeKernel", 9000),
	SIM_SAME(cuLaunchKernelEx, 11060),
	SIM_PER_THREAD(cuLaunchKernelEx_ptsz, "cuLaunchKernelEx", 11060),
	SIM_SAME(cuLaunchHostFunc, 10000),
	SIM_PER_THREAD(cuLaunchHostFunc_ptsz, "cuLaunchHostFunc", 10000),
	SIM_END,
};

/* NOLINTEND(readability-function-size) */
/* NOLINTEND(readability-identifier-naming) */
