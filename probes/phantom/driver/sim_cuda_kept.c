/* Bytes that are known; see sim_kept.h. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_kept.h"

#include "probes/phantom/device/sim_cuda.h"
#include "probes/phantom/device/sim_owners.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The oldest makes room: a rank that asks many things asks them in turn. */
#define KEPT_MAX 256

struct kept_range {
	uint64_t address;
	size_t bytes; /* 0: free */
	enum sim_kept kind;
	unsigned char *data;
};

static struct {
	pthread_mutex_t lock;
	struct kept_range ranges[KEPT_MAX];
	size_t next;
	bool has_any;
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void drop_range(struct kept_range *range)
{
	free(range->data);
	*range = (struct kept_range){ .bytes = 0 };
}

static void drop_overlaps(uint64_t address, size_t bytes)
{
	for (size_t i = 0; kept.has_any && i < KEPT_MAX; i++) {
		struct kept_range *range = &kept.ranges[i];

		if (range->bytes && range->address < address + bytes &&
		    address < range->address + range->bytes)
			drop_range(range);
	}
}

static const struct kept_range *find_range(uint64_t address)
{
	for (size_t i = 0; kept.has_any && i < KEPT_MAX; i++) {
		const struct kept_range *range = &kept.ranges[i];

		if (range->bytes && range->address <= address &&
		    address - range->address < range->bytes)
			return range;
	}
	return NULL;
}

/* All of them, which may have come in several parts, as answers of ranks do. */
static enum sim_kept read_ranges(uint64_t address, unsigned char *data,
				 size_t bytes)
{
	enum sim_kept kind = SIM_KEPT_ANSWER;
	size_t part;

	for (size_t at = 0; at < bytes; at += part) {
		const struct kept_range *range = find_range(address + at);
		size_t from;

		if (!range)
			return SIM_KEPT_NOT;
		from = address + at - range->address;
		part = range->bytes - from < bytes - at ? range->bytes - from
							: bytes - at;
		if (data)
			memcpy(data + at, range->data + from, part);
		if (range->kind < kind)
			kind = range->kind;
	}
	return bytes ? kind : SIM_KEPT_NOT;
}

/* data becomes the table's own. */
static void add_kept_range(uint64_t address, unsigned char *data, size_t bytes,
			   enum sim_kept kind)
{
	struct kept_range *range = &kept.ranges[kept.next++ % KEPT_MAX];

	drop_range(range);
	*range = (struct kept_range){
		.address = address, .bytes = bytes, .kind = kind, .data = data
	};
	kept.has_any = true;
}

static unsigned char *duplicate_bytes(const void *data, size_t bytes)
{
	unsigned char *copy = malloc(bytes);

	if (copy)
		memcpy(copy, data, bytes);
	return copy;
}

EXPORT int autofit_phantom_keep(uint64_t address, const void *data,
				size_t bytes, enum sim_kept kind)
{
	unsigned char *copy = NULL;

	(void)pthread_mutex_lock(&kept.lock);
	drop_overlaps(address, bytes);
	if (kind != SIM_KEPT_NOT && bytes && bytes <= SIM_KEPT_BYTES_MAX)
		copy = duplicate_bytes(data, bytes);
	if (copy)
		add_kept_range(address, copy, bytes, kind);
	(void)pthread_mutex_unlock(&kept.lock);
	return OK;
}

EXPORT int autofit_phantom_keep_copy(uint64_t target, uint64_t source,
				     size_t bytes)
{
	enum sim_kept kind = SIM_KEPT_NOT;
	unsigned char *copy = NULL;

	(void)pthread_mutex_lock(&kept.lock);
	if (bytes <= SIM_KEPT_BYTES_MAX)
		kind = read_ranges(source, NULL, bytes);
	if (kind != SIM_KEPT_NOT)
		copy = malloc(bytes);
	if (copy)
		(void)read_ranges(source, copy, bytes);
	drop_overlaps(target, bytes);
	if (copy)
		add_kept_range(target, copy, bytes, kind);
	(void)pthread_mutex_unlock(&kept.lock);
	return OK;
}

EXPORT int autofit_phantom_kept(uint64_t address, void *data, size_t bytes)
{
	enum sim_kept kind;

	(void)pthread_mutex_lock(&kept.lock);
	kind = read_ranges(address, NULL, bytes);
	if (kind != SIM_KEPT_NOT && data)
		(void)read_ranges(address, data, bytes);
	(void)pthread_mutex_unlock(&kept.lock);
	return (int)kind;
}

void sim_forget_kept(void)
{
	(void)pthread_mutex_lock(&kept.lock);
	for (size_t i = 0; kept.has_any && i < KEPT_MAX; i++)
		drop_range(&kept.ranges[i]);
	kept.has_any = false;
	(void)pthread_mutex_unlock(&kept.lock);
}
