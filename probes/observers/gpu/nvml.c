/* NVML asked again and again, in a process of its own that may hang or die. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/gpu.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "probes/observers/gpu/gpu_child.h"
#include "probes/observers/gpu/intel.h"
#include "probes/observers/gpu/kfd.h"
#include "probes/observers/gpu/nvml_api.h"
#include "probes/observers/gpu/nvml_library.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

/* The driver answers within milliseconds, after a pause within seconds. */
#define PATIENCE_MS 1000
/* A first look starts what nobody kept awake. */
#define OPEN_MS 30000
/* Whoever is waited for so long is not coming soon, and that is said. */
#define SILENCE_MS 10000
/* A slow look is followed by a pause of so many times its length. */
#define PAUSE_FACTOR 4
#define SLOW_MS 20

struct nvml {
	struct gpu_child child;
	/* Written by the child between a question and its answer only. */
	struct gpu_look *looks;
	size_t count;
	enum gpu_vendor vendor; /* of all of them */
	bool is_asked;          /* and has not answered yet */
	bool is_seen;           /* the last look succeeded */
	bool is_told;           /* that it is silent */
	int64_t asked_ms, next_ms;
};

static size_t nvml_bytes(const struct nvml *nvml)
{
	return nvml->count * sizeof(*nvml->looks);
}

static void nvml_note(struct gpu_look *look, const struct error *err)
{
	if (!look->problem[0])
		(void)snprintf(look->problem, sizeof(look->problem), "%s",
			       err->message);
}

static void nvml_read_one(struct nvml_library *library, struct gpu_look *look)
{
	struct error err = ERROR_INIT;

	look->has_memory = nvml_library_memory(library, look->uuid,
					       &look->memory, &err) == 0;
	if (!look->has_memory)
		nvml_note(look, &err);
	look->process_count = nvml_library_processes(library, look->uuid,
						     look->processes, &err);
	if (look->process_count < 0)
		nvml_note(look, &err);
}

static void nvml_read_kernel(const struct nvml *nvml)
{
	const struct kfd_roots amd = kfd_roots_here();
	const struct intel_roots intel = intel_roots_here();

	assert(nvml->vendor == GPU_AMD || nvml->vendor == GPU_INTEL);
	for (size_t i = 0; i < nvml->count; i++)
		if (nvml->vendor == GPU_AMD)
			kfd_look(&amd, &nvml->looks[i]);
		else
			intel_look(&intel, &nvml->looks[i]);
}

/* NVML that cannot be opened now may be there at the next look. */
static int nvml_read_all(const struct nvml *nvml, struct nvml_library **library,
			 struct error *err)
{
	int result =
		*library ? 0 : nvml_library_open(library, NVML_LIBRARY, err);

	for (size_t i = 0; i < nvml->count; i++) {
		struct gpu_look *look = &nvml->looks[i];

		look->has_memory = false;
		look->process_count = -1;
		look->problem[0] = '\0';
		if (result < 0)
			nvml_note(look, err);
		else
			nvml_read_one(*library, look);
	}
	return result;
}

static void nvml_run(const void *context, int fd)
{
	const struct nvml *nvml = context;
	struct nvml_library *library = NULL;
	char asked;

	while (recv(fd, &asked, sizeof(asked), 0) == sizeof(asked)) {
		struct error err = ERROR_INIT;

		if (nvml->vendor != GPU_NVIDIA)
			nvml_read_kernel(nvml);
		else
			(void)nvml_read_all(nvml, &library, &err);
		if (send(fd, &err, sizeof(err), MSG_NOSIGNAL) < 0)
			break;
	}
}

static int nvml_bury(struct nvml *nvml, struct error *err)
{
	gpu_child_end(&nvml->child);
	nvml->is_asked = false;
	return error_set(err, -EIO,
			 "the NVIDIA driver ended the process that watches the "
			 "GPUs; check with nvidia-smi");
}

int nvml_fd(const struct nvml *nvml)
{
	return nvml->is_asked ? nvml->child.fd : -1;
}

int nvml_ask(struct nvml *nvml, struct error *err)
{
	char asked = 1;
	int result = 0;

	nvml->is_seen = false;
	if (nvml->child.fd < 0)
		result = gpu_child_start(&nvml->child, nvml_run, nvml, err);
	if (result < 0)
		return result;
	if (send(nvml->child.fd, &asked, sizeof(asked), MSG_NOSIGNAL) < 0)
		return nvml_bury(nvml, err);
	nvml->is_asked = true;
	nvml->asked_ms = clock_ms();
	return 0;
}

/* What a broken driver may have written there is bounded. */
static void nvml_make_sound(struct gpu_look *look)
{
	struct gpu_memory *memory = &look->memory;

	look->uuid[GPU_UUID_MAX - 1] = '\0';
	look->problem[GPU_PROBLEM_MAX - 1] = '\0';
	if (memory->free_bytes > memory->total_bytes)
		memory->free_bytes = memory->total_bytes;
	if (look->process_count < 0 || look->process_count > GPU_PROCESSES_MAX)
		look->process_count = -1;
}

int nvml_take(struct nvml *nvml, struct error *err)
{
	struct error told = ERROR_INIT;
	int64_t took_ms;
	ssize_t count;

	do
		count = recv(nvml->child.fd, &told, sizeof(told), 0);
	while (count < 0 && errno == EINTR);
	if (count != (ssize_t)sizeof(told))
		return nvml_bury(nvml, err);
	took_ms = clock_ms() - nvml->asked_ms;
	nvml->is_asked = false;
	nvml->next_ms =
		took_ms > SLOW_MS ? nvml->asked_ms + PAUSE_FACTOR * took_ms : 0;
	for (size_t i = 0; i < nvml->count; i++)
		nvml_make_sound(&nvml->looks[i]);
	/* Of NVML that cannot be opened each look says so. */
	nvml->is_seen = true;
	if (!told.code)
		return 0;
	told.message[sizeof(told.message) - 1] = '\0';
	return error_set(err, told.code < 0 ? told.code : -EIO, "%s",
			 told.message);
}

/* True: the answer has come, or the end of the process. */
static bool nvml_wait(const struct nvml *nvml, int64_t deadline_ms)
{
	struct pollfd waited = { .fd = nvml->child.fd, .events = POLLIN };

	for (;;) {
		int64_t left = deadline_ms - clock_ms();
		int ready = poll(&waited, 1, left > 0 ? (int)left : 0);

		if (ready > 0)
			return true;
		if (ready < 0 && errno != EINTR)
			return false;
		if (left <= 0)
			return false;
	}
}

static int nvml_is_late(struct nvml *nvml, struct error *err)
{
	int64_t silent_ms = clock_ms() - nvml->asked_ms;

	if (silent_ms >= SILENCE_MS && !nvml->is_told) {
		nvml->is_told = true;
		log_warning("NVML has not answered for %lld s: who else is on "
			    "the GPU is not seen; check with nvidia-smi",
			    (long long)silent_ms / 1000);
	}
	return error_set(err, -EAGAIN, "NVML has not answered for %lld ms",
			 (long long)silent_ms);
}

int nvml_look(struct nvml *nvml, struct error *err)
{
	int result;

	nvml->is_seen = false;
	/* A late answer is of the past: it shows that the driver is back. */
	if (nvml->is_asked && !nvml_wait(nvml, 0))
		return nvml_is_late(nvml, err);
	if (nvml->is_asked)
		(void)nvml_take(nvml, NULL);
	nvml->is_seen = false;
	if (clock_ms() < nvml->next_ms)
		return error_set(err, -EAGAIN,
				 "NVML is too slow to be asked "
				 "all the time");
	result = nvml_ask(nvml, err);
	if (result < 0)
		return result;
	if (!nvml_wait(nvml, nvml->asked_ms + PATIENCE_MS))
		return nvml_is_late(nvml, err);
	return nvml_take(nvml, err);
}

int nvml_look_anyway(struct nvml *nvml, struct error *err)
{
	nvml->next_ms = 0;
	return nvml_look(nvml, err);
}

const struct gpu_look *nvml_seen(const struct nvml *nvml, const char *uuid)
{
	for (size_t i = 0; nvml && nvml->is_seen && i < nvml->count; i++)
		if (strcmp(nvml->looks[i].uuid, uuid) == 0)
			return &nvml->looks[i];
	return NULL;
}

int nvml_prepare(struct nvml **nvml, const struct gpu_device *devices,
		 size_t count, struct error *err)
{
	struct nvml *made = xcalloc(1, sizeof(*made));
	void *shared;

	*nvml = NULL;
	made->child = (struct gpu_child)GPU_CHILD_INIT;
	made->count = count;
	made->vendor = count ? devices[0].vendor : GPU_NVIDIA;
	shared = count ? mmap(NULL, nvml_bytes(made), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0)
		       : MAP_FAILED;
	if (shared == MAP_FAILED) {
		free(made);
		return error_set(err, count ? -ENOMEM : -ENODEV,
				 "no GPU can be watched");
	}
	made->looks = shared;
	for (size_t i = 0; i < count; i++)
		memcpy(made->looks[i].uuid, devices[i].uuid, GPU_UUID_MAX);
	*nvml = made;
	return 0;
}

int nvml_open(struct nvml **nvml, const struct gpu_device *devices,
	      size_t count, const struct gpu_patience *patience,
	      struct error *err)
{
	struct gpu_wait wait = { .what = "NVML",
				 .deadline_ms = OPEN_MS,
				 .started_ms = clock_ms(),
				 .patience = patience };
	int result = nvml_prepare(nvml, devices, count, err);

	if (!*nvml)
		return result;
	result = nvml_ask(*nvml, err);
	if (result == 0)
		result = gpu_child_await(&(*nvml)->child, &wait, err);
	if (result == 0)
		result = nvml_take(*nvml, err);
	/* It says nothing of how long those take that follow. */
	(*nvml)->next_ms = 0;
	if (result == 0)
		return 0;
	nvml_close(*nvml);
	*nvml = NULL;
	return result;
}

void nvml_close(struct nvml *nvml)
{
	if (!nvml)
		return;
	gpu_child_end(&nvml->child);
	(void)munmap(nvml->looks, nvml_bytes(nvml));
	free(nvml);
}
