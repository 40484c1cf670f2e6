/* The simulated devices: one mapped file that all processes share. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_state.h"

#include "probes/phantom/device/sim_events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENVIRONMENT_MAX 4096

uint64_t sim_size(const char *text, char **end)
{
	char *unit = NULL;
	uint64_t size = strtoull(text, &unit, 10);
	int shift = 0;

	if (*unit == 'K')
		shift = 10;
	else if (*unit == 'M')
		shift = 20;
	else if (*unit == 'G')
		shift = 30;
	if (end)
		*end = unit + (shift != 0);
	return size << shift;
}

/* "8.9" */
static void read_capability(struct sim_device *device, const char *text)
{
	char *end = NULL;

	device->major = (int)strtol(text, &end, 10);
	device->minor = *end == '.' ? (int)strtol(end + 1, NULL, 10) : 0;
}

/* Devices of two machines are never the same: locks go by that. */
static void set_serial(struct sim_device *device)
{
	const char *text = getenv("AUTOFIT_SIM_SERIAL");
	unsigned long serial = text ? strtoul(text, NULL, 16) : 0;

	for (int i = 0; i < 4; i++)
		device->uuid[2 + i] = (unsigned char)(serial >> (24 - 8 * i));
}

static void state_add_device(struct sim_state *state, char *text)
{
	struct sim_device *device = &state->devices[state->device_count];
	char *rest = NULL;
	const char *name = strtok_r(text, ":", &rest);
	const char *total = strtok_r(NULL, ":", &rest);
	const char *base = strtok_r(NULL, ":", &rest);
	const char *context = strtok_r(NULL, ":", &rest);
	const char *capability = strtok_r(NULL, ":", &rest);
	const char *processors = strtok_r(NULL, ":", &rest);

	if (!name || !total)
		return;
	(void)snprintf(device->name, sizeof(device->name), "%s", name);
	memcpy(device->uuid, "\x51\x6d\0\0\0\0\x40\0\x80\0\0\0\0\0\0", 15);
	device->uuid[15] = (unsigned char)(state->device_count + 1);
	set_serial(device);
	device->total_bytes = sim_size(total, NULL);
	device->base_bytes = base ? sim_size(base, NULL) : 0;
	device->context_bytes = context ? sim_size(context, NULL) : 0;
	device->major = 9;
	device->multiprocessors = 132;
	if (capability)
		read_capability(device, capability);
	if (processors)
		device->multiprocessors = (int)strtol(processors, NULL, 10);
	state->device_count++;
}

static void configure(struct sim_state *state)
{
	const char *devices = getenv("AUTOFIT_SIM_DEVICES");
	char text[ENVIRONMENT_MAX];
	char *rest = NULL;
	char *item;

	if (!devices)
		return;
	(void)snprintf(text, sizeof(text), "%s", devices);
	for (item = strtok_r(text, ";", &rest);
	     item && state->device_count < SIM_DEVICES;
	     item = strtok_r(NULL, ";", &rest))
		state_add_device(state, item);
}

static int init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;
	int result = pthread_mutexattr_init(&attributes);

	if (!result)
		result = pthread_mutexattr_setpshared(&attributes,
						      PTHREAD_PROCESS_SHARED);
	if (!result)
		result = pthread_mutexattr_setrobust(&attributes,
						     PTHREAD_MUTEX_ROBUST);
	if (!result)
		result = pthread_mutex_init(lock, &attributes);
	return result;
}

static struct sim_state *map(const char *path)
{
	struct sim_state *state = MAP_FAILED;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (lseek(fd, 0, SEEK_END) == (off_t)sizeof(*state))
		state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
			     MAP_SHARED, fd, 0);
	(void)close(fd);
	return state == MAP_FAILED ? NULL : state;
}

/* Whole or not there: made beside the path, then linked to it. */
static void state_make(const char *path)
{
	char new_path[ENVIRONMENT_MAX];
	struct sim_state *state;
	int fd;

	(void)snprintf(new_path, sizeof(new_path), "%s.%d", path,
		       (int)getpid());
	fd = open(new_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (ftruncate(fd, (off_t)sizeof(*state)) == 0 &&
	    (state = map(new_path))) {
		configure(state);
		/* The loser of a race uses what the winner made. */
		if (init_lock(&state->lock) == 0)
			(void)link(new_path, path);
		(void)munmap(state, sizeof(*state));
	}
	(void)unlink(new_path);
	(void)close(fd);
}

static struct sim_state *open_state(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct sim_state *state;
	const char *path;
	struct sim_state *found;

	(void)pthread_mutex_lock(&lock);
	path = getenv("AUTOFIT_SIM_STATE");
	if (!state && path) {
		state = map(path);
		if (!state) {
			state_make(path);
			state = map(path);
		}
	}
	found = state;
	(void)pthread_mutex_unlock(&lock);
	return found;
}

/* Field 22 of /proc/PID/stat; 0: it is dead, or waits to be reaped. */
static uint64_t start_time_of(int32_t pid)
{
	char path[64];
	char text[1024];
	const char *field;
	ssize_t length;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	length = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (length <= 0)
		return 0;
	text[length] = '\0';
	field = strrchr(text, ')'); /* the name may hold anything */
	if (!field || field[1] != ' ' || field[2] == 'Z' || field[2] == 'X')
		return 0;
	for (int i = 2; i < 22 && field; i++)
		field = strchr(field + 1, ' ');
	return field ? strtoull(field, NULL, 10) : 0;
}

void sim_release_dead(struct sim_state *state)
{
	for (int i = 0; i < SIM_PROCESSES; i++) {
		struct sim_process *process = &state->processes[i];

		if (process->pid &&
		    start_time_of(process->pid) != process->start_time)
			memset(process, 0, sizeof(*process));
	}
}

struct sim_state *sim_lock_quick(void)
{
	struct sim_state *state = open_state();
	int result;

	if (!state || !state->device_count)
		return NULL;
	result = pthread_mutex_lock(&state->lock);
	if (result == EOWNERDEAD)
		result = pthread_mutex_consistent(&state->lock);
	return result ? NULL : state;
}

struct sim_state *sim_lock(void)
{
	struct sim_state *state = sim_lock_quick();

	if (state)
		sim_release_dead(state);
	return state;
}

void sim_unlock(struct sim_state *state)
{
	(void)pthread_mutex_unlock(&state->lock);
}

static struct sim_process *find_slot(struct sim_state *state, int32_t pid)
{
	for (int i = 0; i < SIM_PROCESSES; i++)
		if (state->processes[i].pid == pid)
			return &state->processes[i];
	return NULL;
}

struct sim_process *sim_self(struct sim_state *state)
{
	static int32_t known_pid; /* under the lock, as all of this */
	static uint64_t start_time;
	int32_t pid = getpid();
	struct sim_process *slot;

	if (known_pid != pid) {
		start_time = start_time_of(pid);
		known_pid = pid;
	}
	slot = find_slot(state, pid);
	if (slot && slot->start_time == start_time)
		return slot;
	/* None yet, or a pid that is used again. */
	if (!slot)
		slot = find_slot(state, 0);
	if (!slot)
		return NULL;
	memset(slot, 0, sizeof(*slot));
	slot->pid = pid;
	slot->start_time = start_time;
	return slot;
}

/* The row of this process and device. */
static struct sim_usage *usage_of(struct sim_state *state,
				  const struct sim_process *self,
				  uint32_t device)
{
	struct sim_usage *usage = state->usages;
	const char *rank = getenv("RANK");

	for (; usage < &state->usages[SIM_USAGES - 1] && usage->pid; usage++)
		if (usage->pid == self->pid && usage->device == device &&
		    usage->start_time == self->start_time)
			return usage;
	if (!usage->pid)
		*usage = (struct sim_usage){
			.start_time = self->start_time,
			.pid = self->pid,
			.rank = rank ? (int32_t)strtol(rank, NULL, 10) : -1,
			.device = device,
		};
	return usage;
}

bool sim_take(struct sim_state *state, struct sim_process *self,
	      uint32_t device, uint64_t bytes, bool is_context)
{
	struct sim_usage *usage = usage_of(state, self, device);

	if (sim_free_bytes(state, device) < bytes)
		sim_release_dead(state);
	if (sim_free_bytes(state, device) < bytes && !sim_fault("spills")) {
		usage->refusals++;
		usage->refused_bytes = bytes;
		return false;
	}
	self->used_bytes[device] += bytes;
	usage->used_bytes = self->used_bytes[device];
	if (usage->used_bytes > usage->peak_bytes)
		usage->peak_bytes = usage->used_bytes;
	if (is_context)
		usage->context_bytes += bytes;
	return true;
}

void sim_give(struct sim_state *state, struct sim_process *self,
	      uint32_t device, uint64_t bytes)
{
	if (self->used_bytes[device] < bytes)
		return;
	self->used_bytes[device] -= bytes;
	usage_of(state, self, device)->used_bytes = self->used_bytes[device];
}

uint64_t sim_free_bytes(const struct sim_state *state, uint32_t device)
{
	uint64_t used = state->devices[device].base_bytes;
	uint64_t total = state->devices[device].total_bytes;

	for (int i = 0; i < SIM_PROCESSES; i++)
		used += state->processes[i].used_bytes[device];
	return used < total ? total - used : 0;
}

void sim_uuid_text(char text[SIM_UUID_TEXT_MAX], const unsigned char uuid[16])
{
	const unsigned char *b = uuid;

	(void)snprintf(text, SIM_UUID_TEXT_MAX,
		       "%s-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
		       "%02x%02x%02x%02x%02x%02x",
		       sim_fault("mig") ? "MIG" : "GPU", b[0], b[1], b[2], b[3],
		       b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
		       b[13], b[14], b[15]);
}
