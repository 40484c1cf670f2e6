/* NVML in this process: memory and processes of GPUs, without a context. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/nvml_library.h"

#include "base/alloc.h"
#include "probes/observers/gpu/nvml_api.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_PROCESSES 16
#define LISTED_PROCESSES_MAX 4096
/* Fills what the driver is to write; see stride_of. */
#define UNTOUCHED 0x5a

struct nvml_library {
	void *library;
	struct nvml_api api;
};

#define SLOT(member, symbol)                                                   \
	{                                                                      \
		offsetof(struct nvml_api, member), symbol                      \
	}
#define LIST_SLOTS(list, symbol)                                               \
	SLOT(processes[list][0], symbol "_v3"),                                \
		SLOT(processes[list][1], symbol "_v2"),                        \
		SLOT(processes[list][2], symbol)

static const struct {
	size_t offset;
	const char *symbol;
} slots[] = {
	SLOT(init, "nvmlInit_v2"),
	SLOT(shutdown, "nvmlShutdown"),
	SLOT(error_string, "nvmlErrorString"),
	SLOT(device_by_uuid, "nvmlDeviceGetHandleByUUID"),
	SLOT(memory, "nvmlDeviceGetMemoryInfo"),
	SLOT(memory_v2, "nvmlDeviceGetMemoryInfo_v2"),
	LIST_SLOTS(NVML_LIST_COMPUTE, "nvmlDeviceGetComputeRunningProcesses"),
	LIST_SLOTS(NVML_LIST_MPS, "nvmlDeviceGetMPSComputeRunningProcesses"),
	LIST_SLOTS(NVML_LIST_GRAPHICS, "nvmlDeviceGetGraphicsRunningProcesses"),
};

static_assert(sizeof(slots) / sizeof(*slots) ==
		      sizeof(struct nvml_api) / sizeof(void *),
	      "a slot of struct nvml_api has no symbol");

static bool nvml_api_load(struct nvml_api *api, void *library)
{
	for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
		void *symbol = dlsym(library, slots[i].symbol);

		/* POSIX: a pointer from dlsym may be used as a function. */
		memcpy((char *)api + slots[i].offset, &symbol, sizeof(symbol));
	}
	return api->init && api->shutdown && api->error_string &&
	       api->device_by_uuid && (api->memory || api->memory_v2);
}

static int errno_of(unsigned int result)
{
	switch (result) {
	case NVML_API_INVALID_ARGUMENT:
		return -EINVAL;
	case NVML_API_NOT_SUPPORTED:
		return -ENOTSUP;
	case NVML_API_NO_PERMISSION:
		return -EPERM;
	case NVML_API_NOT_FOUND:
	case NVML_API_DRIVER_NOT_LOADED:
		return -ENODEV;
	case NVML_API_LIBRARY_NOT_FOUND:
		return -ENOENT;
	default:
		return -EIO;
	}
}

static int nvml_failed(const struct nvml_library *nvml, unsigned int result,
		       const char *what, struct error *err)
{
	const char *why = nvml->api.error_string(result);

	return error_set(err, errno_of(result), "NVML cannot %s: %s (%u)", what,
			 why ? why : "unknown error", result);
}

int nvml_library_open(struct nvml_library **nvml, const char *library,
		      struct error *err)
{
	struct nvml_library *new = xcalloc(1, sizeof(*new));
	unsigned int status;
	int result;

	new->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!new->library) {
		const char *why = dlerror();

		result = error_set(err, -ENOENT, "cannot load NVML: %s",
				   why ? why : library);
		goto out;
	}
	if (!nvml_api_load(&new->api, new->library)) {
		result = error_set(err, -EIO,
				   "cannot use NVML: %s lacks functions",
				   library);
		goto out;
	}
	status = new->api.init();
	if (status) {
		result = nvml_failed(new, status, "start", err);
		goto out;
	}
	*nvml = new;
	return 0;
out:
	if (new->library)
		(void)dlclose(new->library); /* nothing to do about it */
	free(new);
	return result;
}

void nvml_library_close(struct nvml_library *nvml)
{
	if (!nvml)
		return;
	/* Both can only fail when nvml is not open. */
	(void)nvml->api.shutdown();
	(void)dlclose(nvml->library);
	free(nvml);
}

static int device_of(struct nvml_library *nvml, const char *uuid, void **device,
		     struct error *err)
{
	unsigned int status = nvml->api.device_by_uuid(uuid, device);

	if (status) {
		(void)nvml_failed(nvml, status, "find the device", err);
		(void)error_prefix(err, "%s", uuid);
		return errno_of(status);
	}
	return 0;
}

int nvml_library_memory(struct nvml_library *nvml, const char *uuid,
			struct gpu_memory *memory, struct error *err)
{
	struct nvml_memory_v2 told = { .version = NVML_API_MEMORY_V2 };
	struct nvml_memory old = { 0 };
	/* Drivers of 2022 export _v2 and answer that they lack it. */
	unsigned int status = NVML_API_FUNCTION_NOT_FOUND;
	void *device = NULL;
	int result;

	result = device_of(nvml, uuid, &device, err);
	if (result < 0)
		return result;
	if (nvml->api.memory_v2)
		status = nvml->api.memory_v2(device, &told);
	if (status && nvml->api.memory) {
		status = nvml->api.memory(device, &old);
		told.total = old.total;
		told.free = old.free;
		told.reserved = 0;
	}
	if (status) {
		result = nvml_failed(nvml, status, "read the memory", err);
		goto out;
	}
	if (!told.total || told.free > told.total ||
	    told.reserved > told.total) {
		/* GPUs that share the host's memory have none of their own. */
		result = error_set(err, -ENOTSUP,
				   "NVML does not know the memory");
		goto out;
	}
	*memory = (struct gpu_memory){ .total_bytes = told.total,
				       .free_bytes = told.free,
				       .reserved_bytes = told.reserved };
out:
	if (result < 0)
		(void)error_prefix(err, "%s", uuid);
	return result;
}

/* The size of count elements that end at extent; 0: no such size is known. */
static size_t size_between(size_t extent, unsigned int count)
{
	for (size_t size = 16; size <= NVML_API_PROCESS_BYTES_MAX; size += 8)
		if (extent > size * (count - 1) && extent <= size * count)
			return size;
	return 0;
}

/*
 * The distance of two elements the driver wrote, by how far it wrote: which
 * one a function uses has changed between drivers without a new name.
 */
static size_t stride_of(const unsigned char *infos, unsigned int room,
			unsigned int count, size_t documented)
{
	size_t extent = (size_t)room * NVML_API_PROCESS_BYTES_MAX;
	size_t stride;

	while (extent && infos[extent - 1] == UNTOUCHED)
		extent--;
	stride = size_between(extent, count);
	if (!stride) /* it cleared the unused elements as well */
		stride = size_between(extent, room);
	return stride ? stride : documented;
}

/* What one list of processes is read into. */
struct nvml_listed {
	unsigned char *infos;
	unsigned int count;
	size_t stride;
};

/* Room for the largest elements known, and for what appears meanwhile. */
static unsigned int call_list(nvml_processes_function function, void *device,
			      struct nvml_listed *listed, size_t documented)
{
	unsigned int room = FIRST_PROCESSES;

	for (;;) {
		size_t bytes = (size_t)room * NVML_API_PROCESS_BYTES_MAX;
		unsigned int count = room;
		unsigned int status;

		listed->infos = xrealloc(listed->infos, 1, bytes);
		memset(listed->infos, UNTOUCHED, bytes);
		status = function(device, &count, listed->infos);
		if (status == NVML_API_INSUFFICIENT_SIZE &&
		    room < LISTED_PROCESSES_MAX) {
			room *= 2;
			continue;
		}
		listed->count = status || count > room ? 0 : count;
		if (listed->count)
			listed->stride = stride_of(listed->infos, room, count,
						   documented);
		return status;
	}
}

/* The newest version of the function that this driver really has. */
static unsigned int read_list(const struct nvml_library *nvml,
			      enum nvml_process_list list, void *device,
			      struct nvml_listed *listed)
{
	static const size_t documented[NVML_LIST_VERSIONS] = { 24, 24, 16 };
	unsigned int status = NVML_API_FUNCTION_NOT_FOUND;

	listed->count = 0;
	for (size_t i = 0; i < NVML_LIST_VERSIONS; i++) {
		if (!nvml->api.processes[list][i])
			continue;
		status = call_list(nvml->api.processes[list][i], device, listed,
				   documented[i]);
		if (status != NVML_API_FUNCTION_NOT_FOUND &&
		    status != NVML_API_ARGUMENT_VERSION_MISMATCH)
			break;
	}
	return status;
}

static int nvml_add_process(struct gpu_process processes[GPU_PROCESSES_MAX],
			    int count, const struct gpu_process *process)
{
	int i = 0;

	while (i < count && processes[i].pid != process->pid)
		i++;
	if (i == GPU_PROCESSES_MAX)
		return count;
	if (i == count) {
		processes[i] = *process;
		return count + 1;
	}
	/*
	 * On two lists: each gives the process's whole memory, and it computes,
	 * for the graphics list comes last.
	 */
	if (process->used_bytes > processes[i].used_bytes)
		processes[i].used_bytes = process->used_bytes;
	return count;
}

static int add_listed(struct gpu_process processes[GPU_PROCESSES_MAX],
		      int count, const struct nvml_listed *listed,
		      enum nvml_process_list list)
{
	for (unsigned int i = 0; i < listed->count; i++) {
		struct gpu_process process = {
			.is_compute = list != NVML_LIST_GRAPHICS,
		};
		struct nvml_process info;

		memcpy(&info, listed->infos + i * listed->stride, sizeof(info));
		if (info.pid == 0 || info.pid > INT32_MAX)
			continue;
		process.pid = (pid_t)info.pid;
		if (info.used != NVML_API_VALUE_NOT_AVAILABLE)
			process.used_bytes = info.used;
		count = nvml_add_process(processes, count, &process);
	}
	return count;
}

int nvml_library_processes(struct nvml_library *nvml, const char *uuid,
			   struct gpu_process processes[GPU_PROCESSES_MAX],
			   struct error *err)
{
	struct nvml_listed listed = { 0 };
	void *device = NULL;
	int count = 0;
	int result;

	result = device_of(nvml, uuid, &device, err);
	if (result < 0)
		return result;
	for (int list = 0; list < NVML_LISTS; list++) {
		unsigned int status = read_list(
			nvml, (enum nvml_process_list)list, device, &listed);

		/* Without the others, base load is less well explained. */
		if (status && list == NVML_LIST_COMPUTE) {
			(void)nvml_failed(nvml, status, "list processes", err);
			(void)error_prefix(err, "%s", uuid);
			count = errno_of(status);
			break;
		}
		count = add_listed(processes, count, &listed,
				   (enum nvml_process_list)list);
	}
	free(listed.infos);
	return count;
}
