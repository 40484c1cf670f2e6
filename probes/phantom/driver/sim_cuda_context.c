/* Contexts of the simulated libcuda.so.1. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_events.h"
#include "probes/phantom/device/sim_owners.h"

#include <stdlib.h>

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

#define STACK_MAX 64

/* Of each device of the state, once it was asked for; never freed. */
static struct sim_context *primaries[SIM_DEVICES];

/* The top is the current context. */
static _Thread_local struct {
	struct sim_context *items[STACK_MAX];
	int depth;
} stack;

static struct sim_context *current(void)
{
	return stack.depth ? stack.items[stack.depth - 1] : NULL;
}

int sim_enter_context(struct sim_context **context)
{
	int result = sim_check();

	if (result)
		return result;
	*context = current();
	if (!*context)
		return INVALID_CONTEXT;
	(void)sim_enter();
	return (*context)->is_alive ? OK : sim_leave(CONTEXT_IS_DESTROYED);
}

/* Code that is loaded late. */
static void expect_code(struct sim_context *context)
{
	const char *place = NULL;
	const char *text = sim_fault_next("grow=", &place);
	char *end = NULL;

	(void)sim_fault_number("module=", &context->module_bytes);
	if (!text)
		return;
	context->grow_bytes = sim_size(text, &end);
	if (*end == '@')
		context->grow_launch = strtoull(end + 1, NULL, 10);
}

static int activate(struct sim_context *context)
{
	struct sim_state *state;
	const struct sim_device *device;
	struct sim_process *self;
	int result = sim_event_context();

	if (result)
		return result;
	state = sim_lock();
	if (!state)
		return NO_DEVICE;
	device = &state->devices[context->device];
	self = sim_self(state);
	if (!self || !sim_take(state, self, context->device,
			       device->context_bytes, true)) {
		result = OUT_OF_MEMORY;
	} else {
		self->contexts[context->device]++;
		context->charged_bytes = device->context_bytes;
		context->launches = 0;
		context->is_alive = true;
	}
	sim_unlock(state);
	return result;
}

static void free_block(struct sim_block *block)
{
	if (block->kind == SIM_POOLED)
		sim_pool_give(block);
	sim_block_free(block);
}

/* And all that was in it. */
static void deactivate(struct sim_context *context)
{
	struct sim_state *state;
	struct sim_process *self;
	bool is_last = false;

	while (context->blocks)
		free_block(context->blocks);
	while (context->objects)
		sim_object_free(context->objects);
	sim_discharge(context->device, context->charged_bytes);
	context->charged_bytes = 0;
	context->is_alive = false;
	state = sim_lock_quick();
	self = state ? sim_self(state) : NULL;
	if (self && self->contexts[context->device])
		is_last = !--self->contexts[context->device];
	if (state)
		sim_unlock(state);
	if (is_last) {
		sim_pools_drop(context->device);
		sim_graphs_drop(context->device);
	}
}

static struct sim_context *make_context(uint32_t device, unsigned int flags)
{
	struct sim_context *context =
		sim_object_make(SIM_CONTEXT, sizeof(*context), NULL);

	if (context) {
		context->device = device;
		context->flags = flags;
		expect_code(context);
	}
	return context;
}

/* The primary context of an ordinal, with the tables held if that is OK. */
static int enter_primary(int ordinal, struct sim_context **context)
{
	uint32_t device = 0;
	int result = sim_device(ordinal, &device);

	if (result)
		return result;
	(void)sim_enter();
	if (!primaries[device]) {
		primaries[device] = make_context(device, 0);
		if (!primaries[device]) {
			(void)sim_leave(OK);
			return OUT_OF_MEMORY;
		}
		primaries[device]->is_primary = true;
	}
	*context = primaries[device];
	return OK;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
	struct sim_context *primary = NULL;
	int result = enter_primary(device, &primary);

	if (result)
		return result;
	if (!context)
		return sim_leave(INVALID_VALUE);
	if (!primary->is_alive)
		result = activate(primary);
	if (!result) {
		primary->retained++;
		*context = primary;
	}
	return sim_leave(result);
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
	struct sim_context *primary = NULL;
	int result = enter_primary(device, &primary);

	if (result)
		return result;
	if (!primary->retained)
		return sim_leave(INVALID_CONTEXT);
	if (!--primary->retained)
		deactivate(primary);
	return sim_leave(OK);
}

EXPORT int cuDevicePrimaryCtxReset_v2(int device)
{
	struct sim_context *primary = NULL;
	int result = enter_primary(device, &primary);

	if (result)
		return result;
	primary->retained = 0;
	if (primary->is_alive)
		deactivate(primary);
	return sim_leave(OK);
}

EXPORT int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned int flags)
{
	struct sim_context *primary = NULL;
	int result = enter_primary(device, &primary);

	if (result)
		return result;
	primary->flags = flags;
	return sim_leave(OK);
}

SIM_TWIN(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (int device),
	 (device))
SIM_TWIN(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, (int device),
	 (device))
SIM_TWIN(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2,
	 (int device, unsigned int flags), (device, flags))

EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned int *flags,
				      int *active)
{
	struct sim_context *primary = NULL;
	int result = enter_primary(device, &primary);

	if (result)
		return result;
	if (flags)
		*flags = primary->flags;
	if (active)
		*active = primary->is_alive;
	return sim_leave(OK);
}

EXPORT int cuCtxCreate_v2(void **context, unsigned int flags, int device)
{
	struct sim_context *made;
	uint32_t number = 0;
	int result = sim_device(device, &number);

	if (result)
		return result;
	if (!context || stack.depth == STACK_MAX)
		return INVALID_VALUE;
	(void)sim_enter();
	made = make_context(number, flags);
	result = made ? activate(made) : OUT_OF_MEMORY;
	if (!result) {
		stack.items[stack.depth++] = made;
		*context = made;
	} else if (made) {
		sim_object_free(made);
	}
	return sim_leave(result);
}

EXPORT int cuCtxCreate(void **context, unsigned int flags, int device)
{
	return cuCtxCreate_v2(context, flags, device);
}

EXPORT int cuCtxCreate_v3(void **context, void *affinities, int count,
			  unsigned int flags, int device)
{
	if (count < 0 || (count && !affinities))
		return INVALID_VALUE;
	return cuCtxCreate_v2(context, flags, device);
}

EXPORT int cuCtxCreate_v4(void **context, void *parameters, unsigned int flags,
			  int device)
{
	(void)parameters; /* NULL: a plain one */
	return cuCtxCreate_v2(context, flags, device);
}

/* Destroyed ones stay known as that: other threads may hold them. */
EXPORT int cuCtxDestroy_v2(void *context)
{
	struct sim_context *found;
	int result = sim_enter();

	if (result)
		return result;
	found = sim_object_find(context, SIM_CONTEXT);
	if (!found || found->is_primary)
		return sim_leave(INVALID_CONTEXT);
	if (!found->is_alive)
		return sim_leave(CONTEXT_IS_DESTROYED);
	deactivate(found);
	if (current() == found)
		stack.depth--;
	return sim_leave(OK);
}

/* NULL, or a context of this driver. */
static int check_context(const void *context)
{
	int result = sim_enter();

	if (result)
		return result;
	if (context && !sim_object_find(context, SIM_CONTEXT))
		result = INVALID_CONTEXT;
	return sim_leave(result);
}

EXPORT int cuCtxSetCurrent(void *context)
{
	int result = check_context(context);

	if (result)
		return result;
	if (stack.depth)
		stack.depth--;
	if (context)
		stack.items[stack.depth++] = context;
	return OK;
}

EXPORT int cuCtxGetCurrent(void **context)
{
	if (sim_check())
		return NOT_INITIALIZED;
	if (!context)
		return INVALID_VALUE;
	*context = current();
	return OK;
}

EXPORT int cuCtxPushCurrent_v2(void *context)
{
	int result = check_context(context);

	if (result)
		return result;
	if (!context)
		return INVALID_CONTEXT;
	if (stack.depth == STACK_MAX)
		return INVALID_VALUE;
	stack.items[stack.depth++] = context;
	return OK;
}

EXPORT int cuCtxPopCurrent_v2(void **context)
{
	if (sim_check())
		return NOT_INITIALIZED;
	if (!stack.depth)
		return INVALID_CONTEXT;
	stack.depth--;
	if (context)
		*context = stack.items[stack.depth];
	return OK;
}

SIM_TWIN(cuCtxDestroy, cuCtxDestroy_v2, (void *context), (context))
SIM_TWIN(cuCtxPushCurrent, cuCtxPushCurrent_v2, (void *context), (context))
SIM_TWIN(cuCtxPopCurrent, cuCtxPopCurrent_v2, (void **context), (context))

const struct sim_export sim_context_exports[] = {
	SIM_SAME(cuDevicePrimaryCtxRetain, 7000),
	SIM_SAME(cuDevicePrimaryCtxRelease, 7000),
	SIM_ROW(cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease",
		11000),
	SIM_SAME(cuDevicePrimaryCtxReset, 7000),
	SIM_ROW(cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset", 11000),
	SIM_SAME(cuDevicePrimaryCtxSetFlags, 7000),
	SIM_ROW(cuDevicePrimaryCtxSetFlags_v2, "cuDevicePrimaryCtxSetFlags",
		11000),
	SIM_SAME(cuDevicePrimaryCtxGetState, 7000),
	SIM_SAME(cuCtxCreate, 2000),
	SIM_ROW(cuCtxCreate_v2, "cuCtxCreate", 3020),
	SIM_ROW(cuCtxCreate_v3, "cuCtxCreate", 11040),
	SIM_ROW(cuCtxCreate_v4, "cuCtxCreate", 12050),
	SIM_SAME(cuCtxDestroy, 2000),
	SIM_ROW(cuCtxDestroy_v2, "cuCtxDestroy", 4000),
	SIM_SAME(cuCtxSetCurrent, 4000),
	SIM_SAME(cuCtxGetCurrent, 4000),
	SIM_SAME(cuCtxPushCurrent, 2000),
	SIM_ROW(cuCtxPushCurrent_v2, "cuCtxPushCurrent", 4000),
	SIM_SAME(cuCtxPopCurrent, 2000),
	SIM_ROW(cuCtxPopCurrent_v2, "cuCtxPopCurrent", 4000),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
