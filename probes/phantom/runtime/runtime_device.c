/* Devices of a phantom card's CUDA runtime: number, properties, attributes. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/runtime/runtime_properties.h"

/* NOLINTBEGIN(readability-identifier-naming): the runtime's names */

/* The driver numbers its attributes as the runtime does. */
#define INT_ROW(field, attribute)                                              \
	{                                                                      \
		offsetof(struct runtime_properties, field), attribute, false   \
	}
#define SIZE_ROW(field, attribute)                                             \
	{                                                                      \
		offsetof(struct runtime_properties, field), attribute, true    \
	}
static const struct {
	size_t offset;
	int attribute;
	bool is_size;
} rows[] = {
	INT_ROW(threads_per_block, 1),
	INT_ROW(block_max[0], 2),
	INT_ROW(block_max[1], 3),
	INT_ROW(block_max[2], 4),
	INT_ROW(grid_max[0], 5),
	INT_ROW(grid_max[1], 6),
	INT_ROW(grid_max[2], 7),
	SIZE_ROW(shared_per_block, 8),
	SIZE_ROW(constant_bytes, 9),
	INT_ROW(warp_size, 10),
	SIZE_ROW(pitch_max, 11),
	INT_ROW(registers_per_block, 12),
	SIZE_ROW(texture_alignment, 14),
	INT_ROW(multiprocessors, 16),
	INT_ROW(can_map_host, 19),
	INT_ROW(concurrent_kernels, 31),
	INT_ROW(ecc, 32),
	INT_ROW(bus, 33),
	INT_ROW(memory_bus_width, 37),
	INT_ROW(l2_bytes, 38),
	INT_ROW(threads_per_multiprocessor, 39),
	INT_ROW(async_engines, 40),
	INT_ROW(unified_addressing, 41),
	SIZE_ROW(texture_pitch_alignment, 51),
	INT_ROW(major, 75),
	INT_ROW(minor, 76),
	INT_ROW(stream_priorities, 78),
	SIZE_ROW(shared_per_multiprocessor, 81),
	INT_ROW(registers_per_multiprocessor, 82),
	INT_ROW(managed, 83),
	INT_ROW(concurrent_managed, 89),
	INT_ROW(cooperative_launch, 95),
	SIZE_ROW(shared_per_block_optin, 97),
	INT_ROW(host_register, 99),
	INT_ROW(blocks_per_multiprocessor, 106),
	SIZE_ROW(shared_reserved_per_block, 111),
	INT_ROW(memory_pools, 115),
	INT_ROW(cluster_launch, 120),
#if PHANTOM_MAJOR < 13
	INT_ROW(clock_rate, 13),
	INT_ROW(device_overlap, 15),
	INT_ROW(memory_clock_rate, 36),
#endif
};

DRIVER_CALL(device_name, "cuDeviceGetName",
	    (char *text, int length, int device), (text, length, device))
DRIVER_CALL(device_uuid, "cuDeviceGetUuid_v2",
	    (unsigned char *uuid, int device), (uuid, device))
DRIVER_CALL(device_total, "cuDeviceTotalMem_v2", (size_t * bytes, int device),
	    (bytes, device))
DRIVER_CALL(device_attribute, "cuDeviceGetAttribute",
	    (int *value, int attribute, int device), (value, attribute, device))
DRIVER_CALL(device_bus_text, "cuDeviceGetPCIBusId",
	    (char *text, int length, int device), (text, length, device))

/* Of the device of that number: 0 or the error. */
static int check_device(int device)
{
	int result = runtime_start();

	if (!result && (device < 0 || device >= runtime_count()))
		result = RUNTIME_INVALID_DEVICE;
	return result;
}

EXPORT int cudaGetDeviceCount(int *count)
{
	int result = runtime_start();

	*count = runtime_count();
	return runtime_answer(result);
}

EXPORT int cudaGetDevice(int *device)
{
	int result = runtime_start();

	*device = runtime_device();
	return runtime_answer(result);
}

EXPORT int cudaSetDevice(int device)
{
	int result = runtime_choose(device);

	return runtime_answer(result ? result : runtime_enter());
}

EXPORT int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
	int result = check_device(device);

	return runtime_answer(
		result ? result : device_attribute(value, attribute, device));
}

#if PHANTOM_MAJOR < 13
#	define GET_PROPERTIES cudaGetDeviceProperties_v2
#else
#	define GET_PROPERTIES cudaGetDeviceProperties
#endif

EXPORT int GET_PROPERTIES(struct runtime_properties *properties, int device)
{
	int result = check_device(device);

	if (result)
		return runtime_answer(result);
	memset(properties, 0, sizeof(*properties));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *field = (char *)properties + rows[i].offset;
		int value = 0;
		size_t wide;

		(void)device_attribute(&value, rows[i].attribute, device);
		wide = (size_t)value;
		memcpy(field, rows[i].is_size ? (void *)&wide : (void *)&value,
		       rows[i].is_size ? sizeof(wide) : sizeof(value));
	}
	properties->unified_functions = 1;
	result = device_name(properties->name, (int)sizeof(properties->name),
			     device);
	if (!result)
		result = device_uuid(properties->uuid, device);
	if (!result)
		result = device_total(&properties->total_bytes, device);
	return runtime_answer(result);
}

EXPORT int cudaDeviceGetPCIBusId(char *text, int length, int device)
{
	int result = check_device(device);

	return runtime_answer(result ? result
				     : device_bus_text(text, length, device));
}

EXPORT int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return RUNTIME_OK;
}

/* All cards of one phantom reach each other. */
EXPORT int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	*can = device != peer;
	return RUNTIME_OK;
}

EXPORT int cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
	(void)flags;
	return runtime_answer(check_device(peer));
}

FORWARD(cudaDeviceSynchronize, "cuCtxSynchronize", (void), ())
FORWARD(cudaDriverGetVersion, "cuDriverGetVersion", (int *version), (version))
FORWARD(cudaDeviceGetDefaultMemPool, "cuDeviceGetDefaultMemPool",
	(void **pool, int device), (pool, device))

/* NOLINTEND(readability-identifier-naming) */
