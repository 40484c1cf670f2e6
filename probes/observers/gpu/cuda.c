/* Which CUDA devices a program sees, asked in a child that may die of it. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/cuda_api.h"

#include "base/clock.h"
#include "base/log.h"
#include "probes/observers/gpu/gpu_child.h"
#include "probes/observers/gpu/nvml_api.h"
#include "probes/observers/gpu/nvml_library.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

/*
 * Without persistence a driver takes up to 3 s for each of its GPUs, one after
 * the other, when nobody used them before.
 */
#define DEADLINE_MS 90000
#define NVML_DEADLINE_MS 10000
/* Who closed its socket ends at once, unless it dumps what crashed. */
#define END_MS 1000

/* So a record of the socket never waits for its reader, nor comes in part. */
static_assert(sizeof(struct cuda_listing) < 65536, "more than fits");

static void cuda_add_memory(struct cuda_listing *listing)
{
	struct nvml_library *nvml = NULL;

	if (nvml_library_open(&nvml, NVML_LIBRARY, NULL) < 0)
		return;
	assert(listing->count >= 1 && listing->count <= GPU_MAX);
	for (int i = 0; i < listing->count; i++) {
		struct gpu_device *device = &listing->devices[i];
		struct gpu_memory memory;

		if (nvml_library_memory(nvml, device->uuid, &memory, NULL) < 0)
			continue;
		device->free_bytes = memory.free_bytes;
		device->board_bytes = memory.total_bytes;
		device->reserved_bytes = memory.reserved_bytes;
		device->free_source = GPU_FREE_NVML;
	}
	nvml_library_close(nvml);
}

/* Two records, so that NVML failing costs the second one only. */
static void cuda_run_list(const void *context, int fd)
{
	const struct cuda_lookup *lookup = context;
	struct cuda_listing listing = { 0 };

	cuda_listing_fill(lookup->library, &listing);
	if (send(fd, &listing, sizeof(listing), MSG_NOSIGNAL) < 0 ||
	    !listing.count)
		return;
	cuda_add_memory(&listing);
	(void)send(fd, &listing, sizeof(listing), MSG_NOSIGNAL);
}

/* Where NVML does not tell what is free, a context on the device does. */
struct free_question {
	const char *library;
	const struct cuda_listing *listing;
};

static void cuda_run_free(const void *context, int fd)
{
	const struct free_question *question = context;
	struct cuda_listing listing = *question->listing;

	cuda_listing_ask_free(question->library, &listing);
	(void)send(fd, &listing, sizeof(listing), MSG_NOSIGNAL);
}

/* The next record; -EIO: the child ended without it. */
static int cuda_await(const struct gpu_child *child,
		      const struct gpu_wait *wait, struct cuda_listing *listing,
		      struct error *err)
{
	int result = gpu_child_await(child, wait, err);

	if (result < 0)
		return result;
	return recv(child->fd, listing, sizeof(*listing), 0) ==
			       (ssize_t)sizeof(*listing)
		       ? 0
		       : -EIO;
}

static const char *remedy_of(unsigned int result)
{
	static const struct {
		unsigned int first, last;
		const char *remedy;
	} rows[] = {
		{ CUDA_API_STUB_LIBRARY, CUDA_API_STUB_LIBRARY,
		  "the CUDA toolkit's stub of libcuda.so.1 was loaded; take "
		  "its folder out of LD_LIBRARY_PATH" },
		{ CUDA_API_DEVICE_UNAVAILABLE, CUDA_API_DEVICE_UNAVAILABLE,
		  "another process holds the device exclusively" },
		{ CUDA_API_OPERATING_SYSTEM, CUDA_API_OPERATING_SYSTEM,
		  "check that you may open /dev/nvidia*" },
		{ CUDA_API_SYSTEM_NOT_READY, CUDA_API_SYSTEM_NOT_READY,
		  "start the nvidia-fabricmanager service" },
		{ CUDA_API_SYSTEM_DRIVER_MISMATCH,
		  CUDA_API_SYSTEM_DRIVER_MISMATCH,
		  "the driver was updated while loaded; reboot or reload the "
		  "nvidia kernel modules" },
		{ CUDA_API_COMPAT_NOT_SUPPORTED_ON_DEVICE,
		  CUDA_API_COMPAT_NOT_SUPPORTED_ON_DEVICE,
		  "take the cuda-compat libraries out of LD_LIBRARY_PATH" },
		{ CUDA_API_MPS_CONNECTION_FAILED,
		  CUDA_API_MPS_CLIENT_TERMINATED,
		  "check the MPS daemon (CUDA_MPS_PIPE_DIRECTORY)" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (result >= rows[i].first && result <= rows[i].last)
			return rows[i].remedy;
	return "check with nvidia-smi, or use --device host";
}

static void make_printable(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text; text++)
		if (!isprint((unsigned char)*text))
			*text = '?';
}

/* A broken driver shared its memory: what it says is bounded. */
static bool cuda_make_sound(struct cuda_listing *listing)
{
	make_printable(listing->text, sizeof(listing->text));
	if (listing->count < 0 || listing->count > GPU_MAX)
		return false;
	for (int i = 0; i < listing->count; i++) {
		struct gpu_device *device = &listing->devices[i];

		make_printable(device->uuid, sizeof(device->uuid));
		make_printable(device->name, sizeof(device->name));
		device->index = i;
		/* NVML counts the board, of which a program sees less. */
		if (device->free_bytes > device->total_bytes)
			device->free_bytes = device->total_bytes;
	}
	return true;
}

/* How many devices it lists. */
static int cuda_judge(const struct cuda_listing *listing, struct error *err)
{
	switch (listing->stage) {
	case CUDA_STAGE_LISTED:
		return listing->count;
	case CUDA_STAGE_NO_LIBRARY:
		return 0;
	case CUDA_STAGE_LIBRARY_BROKEN:
		return error_set(err, -EIO,
				 "cannot load the NVIDIA driver library: %s",
				 listing->text);
	case CUDA_STAGE_NOT_STARTED:
		if (listing->result == CUDA_API_NO_DEVICE)
			return 0;
		return error_set(err, -EIO,
				 "the NVIDIA driver does not start: CUDA error "
				 "%u (%s); %s",
				 listing->result, listing->text,
				 remedy_of(listing->result));
	default:
		return error_set(err, -EIO,
				 "the NVIDIA driver cannot describe its "
				 "devices: CUDA error %u (%s); %s",
				 listing->result, listing->text,
				 remedy_of(listing->result));
	}
}

/* The child ended without an answer. */
static int blame(struct gpu_child *child, struct error *err)
{
	int status = 0;
	bool is_reaped = gpu_child_reap(child, clock_ms() + END_MS, &status);
	int number = is_reaped && WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (number == SIGINT || number == SIGTERM || number == SIGHUP ||
	    number == SIGQUIT)
		return error_set(err, -EINTR,
				 "listing devices was interrupted (signal %d)",
				 number);
	if (number)
		return error_set(err, -EIO,
				 "the NVIDIA driver crashed while listing "
				 "devices (signal %d); check with nvidia-smi, "
				 "or use --device host",
				 number);
	return error_set(err, -EIO,
			 "the NVIDIA driver ended the process that lists "
			 "devices; check with nvidia-smi, or use --device "
			 "host");
}

/* The first record. How many devices there are. */
static int cuda_ask_driver(struct gpu_child *child,
			   const struct gpu_wait *given,
			   struct cuda_listing *listing, struct error *err)
{
	struct gpu_wait wait = *given;
	int result;

	assert(child->fd >= 0);
	wait.what = "the NVIDIA driver to list its devices";
	result = cuda_await(child, &wait, listing, err);
	if (result == -EIO)
		return blame(child, err);
	if (result == -ETIMEDOUT)
		return error_set(err, result,
				 "the NVIDIA driver did not answer within "
				 "%g s while listing devices; check with "
				 "nvidia-smi, or use --device host",
				 (double)wait.deadline_ms / 1e3);
	if (result < 0)
		return result;
	if (!cuda_make_sound(listing))
		return error_set(err, -EIO,
				 "the NVIDIA driver broke the process that "
				 "lists devices: %d devices",
				 listing->count);
	return cuda_judge(listing, err);
}

/* A later record of the same devices; without it the listing stays. */
static int cuda_ask_more(const struct gpu_child *child,
			 const struct gpu_wait *wait,
			 struct cuda_listing *listing, struct error *err)
{
	struct error why = ERROR_INIT;
	struct cuda_listing more;
	int result = cuda_await(child, wait, &more, &why);

	assert(listing->count >= 1);
	if (result == 0 && more.count == listing->count &&
	    cuda_make_sound(&more)) {
		*listing = more;
		return 0;
	}
	if (result == -EINTR || result == -ETIME)
		return error_set(err, result, "%s", why.message);
	log_warning("%s does not answer: check with nvidia-smi", wait->what);
	return 0;
}

static bool is_complete(const struct cuda_listing *listing)
{
	for (int i = 0; i < listing->count; i++)
		if (!listing->devices[i].is_integrated &&
		    listing->devices[i].free_source == GPU_FREE_UNKNOWN)
			return false;
	return true;
}

/* Asked once more, in another child: the first one may hang in NVML. */
static int cuda_ask_free(const struct cuda_lookup *lookup,
			 const struct gpu_wait *given,
			 struct cuda_listing *listing, struct error *err)
{
	struct free_question question = { lookup->library, listing };
	struct gpu_child child = GPU_CHILD_INIT;
	struct gpu_wait wait = *given;
	int result;

	wait.what = "the NVIDIA driver's word of what is free";
	result = gpu_child_start(&child, cuda_run_free, &question, err);
	if (result < 0)
		return result;
	result = cuda_ask_more(&child, &wait, listing, err);
	gpu_child_end(&child);
	return result;
}

int cuda_devices_look_up(const struct cuda_lookup *lookup,
			 struct gpu_device devices[GPU_MAX], struct error *err)
{
	struct gpu_wait wait = { .deadline_ms = lookup->deadline_ms,
				 .started_ms = clock_ms(),
				 .patience = &lookup->patience };
	struct gpu_wait nvml = { .what = "NVML",
				 .deadline_ms = lookup->nvml_deadline_ms,
				 .started_ms = wait.started_ms,
				 .patience = &lookup->patience };
	struct gpu_child child = GPU_CHILD_INIT;
	struct cuda_listing listing = { 0 };
	int count;
	int result;

	result = gpu_child_start(&child, cuda_run_list, lookup, err);
	if (result < 0)
		return result;
	count = cuda_ask_driver(&child, &wait, &listing, err);
	if (count > 0)
		result = cuda_ask_more(&child, &nvml, &listing, err);
	gpu_child_end(&child);
	if (count > 0 && result == 0 && !is_complete(&listing))
		result = cuda_ask_free(lookup, &wait, &listing, err);
	if (result < 0)
		return result;
	assert(count <= GPU_MAX);
	for (int i = 0; i < count; i++)
		devices[i] = listing.devices[i];
	return count;
}

int cuda_devices_list(struct gpu_device devices[GPU_MAX],
		      const struct gpu_patience *patience, struct error *err)
{
	struct cuda_lookup lookup = { .library = CUDA_LIBRARY,
				      .deadline_ms = DEADLINE_MS,
				      .nvml_deadline_ms = NVML_DEADLINE_MS };

	if (patience)
		lookup.patience = *patience;
	return cuda_devices_look_up(&lookup, devices, err);
}
