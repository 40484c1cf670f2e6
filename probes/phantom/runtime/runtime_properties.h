/* A device's properties, as the CUDA runtime of a program lays them out. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_RUNTIME_RUNTIME_PROPERTIES_H
#define AUTOFIT_PROBES_PHANTOM_RUNTIME_RUNTIME_PROPERTIES_H

#include "probes/phantom/runtime/runtime.h"

/* cudaDeviceProp: CUDA 13 left out what had been there only for old programs.
 */
#if PHANTOM_MAJOR < 13
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
#else
struct runtime_properties {
	char name[256];
	unsigned char uuid[16];
	char luid[8];
	unsigned int luid_node_mask;
	size_t total_bytes, shared_per_block;
	int registers_per_block, warp_size;
	size_t pitch_max;
	int threads_per_block, block_max[3], grid_max[3];
	size_t constant_bytes;
	int major, minor;
	size_t texture_alignment, texture_pitch_alignment;
	int multiprocessors, integrated, can_map_host, textures[39];
	size_t surface_alignment;
	int concurrent_kernels, ecc, bus, device, domain, tcc, async_engines;
	int unified_addressing, memory_bus_width, l2_bytes, l2_persisting_max;
	int threads_per_multiprocessor, stream_priorities, global_l1, local_l1;
	size_t shared_per_multiprocessor;
	int registers_per_multiprocessor, managed, is_multi_board;
	int multi_board_group, host_atomics, pageable_access;
	int concurrent_managed, preemption, registered_pointer;
	int cooperative_launch;
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
	int numa_config, numa_node, mps, host_numa_node;
	unsigned int pci_device, pci_subsystem;
	int host_numa_ipc, reserved[56];
};
_Static_assert(sizeof(struct runtime_properties) == 1008, "cudaDeviceProp");
_Static_assert(offsetof(struct runtime_properties, multiprocessors) == 384 &&
		       offsetof(struct runtime_properties, cluster_launch) ==
			       748,
	       "fields of cudaDeviceProp");
#endif

#endif
