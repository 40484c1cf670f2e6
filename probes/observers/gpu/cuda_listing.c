/* The devices that a CUDA driver library lists, asked in this process. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/cuda_api.h"

#include <assert.h>
#include <dlfcn.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SLOT(member, symbol)                                                   \
	{                                                                      \
		offsetof(struct cuda_api, member), symbol                      \
	}

static const struct {
	size_t offset;
	const char *symbol;
} slots[] = {
	SLOT(init, "cuInit"),
	SLOT(get_error_name, "cuGetErrorName"),
	SLOT(device_get_count, "cuDeviceGetCount"),
	SLOT(device_get, "cuDeviceGet"),
	SLOT(device_get_name, "cuDeviceGetName"),
	SLOT(device_get_uuid, "cuDeviceGetUuid"),
	SLOT(device_get_uuid_v2, "cuDeviceGetUuid_v2"),
	SLOT(device_total_mem, "cuDeviceTotalMem_v2"),
	SLOT(device_get_attribute, "cuDeviceGetAttribute"),
	SLOT(context_retain, "cuDevicePrimaryCtxRetain"),
	SLOT(context_release, "cuDevicePrimaryCtxRelease_v2"),
	SLOT(context_set, "cuCtxSetCurrent"),
	SLOT(memory_info, "cuMemGetInfo_v2"),
};

static_assert(sizeof(slots) / sizeof(*slots) ==
		      sizeof(struct cuda_api) / sizeof(void *),
	      "a slot of struct cuda_api has no symbol");

static bool cuda_listing_api_load(struct cuda_api *api, void *library)
{
	for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
		void *symbol = dlsym(library, slots[i].symbol);

		/* POSIX: a pointer from dlsym may be used as a function. */
		memcpy((char *)api + slots[i].offset, &symbol, sizeof(symbol));
	}
	return api->init && api->device_get_count && api->device_get &&
	       api->device_get_name && api->device_total_mem &&
	       (api->device_get_uuid || api->device_get_uuid_v2);
}

static void name_result(const struct cuda_api *api,
			struct cuda_listing *listing)
{
	const char *name = NULL;

	if (api->get_error_name)
		(void)api->get_error_name(listing->result, &name);
	(void)snprintf(listing->text, sizeof(listing->text), "%s",
		       name ? name : "no name for it");
}

static void format_uuid(char text[GPU_UUID_MAX], const char *prefix,
			const struct cuda_uuid *uuid)
{
	size_t used = (size_t)snprintf(text, GPU_UUID_MAX, "%s", prefix);

	for (size_t i = 0; i < sizeof(uuid->bytes); i++) {
		bool dash = i == 4 || i == 6 || i == 8 || i == 10;

		used += (size_t)snprintf(text + used, GPU_UUID_MAX - used,
					 "%s%02x", dash ? "-" : "",
					 uuid->bytes[i]);
	}
}

/*
 * Of a MIG instance, _v2 gives its own UUID and the older function that of
 * the whole GPU. The bytes do not say which, but NVML wants the prefix.
 */
static unsigned int describe_uuid(const struct cuda_api *api, int handle,
				  struct gpu_device *device)
{
	struct cuda_uuid whole = { 0 }, own = { 0 };
	unsigned int result;
	bool is_mig = false;

	if (!api->device_get_uuid_v2) {
		result = api->device_get_uuid(&own, handle);
	} else {
		result = api->device_get_uuid_v2(&own, handle);
		is_mig = api->device_get_uuid &&
			 !api->device_get_uuid(&whole, handle) &&
			 memcmp(&whole, &own, sizeof(own)) != 0;
	}
	format_uuid(device->uuid, is_mig ? "MIG-" : "GPU-", &own);
	device->is_mig = is_mig;
	return result;
}

static unsigned int cuda_listing_describe(const struct cuda_api *api,
					  struct gpu_device *device)
{
	size_t total = 0;
	int integrated = 0;
	int handle = 0;
	unsigned int result;

	result = api->device_get(&handle, device->index);
	if (!result)
		result = api->device_get_name(
			device->name, (int)sizeof(device->name), handle);
	if (!result)
		result = describe_uuid(api, handle, device);
	if (!result)
		result = api->device_total_mem(&total, handle);
	device->total_bytes = total;
	if (!result && api->device_get_attribute &&
	    !api->device_get_attribute(&integrated, CUDA_API_INTEGRATED,
				       handle))
		device->is_integrated = integrated != 0;
	return result;
}

static void list_devices(const struct cuda_api *api,
			 struct cuda_listing *listing)
{
	int count = 0;

	listing->stage = CUDA_STAGE_NOT_STARTED;
	listing->result = api->init(0);
	if (listing->result)
		return;
	listing->stage = CUDA_STAGE_NOT_DESCRIBED;
	listing->result = api->device_get_count(&count);
	if (count > GPU_MAX)
		count = GPU_MAX;
	for (int i = 0; i < count && !listing->result; i++) {
		listing->devices[i].index = i;
		listing->result =
			cuda_listing_describe(api, &listing->devices[i]);
	}
	if (listing->result)
		return;
	listing->count = count;
	listing->stage = CUDA_STAGE_LISTED;
}

/* NULL: the listing says why. */
static void *cuda_listing_open(const char *library, struct cuda_api *api,
			       struct cuda_listing *listing)
{
	char missing[128];
	const char *why;
	void *handle;

	/* The loader's words are compared: they must not be translated. */
	(void)setlocale(LC_ALL, "C");
	handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		why = dlerror();
		(void)snprintf(listing->text, sizeof(listing->text), "%s",
			       why ? why : "no reason given");
		(void)snprintf(missing, sizeof(missing),
			       "%s: cannot open shared object file: No such",
			       library);
		listing->stage =
			strncmp(listing->text, missing, strlen(missing)) == 0
				? CUDA_STAGE_NO_LIBRARY
				: CUDA_STAGE_LIBRARY_BROKEN;
		return NULL;
	}
	if (cuda_listing_api_load(api, handle))
		return handle;
	listing->stage = CUDA_STAGE_LIBRARY_BROKEN;
	(void)snprintf(listing->text, sizeof(listing->text),
		       "%s: lacks functions of the driver API", library);
	return NULL;
}

void cuda_listing_fill(const char *library, struct cuda_listing *listing)
{
	struct cuda_api api = { 0 };

	if (!cuda_listing_open(library, &api, listing))
		return;
	list_devices(&api, listing);
	if (listing->result)
		name_result(&api, listing);
}

static void ask_one(const struct cuda_api *api, struct gpu_device *device)
{
	size_t free_bytes = 0;
	size_t total = 0;
	void *context = NULL;
	int handle = 0;

	if (api->device_get(&handle, device->index) ||
	    api->context_retain(&context, handle))
		return;
	if (!api->context_set(context) &&
	    !api->memory_info(&free_bytes, &total)) {
		device->free_bytes = free_bytes;
		device->free_source = GPU_FREE_DRIVER;
	}
	(void)api->context_release(handle);
}

void cuda_listing_ask_free(const char *library, struct cuda_listing *listing)
{
	struct cuda_listing ignored = { 0 };
	struct cuda_api api = { 0 };

	if (!cuda_listing_open(library, &api, &ignored) ||
	    !api.context_retain || !api.context_release || !api.context_set ||
	    !api.memory_info || api.init(0))
		return;
	for (int i = 0; i < listing->count; i++)
		if (listing->devices[i].free_source == GPU_FREE_UNKNOWN &&
		    !listing->devices[i].is_integrated)
			ask_one(&api, &listing->devices[i]);
}
