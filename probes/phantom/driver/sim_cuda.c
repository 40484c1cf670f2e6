/* A simulated libcuda.so.1: devices without hardware, for tests only. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_cuda.h"
#include "probes/phantom/device/sim_events.h"

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

static pthread_mutex_t tables = PTHREAD_MUTEX_INITIALIZER;

int sim_check(void)
{
	/* A context does not survive fork, and neither does cuInit. */
	return driver.pid == getpid() ? OK : NOT_INITIALIZED;
}

int sim_enter(void)
{
	int result = sim_check();

	if (!result)
		(void)pthread_mutex_lock(&tables);
	return result;
}

int sim_leave(int result)
{
	(void)pthread_mutex_unlock(&tables);
	return result;
}

int sim_device(int ordinal, uint32_t *device)
{
	if (sim_check())
		return NOT_INITIALIZED;
	if (ordinal < 0 || ordinal >= driver.visible_count)
		return INVALID_DEVICE;
	*device = driver.visible[ordinal];
	return OK;
}

int sim_ordinal(uint32_t device)
{
	for (int i = 0; i < driver.visible_count; i++)
		if (driver.visible[i] == device)
			return i;
	return -1;
}

uint64_t sim_round_up(uint64_t bytes, uint64_t unit)
{
	return bytes > UINT64_MAX - unit ? 0 : (bytes + unit - 1) / unit * unit;
}

int sim_charge(uint32_t device, uint64_t bytes)
{
	struct sim_state *state = sim_lock_quick();
	struct sim_process *self = state ? sim_self(state) : NULL;
	int result = OUT_OF_MEMORY;

	if (self && sim_take(state, self, device, bytes, false))
		result = OK;
	if (state)
		sim_unlock(state);
	return result;
}

void sim_discharge(uint32_t device, uint64_t bytes)
{
	struct sim_state *state = sim_lock_quick();
	struct sim_process *self = state ? sim_self(state) : NULL;

	if (self)
		sim_give(state, self, device, bytes);
	if (state)
		sim_unlock(state);
}

/* The runtime's: see sim_notes.h. */
EXPORT int autofit_phantom_note(int kind, const char *text, uint64_t number)
{
	struct sim_state *state = sim_lock_quick();
	struct sim_note *note;

	if (!state || kind < 0 || kind >= SIM_NOTE_KINDS) {
		if (state)
			sim_unlock(state);
		return INVALID_VALUE;
	}
	note = &state->notes[kind];
	if (!note->count++ && text)
		(void)snprintf(note->text, sizeof(note->text), "%s", text);
	note->sum += number;
	sim_unlock(state);
	return OK;
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

/* The words of the script that keep it from starting; OK: none did. */
static int stumble(void)
{
	uint64_t number;

	if (!sim_event_is_ours())
		return OK;
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
	sim_delay("init_ms=");
	return sim_fault_number("init=", &number) ? (int)number : OK;
}

/* What this pid had before it became this program is gone. */
static void forget_former_program(struct sim_state *state)
{
	struct sim_process *self = sim_self(state);

	if (!self)
		return;
	memset(self->used_bytes, 0, sizeof(self->used_bytes));
	memset(self->contexts, 0, sizeof(self->contexts));
	memset(&self->counts, 0, sizeof(self->counts));
}

/* With the tables held. */
static int start(void)
{
	struct sim_state *state;

	if (driver.pid)
		return sim_check();
	state = sim_lock();
	if (!state)
		return NO_DEVICE;
	find_visible(state);
	if (driver.visible_count)
		forget_former_program(state);
	sim_unlock(state);
	if (!driver.visible_count)
		return NO_DEVICE;
	sim_event_start();
	driver.pid = getpid();
	return OK;
}

EXPORT int cuInit(unsigned int flags)
{
	int result = stumble();

	if (result)
		return result;
	if (flags)
		return INVALID_VALUE;
	/* In a child, another thread of the parent may have held them. */
	if (driver.pid && sim_check())
		return NOT_INITIALIZED;
	(void)pthread_mutex_lock(&tables);
	return sim_leave(start());
}

EXPORT int cuDeviceGetCount(int *count)
{
	if (sim_check())
		return NOT_INITIALIZED;
	if (!count)
		return INVALID_VALUE;
	*count = driver.visible_count;
	return OK;
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
	uint32_t number = 0;
	int result = sim_device(ordinal, &number);

	if (!result && !device)
		return INVALID_VALUE;
	if (!result)
		*device = ordinal;
	return result;
}

/* A copy of what is known of a device. */
static int driver_look(int ordinal, struct sim_device *copy)
{
	struct sim_state *state;
	uint32_t device = 0;
	int result = sim_device(ordinal, &device);

	if (result)
		return result;
	state = sim_lock();
	if (!state)
		return NO_DEVICE;
	*copy = state->devices[device];
	sim_unlock(state);
	return OK;
}

EXPORT int cuDeviceGetName(char *name, int length, int device)
{
	struct sim_device found;
	int result = driver_look(device, &found);

	if (sim_fault("name=crash"))
		(void)raise(SIGABRT);
	if (!result)
		(void)snprintf(name, (size_t)length, "%s", found.name);
	return result;
}

EXPORT int cuDeviceGetUuid_v2(struct uuid *uuid, int device)
{
	struct sim_device found;
	int result = driver_look(device, &found);

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
	int result = driver_look(device, &found);

	if (!result)
		*bytes = found.total_bytes;
	return result;
}

EXPORT int cuDeviceTotalMem(unsigned int *bytes, int device)
{
	size_t all = 0;
	int result = cuDeviceTotalMem_v2(&all, device);

	if (!result)
		*bytes = all > UINT32_MAX ? UINT32_MAX : (unsigned int)all;
	return result;
}

const struct sim_export sim_device_exports[] = {
	SIM_SAME(cuInit, 2000),
	SIM_SAME(cuDeviceGet, 2000),
	SIM_SAME(cuDeviceGetCount, 2000),
	SIM_SAME(cuDeviceGetName, 2000),
	SIM_SAME(cuDeviceGetUuid, 9020),
	SIM_ROW(cuDeviceGetUuid_v2, "cuDeviceGetUuid", 11040),
	SIM_SAME(cuDeviceTotalMem, 2000),
	SIM_ROW(cuDeviceTotalMem_v2, "cuDeviceTotalMem", 3020),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
