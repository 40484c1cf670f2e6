/* A simulated libcuda.so.1: devices without hardware, for tests only. */
/* SPDX-License-Identifier: MIT */
#include "sim_cuda.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/*
 * Names and signatures are the driver's own; they are written down here once
 * more, apart from autofit's, so that a mistake there is not repeated here.
 */
/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

struct uuid {
	char bytes[16];
};

/* This process's side of the driver. */
static struct {
	pid_t pid; /* that called cuInit; 0: none */
	uint32_t visible[SIM_DEVICES];
	int visible_count;
} driver;

/* The address of an element is a context: one primary one per device. */
static char contexts[SIM_DEVICES];
static _Thread_local char *current;

int sim_check(void)
{
	/* A context does not survive fork, and neither does cuInit. */
	return driver.pid == getpid() ? OK : NOT_INITIALIZED;
}

/* The device an item of CUDA_VISIBLE_DEVICES means, or -1. */
static int device_of_item(const struct sim_state *state, const char *item)
{
	char *end = NULL;
	long ordinal = strtol(item, &end, 10);

	if (end != item && *end == '\0')
		return ordinal >= 0 && ordinal < (long)state->device_count
			       ? (int)ordinal
			       : -1;
	for (uint32_t i = 0; i < state->device_count && *item; i++) {
		char text[SIM_UUID_TEXT_MAX];

		sim_uuid_text(text, state->devices[i].uuid);
		if (strncasecmp(text, item, strlen(item)) == 0)
			return (int)i;
	}
	return -1;
}

/* As the driver does: what follows an item that means nothing is unseen. */
static void find_visible(const struct sim_state *state)
{
	const char *environment = getenv("CUDA_VISIBLE_DEVICES");
	char text[1024];
	char *rest = NULL;
	const char *item;
	int device;

	driver.visible_count = 0;
	if (!environment) {
		for (uint32_t i = 0; i < state->device_count; i++)
			driver.visible[driver.visible_count++] = i;
		return;
	}
	(void)snprintf(text, sizeof(text), "%s", environment);
	for (item = strtok_r(text, ",", &rest);
	     item && driver.visible_count < SIM_DEVICES;
	     item = strtok_r(NULL, ",", &rest)) {
		device = device_of_item(state, item);
		if (device < 0)
			break;
		driver.visible[driver.visible_count++] = (uint32_t)device;
	}
}

EXPORT int cuInit(unsigned int flags)
{
	struct sim_state *state;
	uint64_t number;

	if (sim_fault("noise")) {
		(void)!write(STDOUT_FILENO, "noise\n", 6);
		(void)!write(STDERR_FILENO, "noise\n", 6);
	}
	if (sim_fault("crash"))
		(void)raise(SIGSEGV);
	if (sim_fault("exit"))
		exit(0);
	if (sim_fault("hang"))
		sim_hang();
	if (sim_fault_number("init=", &number))
		return (int)number;
	if (flags)
		return INVALID_VALUE;
	if (driver.pid && driver.pid != getpid())
		return NOT_INITIALIZED;
	state = sim_lock();
	if (!state)
		return NO_DEVICE;
	find_visible(state);
	sim_unlock(state);
	if (!driver.visible_count)
		return NO_DEVICE;
	driver.pid = getpid();
	return OK;
}

EXPORT int cuDriverGetVersion(int *version)
{
	if (!version)
		return INVALID_VALUE;
	*version = 13000;
	return OK;
}

EXPORT int cuGetErrorName(int error, const char **text)
{
	static const struct {
		int error;
		const char *name;
	} rows[] = {
		{ OK, "CUDA_SUCCESS" },
		{ INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE" },
		{ OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY" },
		{ NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED" },
		{ NO_DEVICE, "CUDA_ERROR_NO_DEVICE" },
		{ INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE" },
		{ INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT" },
		{ 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" },
		{ 999, "CUDA_ERROR_UNKNOWN" },
	};

	*text = NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].error == error)
			*text = rows[i].name;
	return *text ? OK : INVALID_VALUE;
}

EXPORT int cuGetErrorString(int error, const char **text)
{
	if (error == OUT_OF_MEMORY) {
		*text = "out of memory";
		return OK;
	}
	return cuGetErrorName(error, text);
}

EXPORT int cuDeviceGetCount(int *count)
{
	if (sim_check())
		return NOT_INITIALIZED;
	*count = driver.visible_count;
	return OK;
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
	if (sim_check())
		return NOT_INITIALIZED;
	if (ordinal < 0 || ordinal >= driver.visible_count)
		return INVALID_DEVICE;
	*device = ordinal;
	return OK;
}

/* A copy of what is known of a device. */
static int look(int device, struct sim_device *copy)
{
	struct sim_state *state;

	if (sim_check())
		return NOT_INITIALIZED;
	if (device < 0 || device >= driver.visible_count)
		return INVALID_DEVICE;
	state = sim_lock();
	if (!state)
		return NO_DEVICE;
	*copy = state->devices[driver.visible[device]];
	sim_unlock(state);
	return OK;
}

EXPORT int cuDeviceGetName(char *name, int length, int device)
{
	struct sim_device found;
	int result = look(device, &found);

	if (sim_fault("name=crash"))
		(void)raise(SIGABRT);
	if (!result)
		(void)snprintf(name, (size_t)length, "%s", found.name);
	return result;
}

EXPORT int cuDeviceGetUuid_v2(struct uuid *uuid, int device)
{
	struct sim_device found;
	int result = look(device, &found);

	if (!result)
		memcpy(uuid->bytes, found.uuid, sizeof(uuid->bytes));
	return result;
}

EXPORT int cuDeviceGetUuid(struct uuid *uuid, int device)
{
	int result = cuDeviceGetUuid_v2(uuid, device);

	/* The board, of which the device is an instance. */
	if (!result && sim_fault("mig"))
		uuid->bytes[0] = 0x52;
	return result;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	struct sim_device found;
	int result = look(device, &found);

	if (!result)
		*bytes = found.total_bytes;
	return result;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
	struct sim_device found;
	struct sim_process *self;
	struct sim_state *state;
	int result = look(device, &found);
	uint32_t index;

	if (result)
		return result;
	index = driver.visible[device];
	state = sim_lock();
	self = state ? sim_self(state) : NULL;
	if (!self || (!self->contexts[index] &&
		      sim_free_bytes(state, index) < found.context_bytes)) {
		result = OUT_OF_MEMORY;
	} else {
		if (!self->contexts[index]++)
			self->used_bytes[index] += found.context_bytes;
		*context = &contexts[index];
	}
	if (state)
		sim_unlock(state);
	return result;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int device)
{
	struct sim_device found;
	struct sim_process *self;
	struct sim_state *state;
	int result = look(device, &found);
	uint32_t index;

	if (result)
		return result;
	index = driver.visible[device];
	state = sim_lock();
	self = state ? sim_self(state) : NULL;
	if (!self || !self->contexts[index])
		result = INVALID_CONTEXT;
	else if (!--self->contexts[index])
		self->used_bytes[index] = 0; /* and all that was in it */
	if (state)
		sim_unlock(state);
	return result;
}

EXPORT int cuDevicePrimaryCtxRelease(int device)
{
	return cuDevicePrimaryCtxRelease_v2(device);
}

EXPORT int cuCtxSetCurrent(void *context)
{
	if (sim_check())
		return NOT_INITIALIZED;
	current = context;
	return OK;
}

EXPORT int cuCtxGetCurrent(void **context)
{
	if (sim_check())
		return NOT_INITIALIZED;
	*context = current;
	return OK;
}

int sim_current_device(uint32_t *device)
{
	if (sim_check())
		return NOT_INITIALIZED;
	if (!current)
		return INVALID_CONTEXT;
	*device = (uint32_t)(current - contexts);
	return OK;
}

/* NOLINTEND(readability-identifier-naming) */
