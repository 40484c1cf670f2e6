/* A simulated libnvidia-ml.so.1 over the same devices, for tests only. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_events.h"
#include "probes/phantom/device/sim_state.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Names and layouts are written down apart from autofit's own, on purpose. */
/* NOLINTBEGIN(readability-identifier-naming): the library's names */

#define EXPORT __attribute__((visibility("default")))

enum nvml_answer {
	OK = 0,
	UNINITIALIZED = 1,
	INVALID_ARGUMENT = 2,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	INSUFFICIENT_SIZE = 7,
	LIBRARY_NOT_FOUND = 12,
	FUNCTION_NOT_FOUND = 13,
	ARGUMENT_VERSION_MISMATCH = 25,
};

struct memory {
	unsigned long long total, free, used;
};

struct memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

/* The longest form; shorter ones are a prefix of it. */
struct process {
	unsigned int pid;
	unsigned long long used;
	unsigned int gpu_instance, compute_instance;
	unsigned long long protected_used;
};

/* The address of an element is a device handle. */
static char handles[SIM_DEVICES];
static int is_open;

EXPORT int nvmlInit_v2(void)
{
	if (sim_fault("nvml=missing"))
		return LIBRARY_NOT_FOUND;
	if (sim_fault("nvml=hang"))
		sim_hang();
	is_open++;
	return OK;
}

EXPORT int nvmlShutdown(void)
{
	if (!is_open)
		return UNINITIALIZED;
	is_open--;
	return OK;
}

EXPORT const char *nvmlErrorString(int result)
{
	switch (result) {
	case OK:
		return "The operation was successful";
	case UNINITIALIZED:
		return "Uninitialized";
	case NOT_SUPPORTED:
		return "Not Supported";
	case NOT_FOUND:
		return "Not Found";
	case LIBRARY_NOT_FOUND:
		return "NVML Shared Library Not Found";
	case FUNCTION_NOT_FOUND:
		return "Function Not Found";
	default:
		return "Unknown Error";
	}
}

EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	struct sim_state *state = is_open ? sim_lock() : NULL;
	int result = NOT_FOUND;

	if (!is_open)
		return UNINITIALIZED;
	if (!state)
		return NOT_FOUND;
	for (uint32_t i = 0; i < state->device_count; i++) {
		char text[SIM_UUID_TEXT_MAX];

		sim_uuid_text(text, state->devices[i].uuid);
		if (strcasecmp(text, uuid) == 0) {
			*device = &handles[i];
			result = OK;
		}
	}
	sim_unlock(state);
	return result;
}

EXPORT int nvmlInit(void)
{
	return nvmlInit_v2();
}

EXPORT int nvmlInitWithFlags(unsigned int flags)
{
	(void)flags;
	return nvmlInit_v2();
}

EXPORT int nvmlDeviceGetCount_v2(unsigned int *count)
{
	struct sim_state *state = is_open ? sim_lock() : NULL;

	if (!is_open)
		return UNINITIALIZED;
	if (!count)
		return INVALID_ARGUMENT;
	*count = state ? state->device_count : 0;
	if (state)
		sim_unlock(state);
	return OK;
}

/* The state and the device's number, with the lock held. */
static struct sim_state *nvml_device_look(const char *device, uint32_t *index)
{
	struct sim_state *state = is_open ? sim_lock() : NULL;
	ptrdiff_t number = device - handles;

	if (!state)
		return NULL;
	if (number < 0 || number >= (ptrdiff_t)state->device_count) {
		sim_unlock(state);
		return NULL;
	}
	*index = (uint32_t)number;
	return state;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
	struct sim_state *state = is_open ? sim_lock() : NULL;
	bool is_known = state && index < state->device_count;

	if (state)
		sim_unlock(state);
	if (!is_open)
		return UNINITIALIZED;
	if (!is_known || !device)
		return INVALID_ARGUMENT;
	*device = &handles[index];
	return OK;
}

/* "00000000:01:00.0", as cuDeviceGetPCIBusId writes it or longer. */
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *text, void **device)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	unsigned long bus = colon ? strtoul(colon + 1, NULL, 16) : 0;

	if (!bus || bus > SIM_DEVICES)
		return is_open ? NOT_FOUND : UNINITIALIZED;
	return nvmlDeviceGetHandleByIndex_v2((unsigned int)bus - 1, device);
}

EXPORT int nvmlDeviceGetCount(unsigned int *count)
{
	return nvmlDeviceGetCount_v2(count);
}

/* No card has links to others here. */
EXPORT int nvmlDeviceGetNvLinkState(const void *device, unsigned int link,
				    int *state)
{
	(void)device;
	(void)link;
	(void)state;
	return NOT_SUPPORTED;
}

EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(const void *device,
					       unsigned int link, int *type)
{
	return nvmlDeviceGetNvLinkState(device, link, type);
}

EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(const void *device,
					       unsigned int link, void *info)
{
	return nvmlDeviceGetNvLinkState(device, link, info);
}

EXPORT int nvmlDeviceGetIndex(void *device, unsigned int *index)
{
	uint32_t number = 0;
	struct sim_state *state = nvml_device_look(device, &number);

	if (!state)
		return INVALID_ARGUMENT;
	sim_unlock(state);
	*index = number;
	return OK;
}

static int put_text(char *text, unsigned int length, const char *what)
{
	if (length <= strlen(what))
		return INSUFFICIENT_SIZE;
	(void)snprintf(text, length, "%s", what);
	return OK;
}

EXPORT int nvmlDeviceGetUUID(void *device, char *text, unsigned int length)
{
	char uuid[SIM_UUID_TEXT_MAX];
	uint32_t index = 0;
	struct sim_state *state = nvml_device_look(device, &index);

	if (!state)
		return INVALID_ARGUMENT;
	sim_uuid_text(uuid, state->devices[index].uuid);
	sim_unlock(state);
	return put_text(text, length, uuid);
}

EXPORT int nvmlDeviceGetName(void *device, char *text, unsigned int length)
{
	char name[SIM_NAME_MAX];
	uint32_t index = 0;
	struct sim_state *state = nvml_device_look(device, &index);

	if (!state)
		return INVALID_ARGUMENT;
	memcpy(name, state->devices[index].name, sizeof(name));
	sim_unlock(state);
	return put_text(text, length, name);
}

EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned int length)
{
	static const char version[] = "580.00.00";

	if (!is_open)
		return UNINITIALIZED;
	return put_text(text, length, version);
}

EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	if (!version)
		return INVALID_ARGUMENT;
	*version = 13050;
	return OK;
}

/* NVML counts the board, of which the driver keeps a part for itself. */
static uint64_t nvml_reserved_bytes(void)
{
	uint64_t bytes = 0;

	(void)sim_fault_number("reserved=", &bytes);
	return bytes;
}

static void take_time(void)
{
	static uint64_t calls;
	uint64_t last;

	sim_delay("nvml_ms=");
	if (sim_fault_number("nvml_hang_after=", &last) && ++calls >= last)
		sim_hang();
}

EXPORT int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory)
{
	uint32_t index = 0;
	struct sim_state *state;

	take_time();
	if (sim_fault("nvml=unsupported"))
		return NOT_SUPPORTED;
	state = nvml_device_look(device, &index);
	if (!state)
		return INVALID_ARGUMENT;
	memory->total =
		state->devices[index].total_bytes + nvml_reserved_bytes();
	memory->free = sim_free_bytes(state, index);
	memory->used = memory->total - memory->free;
	sim_unlock(state);
	return OK;
}

EXPORT int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory)
{
	struct memory plain = { 0 };
	int result;

	if (sim_fault("nvml=old"))
		return FUNCTION_NOT_FOUND;
	if (memory->version != (sizeof(*memory) | 2U << 24))
		return ARGUMENT_VERSION_MISMATCH;
	result = nvmlDeviceGetMemoryInfo(device, &plain);
	memory->total = plain.total;
	/* The older function counts it as used. */
	memory->reserved = nvml_reserved_bytes();
	memory->free = plain.free;
	memory->used = plain.used - memory->reserved;
	return result;
}

/* Where a list is written to: count elements of size bytes at most. */
struct nvml_list {
	unsigned char *next;
	unsigned int room, count;
	size_t size;
};

static void nvml_put(struct nvml_list *list, int32_t pid, uint64_t used)
{
	struct process process = {
		.pid = (unsigned int)pid,
		.used = used,
		.gpu_instance = 0xffffffffU,
		.compute_instance = 0xffffffffU,
	};

	if (list->count++ < list->room) {
		memcpy(list->next, &process, list->size);
		list->next += list->size;
	}
}

static int finish(const struct nvml_list *list, unsigned int *count)
{
	*count = list->count;
	return list->count > list->room ? INSUFFICIENT_SIZE : OK;
}

/* As they are seen from here: in a container, by the host's numbers. */
static void put_contexts(struct nvml_list *list, const struct sim_state *state,
			 uint32_t index)
{
	int32_t add = sim_fault("nvml=host_pids") ? SIM_HOST_PIDS : 0;

	for (int i = 0; i < SIM_PROCESSES; i++)
		if (state->processes[i].contexts[index])
			nvml_put(list, state->processes[i].pid + add,
				 state->processes[i].used_bytes[index]);
}

/* Whether a process has so much of the device. */
static bool is_held(uint32_t index, uint64_t bytes)
{
	struct sim_state *state = sim_lock();
	bool found = false;

	if (!state)
		return false;
	for (int i = 0; i < SIM_PROCESSES; i++)
		found |= state->processes[i].used_bytes[index] >= bytes;
	sim_unlock(state);
	return found;
}

/* A list that was taken long before it is handed over. */
static void await_end(uint32_t index)
{
	const struct timespec pause = { 0, 1000000 };
	uint64_t bytes;

	if (sim_fault_number("nvml_outlives=", &bytes))
		while (is_held(index, bytes))
			(void)nanosleep(&pause, NULL);
}

static int list_compute(const char *device, unsigned int *count, void *infos,
			size_t size)
{
	struct nvml_list list = { infos, *count, 0, size };
	uint32_t index = 0;
	uint64_t used = UINT64_MAX;
	uint64_t only;
	uint64_t pid;
	struct sim_state *state = nvml_device_look(device, &index);

	if (!state)
		return INVALID_ARGUMENT;
	if (!sim_fault("nvml=hidden"))
		put_contexts(&list, state, index);
	(void)sim_fault_number("tenant_bytes=", &used);
	if (sim_fault_number("tenant=", &pid) &&
	    (!sim_fault_number("tenant_on=", &only) || only == index))
		nvml_put(&list, (int32_t)pid, used);
	sim_unlock(state);
	await_end(index);
	return finish(&list, count);
}

static int list_graphics(unsigned int *count, void *infos, size_t size)
{
	struct nvml_list list = { infos, *count, 0, size };
	uint64_t pid;

	if (sim_fault_number("display=", &pid))
		nvml_put(&list, (int32_t)pid, UINT64_MAX);
	return finish(&list, count);
}

EXPORT int nvmlDeviceGetComputeRunningProcesses(void *device,
						unsigned int *count,
						void *infos)
{
	return list_compute(device, count, infos, 16);
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v2(void *device,
						   unsigned int *count,
						   void *infos)
{
	if (sim_fault("nvml=old"))
		return FUNCTION_NOT_FOUND;
	return list_compute(device, count, infos, 24);
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *device,
						   unsigned int *count,
						   void *infos)
{
	if (sim_fault("nvml=wide"))
		return list_compute(device, count, infos, 32);
	return nvmlDeviceGetComputeRunningProcesses_v2(device, count, infos);
}

EXPORT int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device,
						    unsigned int *count,
						    void *infos)
{
	(void)device;
	return list_graphics(count, infos, 24);
}

/* NOLINTEND(readability-identifier-naming) */
