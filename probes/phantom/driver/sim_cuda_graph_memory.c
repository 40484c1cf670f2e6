/* What the graphs of the simulated driver hold of a device. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_events.h"
#include "probes/phantom/device/sim_graph.h"

#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

#define AUTO_FREE_FLAG 1U

enum graph_memory_attribute {
	USED_CURRENT,
	USED_HIGH,
	RESERVED_CURRENT,
	RESERVED_HIGH
};

/* All graphs of this process share it, and only a trim gives it back. */
static struct {
	uint64_t values[4]; /* by enum graph_memory_attribute */
} reserves[SIM_DEVICES];

static struct sim_graph_memory *memories;

int sim_graph_memory_make(uint32_t device, uint64_t bytes,
			  struct sim_graph_memory **made)
{
	uint64_t rounded = sim_round_up(bytes, SIM_GRANULARITY);
	struct sim_graph_memory *memory;
	int result = sim_event_allocation(device, bytes);

	if (result)
		return result;
	memory = calloc(1, sizeof(*memory));
	if (!memory)
		return OUT_OF_MEMORY;
	memory->block =
		rounded ? sim_block_make(SIM_GRAPH_MEMORY, rounded, NULL)
			: NULL;
	if (!memory->block) {
		free(memory);
		return OUT_OF_MEMORY;
	}
	memory->block->device = device;
	memory->block->asked_bytes = bytes;
	memory->block->owner = memory;
	memory->device = device;
	memory->bytes = rounded;
	memory->next = memories;
	memories = memory;
	*made = memory;
	return OK;
}

static void free_unused(struct sim_graph_memory *memory)
{
	struct sim_graph_memory **link = &memories;

	if (memory->references || memory->is_live)
		return;
	while (*link != memory)
		link = &(*link)->next;
	*link = memory->next;
	sim_block_free(memory->block);
	free(memory);
}

void sim_graph_memory_release(struct sim_graph_memory *memory)
{
	if (!memory)
		return;
	if (memory->references)
		memory->references--;
	free_unused(memory);
}

static void graph_memory_take(struct sim_graph_memory *memory)
{
	uint64_t *values = reserves[memory->device].values;

	memory->is_live = true;
	values[USED_CURRENT] += memory->bytes;
	if (values[USED_CURRENT] > values[USED_HIGH])
		values[USED_HIGH] = values[USED_CURRENT];
}

static bool give(struct sim_graph_memory *memory)
{
	if (!memory->is_live)
		return false;
	memory->is_live = false;
	reserves[memory->device].values[USED_CURRENT] -= memory->bytes;
	return true;
}

int sim_graph_give(struct sim_block *block)
{
	struct sim_graph_memory *memory = block->owner;

	if (!give(memory))
		return INVALID_VALUE;
	free_unused(memory);
	return OK;
}

/* With what is in use now, the most a launch has at a time. */
static uint64_t peak_of(const struct sim_exec *exec, uint32_t device)
{
	uint64_t now = reserves[device].values[USED_CURRENT];
	uint64_t peak = now;

	for (size_t i = 0; i < exec->count; i++) {
		const struct sim_step *step = &exec->steps[i];

		if (!step->memory || step->memory->device != device)
			continue;
		if (step->type == SIM_NODE_ALLOCATION)
			now += step->memory->bytes;
		else if (now >= step->memory->bytes)
			now -= step->memory->bytes;
		if (now > peak)
			peak = now;
	}
	return peak;
}

int sim_graph_reserve(const struct sim_exec *exec)
{
	for (uint32_t i = 0; i < SIM_DEVICES; i++) {
		uint64_t *values = reserves[i].values;
		uint64_t peak = peak_of(exec, i);

		if (peak <= values[RESERVED_CURRENT])
			continue;
		if (sim_charge(i, peak - values[RESERVED_CURRENT]))
			return OUT_OF_MEMORY;
		values[RESERVED_CURRENT] = peak;
		if (peak > values[RESERVED_HIGH])
			values[RESERVED_HIGH] = peak;
	}
	return OK;
}

/* What the launch before left: freed now, or in the way. */
static bool is_free(const struct sim_exec *exec)
{
	for (size_t i = 0; i < exec->count; i++) {
		const struct sim_step *step = &exec->steps[i];

		if (step->type != SIM_NODE_ALLOCATION || !step->memory->is_live)
			continue;
		if (!(exec->flags & AUTO_FREE_FLAG))
			return false;
		(void)give(step->memory);
	}
	return true;
}

int sim_graph_run(const struct sim_exec *exec)
{
	int result = is_free(exec) ? sim_graph_reserve(exec) : INVALID_VALUE;

	for (size_t i = 0; !result && i < exec->count; i++) {
		const struct sim_step *step = &exec->steps[i];

		if (step->type == SIM_NODE_ALLOCATION)
			graph_memory_take(step->memory);
		else if (step->type == SIM_NODE_FREE)
			(void)give(step->memory);
	}
	return result;
}

static void trim(uint32_t device)
{
	uint64_t *values = reserves[device].values;

	sim_discharge(device, values[RESERVED_CURRENT] - values[USED_CURRENT]);
	values[RESERVED_CURRENT] = values[USED_CURRENT];
}

void sim_graphs_drop(uint32_t device)
{
	struct sim_graph_memory *next;

	for (struct sim_graph_memory *memory = memories; memory;
	     memory = next) {
		next = memory->next;
		if (memory->device == device && give(memory))
			free_unused(memory);
	}
	trim(device);
}

EXPORT int cuDeviceGraphMemTrim(int ordinal)
{
	uint32_t device = 0;
	int result = sim_device(ordinal, &device);

	if (result)
		return result;
	(void)sim_enter();
	trim(device);
	return sim_leave(OK);
}

EXPORT int cuDeviceGetGraphMemAttribute(int ordinal, unsigned int attribute,
					void *value)
{
	uint32_t device = 0;
	int result = sim_device(ordinal, &device);

	if (!result && (attribute > RESERVED_HIGH || !value))
		result = INVALID_VALUE;
	if (result)
		return result;
	(void)sim_enter();
	memcpy(value, &reserves[device].values[attribute], sizeof(uint64_t));
	return sim_leave(OK);
}

/* A high mark is only ever set to 0, which begins it anew. */
EXPORT int cuDeviceSetGraphMemAttribute(int ordinal, unsigned int attribute,
					const void *value)
{
	uint64_t wide = 0;
	uint32_t device = 0;
	int result = sim_device(ordinal, &device);

	if (result)
		return result;
	if (value)
		memcpy(&wide, value, sizeof(wide));
	if (!value || wide ||
	    (attribute != USED_HIGH && attribute != RESERVED_HIGH))
		return INVALID_VALUE;
	(void)sim_enter();
	reserves[device].values[attribute] =
		reserves[device].values[attribute - 1];
	return sim_leave(OK);
}

const struct sim_export sim_graph_memory_exports[] = {
	SIM_SAME(cuDeviceGraphMemTrim, 11040),
	SIM_SAME(cuDeviceGetGraphMemAttribute, 11040),
	SIM_SAME(cuDeviceSetGraphMemAttribute, 11040),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
