/* What is asked of the current context of the simulated driver. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_events.h"
#include "probes/phantom/device/sim_owners.h"

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

EXPORT int cuCtxGetDevice(int *device)
{
	struct sim_context *context = NULL;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (!device)
		return sim_leave(INVALID_VALUE);
	*device = sim_ordinal(context->device);
	return sim_leave(OK);
}

EXPORT int cuCtxGetDevice_v2(int *device, const void *context)
{
	const struct sim_context *found;
	int result;

	if (!context)
		return cuCtxGetDevice(device);
	result = sim_enter();
	if (result)
		return result;
	found = sim_object_find(context, SIM_CONTEXT);
	if (!found)
		return sim_leave(INVALID_CONTEXT);
	if (!device)
		return sim_leave(INVALID_VALUE);
	*device = sim_ordinal(found->device);
	return sim_leave(OK);
}

EXPORT int cuCtxGetFlags(unsigned int *flags)
{
	struct sim_context *context = NULL;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (!flags)
		return sim_leave(INVALID_VALUE);
	*flags = context->flags;
	return sim_leave(OK);
}

EXPORT int cuCtxGetApiVersion(const void *context, unsigned int *version)
{
	int result = sim_enter();

	if (result)
		return result;
	if (context && !sim_object_find(context, SIM_CONTEXT))
		return sim_leave(INVALID_CONTEXT);
	if (!version)
		return sim_leave(INVALID_VALUE);
	*version = 3020;
	return sim_leave(OK);
}

static int wait_for_all(void)
{
	int result = sim_event_wait();

	if (!result)
		sim_pools_settle();
	return sim_leave(result);
}

EXPORT int cuCtxSynchronize(void)
{
	struct sim_context *context = NULL;
	int result = sim_enter_context(&context);

	return result ? result : wait_for_all();
}

EXPORT int cuCtxSynchronize_v2(const void *context)
{
	const struct sim_context *found;
	int result;

	if (!context)
		return cuCtxSynchronize();
	result = sim_enter();
	if (result)
		return result;
	found = sim_object_find(context, SIM_CONTEXT);
	if (!found)
		return sim_leave(INVALID_CONTEXT);
	return found->is_alive ? wait_for_all()
			       : sim_leave(CONTEXT_IS_DESTROYED);
}

/* The limit's place, with the tables held if that is OK. */
static int enter_limit(int limit, size_t **place)
{
	struct sim_context *context = NULL;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (limit < 0 || limit >= (int)(sizeof(context->limits) /
					sizeof(*context->limits))) {
		(void)sim_leave(OK);
		return INVALID_VALUE;
	}
	*place = &context->limits[limit];
	return OK;
}

EXPORT int cuCtxSetLimit(int limit, size_t value)
{
	size_t *place = NULL;
	int result = enter_limit(limit, &place);

	if (result)
		return result;
	*place = value;
	return sim_leave(OK);
}

EXPORT int cuCtxGetLimit(size_t *value, int limit)
{
	size_t *place = NULL;
	int result = enter_limit(limit, &place);

	if (result)
		return result;
	if (!value)
		return sim_leave(INVALID_VALUE);
	*value = *place;
	return sim_leave(OK);
}

EXPORT int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	struct sim_context *context = NULL;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return sim_leave(OK);
}

EXPORT int cuCtxEnablePeerAccess(const void *peer, unsigned int flags)
{
	struct sim_context *context = NULL;
	int result = sim_enter_context(&context);

	if (result)
		return result;
	if (flags)
		return sim_leave(INVALID_VALUE);
	return sim_leave(sim_object_find(peer, SIM_CONTEXT) ? OK
							    : INVALID_CONTEXT);
}

const struct sim_export sim_current_exports[] = {
	SIM_SAME(cuCtxGetDevice, 2000),
	SIM_ROW(cuCtxGetDevice_v2, "cuCtxGetDevice", 13000),
	SIM_SAME(cuCtxGetFlags, 7000),
	SIM_SAME(cuCtxGetApiVersion, 3020),
	SIM_SAME(cuCtxSynchronize, 2000),
	SIM_ROW(cuCtxSynchronize_v2, "cuCtxSynchronize", 13000),
	SIM_SAME(cuCtxSetLimit, 3010),
	SIM_SAME(cuCtxGetLimit, 3010),
	SIM_SAME(cuCtxGetStreamPriorityRange, 5050),
	SIM_SAME(cuCtxEnablePeerAccess, 4000),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
