/* Structures of the driver API, as cuda.h lays them out. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_SIM_TRAINER_LAYOUT_H
#define AUTOFIT_TESTS_SIM_TRAINER_LAYOUT_H

#include <stddef.h>

#define LOCATION_DEVICE 1
#define TYPE_PINNED 1
#define ACCESS_READ_WRITE 3
#define FORMAT_UNSIGNED_INT8 1
#define ATTACH_GLOBAL 1

struct location {
	unsigned int type;
	int id;
};

static inline struct location device_location(int device)
{
	return (struct location){ LOCATION_DEVICE, device };
}

struct allocation_prop {
	unsigned int type, handle_types;
	struct location location;
	void *windows;
	unsigned char flags[8];
};

struct pool_props {
	unsigned int type, handle_types;
	struct location location;
	void *windows;
	size_t max_size;
	unsigned char reserved[56];
};

struct access_description {
	struct location location;
	unsigned int flags;
};

struct array_description {
	size_t width, height, depth;
	unsigned int format, channels, flags;
};

struct alloc_node {
	struct pool_props pool;
	const struct access_description *access;
	size_t access_count, bytes;
	unsigned long long pointer;
};

/* CUgraphNodeParams of a node that allocates. */
struct any_node {
	unsigned int type;
	int reserved[3];
	struct alloc_node alloc;
	long long rest[15];
};
#define NODE_ALLOC 10

_Static_assert(sizeof(struct any_node) == 256, "as cuda.h");
_Static_assert(sizeof(struct allocation_prop) == 32, "as cuda.h");
_Static_assert(sizeof(struct pool_props) == 88, "as cuda.h");
_Static_assert(sizeof(struct access_description) == 12, "as cuda.h");
_Static_assert(sizeof(struct array_description) == 40, "as cuda.h");
_Static_assert(sizeof(struct alloc_node) == 120, "as cuda.h");

#endif
