/* How large the memory of an Intel card is, asked of its driver. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/intel.h"

#include "base/alloc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/*
 * Source: include/uapi/drm/xe_drm.h and i915_drm.h of Linux 6.8. Written out,
 * because older headers have no xe. Both list the regions of memory in rows of
 * 88 bytes: class (16 bits, 1: the card's own) at 0, size (64 bits) at 8.
 */
#define REGION_BYTES 88
#define REGION_CLASS_OWN 1
#define REGION_SIZE_AT 8
#define XE_HEADER_BYTES 8
#define I915_HEADER_BYTES 16
#define XE_QUERY_MEM_REGIONS 1
#define I915_QUERY_MEMORY_REGIONS 4
#define ANSWER_BYTES_MAX 65536

struct xe_device_query {
	uint64_t extensions;
	uint32_t query, size;
	uint64_t data, reserved[2];
};

struct i915_query_item {
	uint64_t query_id;
	int32_t length;
	uint32_t flags;
	uint64_t data;
};

struct i915_query {
	uint32_t num_items, flags;
	uint64_t items;
};

#define XE_IOCTL _IOWR('d', 0x40, struct xe_device_query)
#define I915_IOCTL _IOWR('d', 0x40 + 0x39, struct i915_query)

struct intel_vram intel_answer_read(const void *answer, size_t size, bool is_xe)
{
	size_t at = is_xe ? XE_HEADER_BYTES : I915_HEADER_BYTES;
	const char *bytes = answer;
	struct intel_vram vram = { 0 };
	uint32_t count;

	if (size < at)
		return vram;
	memcpy(&count, bytes, sizeof(count));
	for (; count-- && at + REGION_BYTES <= size; at += REGION_BYTES) {
		uint16_t class;
		uint64_t region;

		memcpy(&class, bytes + at, sizeof(class));
		memcpy(&region, bytes + at + REGION_SIZE_AT, sizeof(region));
		if (class != REGION_CLASS_OWN)
			continue;
		vram.bytes += region;
		vram.parts++;
	}
	return vram;
}

/* Without a buffer it tells the size; negative: it refuses. */
static int64_t ask_xe(int fd, void *answer, size_t size)
{
	struct xe_device_query query = {
		.query = XE_QUERY_MEM_REGIONS,
		.size = (uint32_t)size,
		.data = (uintptr_t)answer,
	};

	return ioctl(fd, XE_IOCTL, &query) < 0 ? -1 : (int64_t)query.size;
}

static int64_t ask_i915(int fd, void *answer, size_t size)
{
	struct i915_query_item item = {
		.query_id = I915_QUERY_MEMORY_REGIONS,
		.length = (int32_t)size,
		.data = (uintptr_t)answer,
	};
	struct i915_query query = { .num_items = 1, .items = (uintptr_t)&item };

	return ioctl(fd, I915_IOCTL, &query) < 0 ? -1 : item.length;
}

struct intel_vram intel_query(const char *node, bool is_xe)
{
	int64_t (*ask)(int, void *, size_t) = is_xe ? ask_xe : ask_i915;
	int fd = open(node, O_RDWR | O_CLOEXEC | O_NOCTTY);
	struct intel_vram vram = { 0 };
	int64_t size;
	void *answer;

	if (fd < 0)
		return vram;
	size = ask(fd, NULL, 0);
	if (size > 0 && size <= ANSWER_BYTES_MAX) {
		answer = xcalloc(1, (size_t)size);
		if (ask(fd, answer, (size_t)size) == size)
			vram = intel_answer_read(answer, (size_t)size, is_xe);
		free(answer);
	}
	(void)close(fd);
	return vram;
}
