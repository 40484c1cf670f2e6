/* Reads the page of the preload library, as a hostile file. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/preload.h"

#include "base/alloc.h"
#include "base/units.h"
#include "probes/channel/channel.h"
#include "probes/observers/gpu/preload_internal.h"
#include "probes/process/proctree.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static_assert(CHANNEL_SIZE <= PRELOAD_PAGE_OFFSET, "two parts of one file");

/* The kernel's PID_MAX_LIMIT. */
#define PID_LIMIT (UINT32_C(1) << 22)
/* What is larger is a lie; sums of it over all slots cannot overflow. */
#define BYTES_LIMIT (UINT64_C(1) << 50)
#define COUNT_LIMIT UINT64_C(1000000000000000)
#define RANK_LIMIT 1000000
#define RANK_NONE (-1)
#define RANK_SEVERAL (-2)
#define NO_DEVICE UINT16_MAX
#define KNOWN_FLAGS                                                            \
	(PRELOAD_CUDA | PRELOAD_CONTEXT | PRELOAD_NVML | PRELOAD_CROWDED)

/*
 * The page as it was twice in a row. A value caught in the middle of a store
 * can read too high, and a peak too high would end a probe: of two readings
 * the lower one counts, what must not be torn has to be the same in both.
 */
struct looks {
	struct preload_page first, second;
	size_t slots, devices;         /* in use */
	uint16_t row[PRELOAD_DEVICES]; /* of a page's device in the reading */
	uint64_t live_bytes[PRELOAD_DEVICES]; /* held by live processes */
	bool is_busy;                         /* it changes */
	uint64_t now_ns;
};

static uint64_t sane(uint64_t value, uint64_t limit)
{
	return value <= limit ? value : 0;
}

/* The lower of two readings; nothing when even that is absurd. */
static uint64_t settle(uint64_t first, uint64_t second, uint64_t limit)
{
	return sane(bytes_min(first, second), limit);
}

static void raise_to(uint64_t *value, uint64_t other)
{
	if (other > *value)
		*value = other;
}

/* What cannot be read, because the file was shortened, stays as it is. */
static void part_read(int fd, char *page, size_t from, size_t to)
{
	while (from < to) {
		ssize_t n = pread(fd, page + from, to - from,
				  (off_t)(PRELOAD_PAGE_OFFSET + from));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		from += (size_t)n;
	}
}

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	/* CLOCK_MONOTONIC is always there. */
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

/*
 * The header first and last: a change of bytes that lies wholly between shows
 * in its counter, one that lies around both in a busy slot.
 */
static bool looks_take(struct looks *looks, int fd)
{
	const struct preload_header *header = &looks->first.header;
	size_t start = sizeof(*header);
	size_t end;

	part_read(fd, (char *)&looks->first, 0, start);
	if (header->magic != PRELOAD_MAGIC ||
	    header->version != PRELOAD_VERSION ||
	    header->slots != PRELOAD_SLOTS ||
	    header->size != sizeof(struct preload_page))
		return false;
	looks->slots = bytes_min(header->slots_used, PRELOAD_SLOTS);
	looks->devices = bytes_min(header->devices_used, PRELOAD_DEVICES);
	assert(looks->slots <= PRELOAD_SLOTS &&
	       looks->devices <= PRELOAD_DEVICES);
	end = offsetof(struct preload_page, slots) +
	      looks->slots * sizeof(struct preload_slot);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	part_read(fd, (char *)&looks->first, start, end);
	part_read(fd, (char *)&looks->second, start, end);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	part_read(fd, (char *)&looks->second, 0, start);
	looks->now_ns = now_ns();
	return true;
}

/* Its owner is surely gone; a zombie has given its memory back. */
static bool slot_is_dead(const struct preload_slot *slot)
{
	struct proc_stat stat;
	int result = proctree_stat((pid_t)slot->pid, &stat);

	if (result == -ESRCH)
		return true;
	return result == 0 && (stat.start_time != slot->start_time ||
			       stat.state == 'Z' || stat.state == 'X');
}

/* What it holds of a device, granted. */
static uint64_t use_bytes(const struct preload_use *first,
			  const struct preload_use *second)
{
	uint64_t pending = settle(first->pending_bytes, second->pending_bytes,
				  BYTES_LIMIT);
	uint64_t bytes = settle(first->current_bytes, second->current_bytes,
				BYTES_LIMIT);

	return bytes - bytes_min(bytes, pending);
}

/* Several of them on one device are none that could be named. */
static void note_rank(struct preload_device_reading *row, int rank)
{
	if (rank < 0 || row->rank == rank)
		return;
	assert(row->rank >= RANK_SEVERAL);
	row->rank = row->rank == RANK_NONE ? rank : RANK_SEVERAL;
}

static void slot_add_uses(struct looks *looks, size_t index,
			  const struct preload_process *process,
			  struct preload_reading *reading)
{
	const struct preload_slot *first = &looks->first.slots[index];
	const struct preload_slot *second = &looks->second.slots[index];
	uint64_t held[PRELOAD_DEVICES] = { 0 };
	bool is_busy = first->busy || second->busy;
	bool is_holder = false;

	for (size_t i = 0; i < looks->devices; i++) {
		const struct preload_use *a = &first->devices[i];
		const struct preload_use *b = &second->devices[i];

		if (looks->row[i] == NO_DEVICE)
			continue;
		assert(looks->row[i] < reading->device_count);
		held[i] = use_bytes(a, b);
		is_holder = is_holder || held[i] > 0;
		if (held[i] || b->largest_bytes)
			note_rank(&reading->devices[looks->row[i]],
				  process->rank);
		raise_to(&reading->devices[looks->row[i]].largest_bytes,
			 settle(a->largest_bytes, b->largest_bytes,
				BYTES_LIMIT));
	}
	if ((!is_holder && !is_busy) || slot_is_dead(second))
		return;
	reading->holders += is_holder;
	looks->is_busy = looks->is_busy || is_busy;
	for (size_t i = 0; i < looks->devices; i++) {
		if (!held[i])
			continue;
		looks->live_bytes[i] += held[i];
		reading->devices[looks->row[i]].holders++;
	}
}

static void slot_add_counts(const struct preload_slot *first,
			    const struct preload_slot *second,
			    struct preload_reading *reading)
{
	const struct {
		uint64_t *sum;
		uint64_t first, second;
	} counts[] = {
		{ &reading->launches, first->launches, second->launches },
		{ &reading->allocations, first->allocations,
		  second->allocations },
		{ &reading->frees, first->frees, second->frees },
		{ &reading->synchronizations, first->synchronizations,
		  second->synchronizations },
		{ &reading->failed_device, first->failed_device,
		  second->failed_device },
		{ &reading->failed_host, first->failed_host,
		  second->failed_host },
		{ &reading->recovered, first->recovered, second->recovered },
		{ &reading->capped, first->capped, second->capped },
	};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		*counts[i].sum +=
			settle(counts[i].first, counts[i].second, COUNT_LIMIT);
	raise_to(&reading->host_peak_bytes,
		 settle(first->host_peak_bytes, second->host_peak_bytes,
			BYTES_LIMIT));
}

static void slot_add(struct looks *looks, size_t index,
		     struct preload_reading *reading)
{
	const struct preload_slot *first = &looks->first.slots[index];
	const struct preload_slot *second = &looks->second.slots[index];
	struct preload_process *process;

	if (!first->pid || first->pid != second->pid || first->pid >= PID_LIMIT)
		return;
	assert(reading->process_count < PRELOAD_SLOTS);
	process = &reading->processes[reading->process_count++];
	process->pid = (pid_t)first->pid;
	process->flags = first->flags & second->flags & KNOWN_FLAGS;
	process->rank = -1;
	if (first->rank == second->rank && first->rank >= 0 &&
	    first->rank < RANK_LIMIT)
		process->rank = first->rank;
	process->launches =
		settle(first->launches, second->launches, COUNT_LIMIT);
	if (process->flags & PRELOAD_CROWDED)
		reading->is_crowded = true;
	slot_add_counts(first, second, reading);
	slot_add_uses(looks, index, process, reading);
}

/* The rows of the reading, their slots not looked at yet. */
static void devices_add(struct looks *looks, struct preload_reading *reading)
{
	static const unsigned char none[16];

	for (size_t i = 0; i < PRELOAD_DEVICES; i++)
		looks->row[i] = NO_DEVICE;
	for (size_t i = 0; i < looks->devices; i++) {
		const struct preload_device *a = &looks->first.devices[i];
		const struct preload_device *b = &looks->second.devices[i];
		struct preload_device_reading *row =
			&reading->devices[reading->device_count];

		if (a->state != PRELOAD_DEVICE_READY ||
		    b->state != PRELOAD_DEVICE_READY ||
		    memcmp(a->uuid, b->uuid, sizeof(a->uuid)) != 0 ||
		    memcmp(a->uuid, none, sizeof(none)) == 0 ||
		    preload_page_has(&looks->first, (uint32_t)i, a->uuid))
			continue;
		memcpy(row->uuid, a->uuid, sizeof(row->uuid));
		row->rank = RANK_NONE;
		looks->row[i] = (uint16_t)reading->device_count++;
	}
}

static void device_fill(const struct looks *looks, size_t index,
			struct preload_reading *reading)
{
	const struct preload_device *a = &looks->first.devices[index];
	const struct preload_device *b = &looks->second.devices[index];
	struct preload_device_reading *row =
		&reading->devices[looks->row[index]];
	uint64_t cap = settle(a->cap_bytes, b->cap_bytes, BYTES_LIMIT);

	assert(looks->row[index] < reading->device_count);
	row->peak_bytes = settle(a->peak_bytes, b->peak_bytes, BYTES_LIMIT);
	/* Not the page's own sum: who died in a call may have left it wrong. */
	row->current_bytes =
		bytes_min(looks->live_bytes[index], row->peak_bytes);
	row->managed_peak_bytes = settle(a->managed_peak_bytes,
					 b->managed_peak_bytes, BYTES_LIMIT);
	row->overhead_bytes =
		settle(a->overhead_bytes, b->overhead_bytes, BYTES_LIMIT);
	row->total_bytes = settle(a->total_bytes, b->total_bytes, BYTES_LIMIT);
	if (cap && row->total_bytes > cap)
		row->total_bytes = cap;
	assert(row->current_bytes <= row->peak_bytes);
}

static bool event_settle(const struct looks *looks, uint64_t number,
			 struct preload_event *event)
{
	size_t place = number % PRELOAD_EVENTS;
	const struct preload_event *second = &looks->second.events[place];

	*event = looks->first.events[place];
	if (memcmp(event, second, sizeof(*event)) != 0 ||
	    event->number != number + 1 || !event->pid ||
	    event->pid >= PID_LIMIT || event->tid >= PID_LIMIT ||
	    event->kind == PRELOAD_EVENT_NONE ||
	    event->kind > PRELOAD_EVENT_ASKED_FREE)
		return false;
	event->ns = bytes_min(event->ns, looks->now_ns);
	event->bytes = sane(event->bytes, BYTES_LIMIT);
	event->total_bytes = sane(event->total_bytes, BYTES_LIMIT);
	event->free_bytes = sane(event->free_bytes, BYTES_LIMIT);
	if (event->total_bytes && event->free_bytes > event->total_bytes)
		event->free_bytes = 0;
	event->launches = sane(event->launches, COUNT_LIMIT);
	if (event->call >= PRELOAD_CALL_COUNT)
		event->call = PRELOAD_CALL_NONE;
	event->device = event->device < PRELOAD_DEVICES
				? looks->row[event->device]
				: NO_DEVICE;
	return true;
}

static void events_add(const struct looks *looks,
		       struct preload_reading *reading)
{
	uint64_t count = settle(looks->first.header.event_count,
				looks->second.header.event_count, COUNT_LIMIT);
	uint64_t first = count > PRELOAD_EVENTS ? count - PRELOAD_EVENTS : 0;

	reading->events_lost = first;
	for (uint64_t number = first; number < count; number++)
		if (event_settle(looks, number,
				 &reading->events[reading->event_count]))
			reading->event_count++;
	assert(reading->event_count <= PRELOAD_EVENTS);
}

void preload_read(int fd, struct preload_reading *reading)
{
	struct looks *looks = xcalloc(1, sizeof(*looks));

	memset(reading, 0, sizeof(*reading));
	if (!looks_take(looks, fd))
		goto out;
	devices_add(looks, reading);
	for (size_t i = 0; i < looks->slots; i++)
		slot_add(looks, i, reading);
	reading->is_there = reading->process_count > 0;
	reading->is_quiet =
		reading->is_there && !looks->is_busy &&
		looks->first.header.changes == looks->second.header.changes;
	for (size_t i = 0; i < looks->devices; i++)
		if (looks->row[i] != NO_DEVICE)
			device_fill(looks, i, reading);
	events_add(looks, reading);
out:
	free(looks);
}

const struct preload_device_reading *
preload_device(const struct preload_reading *reading, const char *uuid)
{
	unsigned char bytes[16];

	if (preload_uuid_parse(bytes, uuid) < 0)
		return NULL;
	for (size_t i = 0; i < reading->device_count; i++)
		if (memcmp(reading->devices[i].uuid, bytes, sizeof(bytes)) == 0)
			return &reading->devices[i];
	return NULL;
}

const struct preload_process *
preload_process(const struct preload_reading *reading, pid_t pid)
{
	for (size_t i = 0; i < reading->process_count; i++)
		if (reading->processes[i].pid == pid)
			return &reading->processes[i];
	return NULL;
}

const char *preload_call_name(uint16_t call)
{
	static const char *const names[PRELOAD_CALL_COUNT] = {
		[PRELOAD_CALL_NONE] = "a call",
		[PRELOAD_CALL_LINEAR] = "cuMemAlloc",
		[PRELOAD_CALL_MANAGED] = "cuMemAllocManaged",
		[PRELOAD_CALL_ASYNC] = "cuMemAllocAsync",
		[PRELOAD_CALL_VIRTUAL] = "cuMemCreate",
		[PRELOAD_CALL_ARRAY] = "cuArrayCreate",
		[PRELOAD_CALL_GRAPH] = "cuGraphInstantiate",
		[PRELOAD_CALL_HOST] = "cuMemHostAlloc",
		[PRELOAD_CALL_CONTEXT] = "cuCtxCreate",
		[PRELOAD_CALL_MODULE] = "cuModuleLoad",
		[PRELOAD_CALL_LAUNCH] = "cuLaunchKernel",
		[PRELOAD_CALL_OTHER] = "another call",
	};

	return names[call < PRELOAD_CALL_COUNT ? call : PRELOAD_CALL_NONE];
}
