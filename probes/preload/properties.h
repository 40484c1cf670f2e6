/* What the wrappers read of the driver's structures, as cuda.h lays them out.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_PROPERTIES_H
#define AUTOFIT_PROBES_PRELOAD_PROPERTIES_H

#include <stddef.h>
#include <stdint.h>

/* Only their beginnings; checked against cuda.h where it is installed. */

enum location_type {
	LOCATION_NONE,
	LOCATION_DEVICE, /* the others are of the host */
};

#define ALLOCATION_MANAGED 2

/* CUmemLocation */
struct location {
	unsigned int type; /* enum location_type */
	int id;
};

/* CUmemPoolProps; CUmemAllocationProp begins in the same way. */
struct pool_properties {
	unsigned int allocation_type, handle_types;
	struct location location;
	void *security;
	size_t max_bytes;
	unsigned char reserved[56];
};

/* CUDA_MEM_ALLOC_NODE_PARAMS */
struct allocation_node {
	struct pool_properties pool;
	const void *accesses;
	size_t access_count;
	size_t bytes;
};

/* CUgraphNodeParams */
struct graph_node {
	unsigned int type;
	int reserved[3];
	struct allocation_node allocation;
};
#define GRAPH_NODE_ALLOCATION 10

/* CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR, and their first versions. */
struct array_descriptor {
	size_t width, height;
	unsigned int format, channels;
};
struct array3d_descriptor {
	size_t width, height, depth;
	unsigned int format, channels, flags;
};
struct array_descriptor_v1 {
	unsigned int width, height;
	unsigned int format, channels;
};
struct array3d_descriptor_v1 {
	unsigned int width, height, depth;
	unsigned int format, channels, flags;
};

/* nvmlMemory_t, nvmlMemory_v2_t */
struct preload_nvml_memory {
	unsigned long long total, free, used;
};
struct preload_nvml_memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

_Static_assert(sizeof(struct pool_properties) == 88, "cuda.h");
_Static_assert(offsetof(struct allocation_node, bytes) == 104, "cuda.h");
_Static_assert(offsetof(struct graph_node, allocation) == 16, "cuda.h");
_Static_assert(sizeof(struct array3d_descriptor) == 40, "cuda.h");

#endif
