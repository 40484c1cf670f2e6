/* Devices of a phantom card's CUDA runtime: number, properties, attributes. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/runtime/runtime.h"

/* NOLINTBEGIN(readability-identifier-naming): the runtime's names */

/* As cudaDeviceProp is laid out since CUDA 12. */
struct runtime_properties {
	char name[256];
	unsigned char uuid[16];
	char luid[8];
	unsigned int luid_node_mask;
	size_t total_bytes, shared_per_block;
	int registers_per_block, warp_size;
	size_t pitch_max;
	int threads_per_block, block_max[3], grid_max[3], clock_rate;
	size_t constant_bytes;
	int major, minor;
	size_t texture_alignment, texture_pitch_alignment;
	int device_overlap, multiprocessors, kernel_timeout, integrated;
	int can_map_host, compute_mode, textures[40];
	size_t surface_alignment;
	int concurrent_kernels, ecc, bus, device, domain, tcc, async_engines;
	int unified_addressing, memory_clock_rate, memory_bus_width, l2_bytes;
	int l2_persisting_max, threads_per_multiprocessor;
	int stream_priorities, global_l1, local_l1;
	size_t shared_per_multiprocessor;
	int registers_per_multiprocessor, managed, is_multi_board;
	int multi_board_group, host_atomics, double_ratio, pageable_access;
	int concurrent_managed, preemption, registered_pointer;
	int cooperative_launch, cooperative_multi_device;
	size_t shared_per_block_optin;
	int page_tables, direct_managed, blocks_per_multiprocessor;
	int access_window_max;
	size_t shared_reserved_per_block;
	int host_register, sparse_arrays, host_register_read_only;
	int timeline_semaphores, memory_pools, direct_rdma;
	unsigned int direct_rdma_flush;
	int direct_rdma_ordering;
	unsigned int pool_handle_types;
	int deferred_arrays, ipc_events, cluster_launch, unified_functions;
	int reserved[63];
};
_Static_assert(sizeof(struct runtime_properties) == 1032, "cudaDeviceProp");

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
	INT_ROW(clock_rate, 13),
	SIZE_ROW(texture_alignment, 14),
	INT_ROW(device_overlap, 15),
	INT_ROW(multiprocessors, 16),
	INT_ROW(can_map_host, 19),
	INT_ROW(concurrent_kernels, 31),
	INT_ROW(ecc, 32),
	INT_ROW(bus, 33),
	INT_ROW(memory_clock_rate, 36),
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

EXPORT int cudaGetDeviceProperties_v2(struct runtime_properties *properties,
				      int device)
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
