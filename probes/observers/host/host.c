/* Host memory of a process tree: what it holds now and at its peak. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/host/host.h"

#include "base/alloc.h"
#include "base/units.h"
#include "probes/observers/host/host_origin.h"
#include "probes/observers/host/host_pace.h"
#include "probes/observers/host/host_process.h"
#include "probes/observers/host/host_shm.h"
#include "probes/observers/host/host_tree.h"
#include "probes/process/pid_list.h"
#include "probes/process/proctree.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

/* Shared or others' memory so small that it needs no exact reading. */
#define SMALL_BYTES MIB
/* Of one exact reading, while processes end. */
#define EXACT_TRIES 3
#define SMALL_PART 200
/* One part in so many of a CPU may go into each kind of dear reading. */
#define SCAN_PART 50
#define EXACT_PART 20
#define EXACT_PART_NEAR_LIMIT 4
#define EXACT_PART_BELOW_PEAK 200

/* What the cheap readings of one look say. */
struct bound {
	uint64_t bytes;  /* the tree holds no more than this */
	uint64_t anon;   /* of them anonymous, or swapped */
	bool is_precise; /* and about that: nothing counts twice */
};

struct exact_reading {
	uint64_t bytes;
	struct bound bound; /* of the same look */
	uint64_t changes;   /* of the tree, until then */
};

struct host_observer {
	struct host_tree tree;
	struct host_origin origin;
	struct host_shm shm;
	uint64_t held_bytes; /* of shm, at its last scan */
	struct host_reading reading;
	struct host_pace scan, exact;
	struct exact_reading last;
	uint64_t discount_bytes; /* by how much that was below its bound */
	/* Of a look that left what may be a peak unread: by the last exact
	 * reading, if it was of the same processes; else 0. */
	bool is_behind;
	uint64_t likely_bytes;
	/* The most resident memory of one process, and what of that may be
	 * file and shared pages. */
	uint64_t fullest_bytes, fullest_others_bytes;
};

int host_observer_open(struct host_observer **observer, pid_t root,
		       struct error *err)
{
	struct host_observer *opened;
	struct proc_stat stat;
	int result = proctree_stat(root, &stat);

	assert(root > 0);
	if (result < 0)
		return error_set_errno(err, result,
				       "cannot observe the memory of process "
				       "%d",
				       (int)root);
	opened = xcalloc(1, sizeof(*opened));
	opened->tree.root = root;
	host_origin_init(&opened->origin);
	host_shm_init(&opened->shm, root, HOST_SHM_BIRTHS_AUTO);
	*observer = opened;
	return 0;
}

void host_observer_close(struct host_observer *observer)
{
	if (!observer)
		return;
	host_tree_release(&observer->tree);
	host_origin_release(&observer->origin);
	host_shm_release(&observer->shm);
	free(observer);
}

void host_observer_copied_from(struct host_observer *observer, pid_t pid)
{
	host_origin_open(&observer->origin, pid, observer->tree.root);
}

static void scan_shm(struct host_observer *observer, int64_t now_ms)
{
	int64_t began_ns = host_pace_begin();

	if (!host_pace_is_due(&observer->scan, now_ms, SCAN_PART))
		return;
	host_shm_scan_begin(&observer->shm);
	for (size_t i = 0; i < observer->tree.count; i++)
		host_shm_scan(&observer->shm, &observer->tree.processes[i]);
	host_shm_scan_end(&observer->shm);
	observer->held_bytes = host_shm_bytes(&observer->shm);
	host_pace_taken(&observer->scan, now_ms, began_ns);
}

/*
 * One process without shared memory is read precisely by its counters, also
 * with small ones beside it; of several the sum is an upper bound only.
 */
static struct bound bound_of(struct host_observer *observer)
{
	struct host_reading *reading = &observer->reading;
	uint64_t largest = 0;
	uint64_t anon = 0;
	uint64_t sum = 0;

	reading->swap_bytes = 0;
	for (size_t i = 0; i < observer->tree.count; i++) {
		const struct host_process *process =
			&observer->tree.processes[i];
		const struct host_status *status = &process->status;

		if (process->shares_parent)
			continue;
		sum += host_status_bytes(status);
		anon += status->anon + status->swap;
		largest = bytes_max(largest, status->anon + status->swap);
		reading->swap_bytes += status->swap;
		reading->largest_vm_peak_bytes = bytes_max(
			reading->largest_vm_peak_bytes, status->virtual_peak);
		reading->largest_vm_data_bytes =
			bytes_max(reading->largest_vm_data_bytes, status->data);
	}
	assert(largest <= sum);
	return (struct bound){
		.bytes = sum + observer->held_bytes,
		.anon = anon,
		.is_precise = sum - largest <=
			      bytes_max(SMALL_BYTES, sum / SMALL_PART),
	};
}

/* The share of one process, without what is counted as held or is foreign. */
static uint64_t exact_of(struct host_observer *observer,
			 struct host_process *process)
{
	const struct host_status *status = &process->status;
	struct host_overlap overlap;
	struct host_share share;
	int result;

	if (process->shares_parent)
		return 0;
	result = host_process_share(process, &share);
	/* What it shared counts in those that are left. */
	if (result == -ESRCH)
		return 0;
	if (result < 0)
		share = (struct host_share){
			.anon = status->anon + status->swap,
			.shmem = status->shmem,
		};
	overlap = host_shm_overlap(&observer->shm, process, share.shmem);
	process->foreign_bytes = overlap.foreign_bytes;
	process->known_shmem = status->shmem;
	process->others_part = bytes_minus(share.whole, share.anon);
	process->largest_file = bytes_max(
		process->largest_file, status->file + process->foreign_bytes);
	return share.anon +
	       bytes_minus(share.shmem,
			   overlap.own_bytes + overlap.foreign_bytes);
}

/* Processes that together hold nearly nothing are not worth the reading. */
static uint64_t take_exact(struct host_observer *observer,
			   const struct bound *bound, int64_t now_ms)
{
	int64_t began_ns = host_pace_begin();
	uint64_t worth =
		bound->bytes / SMALL_PART / bytes_max(observer->tree.count, 1);
	uint64_t sum = 0;

	for (size_t i = 0; i < observer->tree.count; i++) {
		struct host_process *process = &observer->tree.processes[i];
		uint64_t bytes = host_status_bytes(&process->status);

		if (bytes < worth)
			sum += process->shares_parent ? 0 : bytes;
		else
			sum += exact_of(observer, process);
	}
	sum += host_origin_lent(&observer->origin, observer->tree.processes,
				observer->tree.count);
	/* Mapped files that became known just now are counted as held. */
	observer->held_bytes = host_shm_bytes(&observer->shm);
	sum += observer->held_bytes;
	observer->last =
		(struct exact_reading){ sum, *bound, observer->tree.changes };
	observer->discount_bytes = bytes_minus(bound->bytes, sum);
	host_pace_taken(&observer->exact, now_ms, began_ns);
	assert(observer->discount_bytes <= bound->bytes);
	return sum;
}

static int64_t exact_part(const struct host_observer *observer,
			  const struct bound *bound, uint64_t limit_bytes)
{
	uint64_t likely = bytes_minus(bound->bytes, observer->discount_bytes);

	if (bound->bytes <= observer->reading.peak_bytes)
		return EXACT_PART_BELOW_PEAK;
	if (limit_bytes && bound->bytes > limit_bytes &&
	    likely > limit_bytes / 4 * 3)
		return EXACT_PART_NEAR_LIMIT;
	return EXACT_PART;
}

/* Counters are checked at each new maximum: they are kept in pieces per CPU
 * since Linux 6.2 and can be off by tens of MB. */
static bool wants_exact(const struct host_observer *observer,
			const struct bound *bound, uint64_t limit_bytes,
			int64_t now_ms)
{
	if (bound->is_precise && bound->bytes <= observer->last.bound.bytes)
		return false;
	return host_pace_is_due(&observer->exact, now_ms,
				exact_part(observer, bound, limit_bytes));
}

/*
 * By the last exact reading. What the same processes took since, of pages that
 * are not shared memory, is theirs alone and may make a peak; not so of others,
 * nor of shared memory.
 */
static uint64_t estimate(struct host_observer *observer,
			 const struct bound *bound)
{
	const struct exact_reading *last = &observer->last;
	uint64_t likely = bytes_minus(bound->bytes, observer->discount_bytes);
	uint64_t most = observer->reading.peak_bytes;

	observer->is_behind = bound->bytes > most;
	if (observer->exact.was_taken &&
	    last->changes == observer->tree.changes) {
		observer->likely_bytes = likely;
		most = bytes_max(most, bytes_minus(last->bytes + bound->anon,
						   last->bound.anon));
	}
	return bytes_min(likely, most);
}

static void host_raise_peak(struct host_observer *observer, uint64_t bytes)
{
	struct host_reading *reading = &observer->reading;

	reading->peak_bytes = bytes_max(reading->peak_bytes, bytes);
}

static void note_fullest(struct host_observer *observer,
			 const struct host_process *process)
{
	if (process->status.resident_peak < observer->fullest_bytes)
		return;
	observer->fullest_bytes = process->status.resident_peak;
	observer->fullest_others_bytes =
		process->largest_file + process->largest_shmem;
}

/* A page that two had is in both their parts, once one of them has ended
 * between the two readings. */
static bool has_lost_one(const struct host_observer *observer)
{
	const struct host_tree *tree = &observer->tree;

	for (size_t i = 0; tree->count > 1 && i < tree->count; i++)
		if (host_process_has_ended(&tree->processes[i]))
			return true;
	return false;
}

/* Anew while processes end; of several that none can trust the least. */
static uint64_t take_steady(struct host_observer *observer,
			    const struct bound *bound, int64_t now_ms)
{
	uint64_t bytes, least = UINT64_MAX;

	for (int i = 0; i < EXACT_TRIES; i++) {
		bytes = take_exact(observer, bound, now_ms);
		/* No more than before makes no peak. */
		if (bytes <= observer->reading.peak_bytes ||
		    !has_lost_one(observer))
			return bytes;
		least = bytes_min(least, bytes);
	}
	return least;
}

static void host_measure(struct host_observer *observer, uint64_t limit_bytes,
			 int64_t now_ms)
{
	struct bound bound = bound_of(observer);
	uint64_t current = bound.bytes;
	uint64_t fallen = 0;

	if (bound.is_precise)
		observer->discount_bytes = 0;
	observer->is_behind = bound.bytes > observer->last.bound.bytes;
	observer->likely_bytes = 0;
	if (wants_exact(observer, &bound, limit_bytes, now_ms)) {
		current = take_steady(observer, &bound, now_ms);
		observer->is_behind = false;
	} else if (!bound.is_precise) {
		current = estimate(observer, &bound);
	}
	observer->reading.current_bytes = current;
	for (size_t i = 0; i < observer->tree.count; i++) {
		const struct host_process *process =
			&observer->tree.processes[i];

		host_raise_peak(observer, host_process_peak_alone(process));
		fallen = bytes_max(fallen, host_process_fallen(process));
		note_fullest(observer, process);
	}
	host_raise_peak(observer, current + fallen);
	assert(observer->reading.current_bytes <= observer->reading.peak_bytes);
}

void host_observer_sample(struct host_observer *observer, int64_t now_ms,
			  uint64_t limit_bytes, struct host_reading *reading)
{
	host_tree_look(&observer->tree, now_ms);
	scan_shm(observer, now_ms);
	host_measure(observer, limit_bytes, now_ms);
	observer->reading.processes = observer->tree.count;
	observer->reading.cpu_ticks = observer->tree.cpu_ticks;
	observer->reading.io_bytes = observer->tree.io_bytes;
	*reading = observer->reading;
}

bool host_observer_catch_up(struct host_observer *observer, int64_t now_ms,
			    struct host_reading *reading)
{
	if (!observer->is_behind)
		return false;
	observer->exact.was_taken = false;
	host_observer_sample(observer, now_ms, 0, reading);
	return true;
}

void host_observer_command_ended(struct host_observer *observer,
				 uint64_t max_resident_bytes,
				 struct host_reading *reading)
{
	bool was_seen = observer->fullest_bytes >= max_resident_bytes / 2;
	uint64_t bytes =
		bytes_minus(max_resident_bytes,
			    was_seen ? observer->fullest_others_bytes : 0);

	if (!was_seen && bytes > observer->reading.peak_bytes)
		observer->reading.peak_has_files = true;
	host_raise_peak(observer, bytes_max(bytes, observer->likely_bytes));
	*reading = observer->reading;
}

const pid_t *host_observer_pids(const struct host_observer *observer,
				size_t *count)
{
	*count = observer->tree.pids.count;
	return observer->tree.pids.items;
}

uint64_t host_observer_launchers(const struct host_observer *observer,
				 pid_t pid)
{
	const struct host_tree *tree = &observer->tree;
	const struct host_process *process = host_tree_find(tree, pid);
	uint64_t sum = 0;

	for (size_t i = 0; process && i < tree->count; i++) {
		process = host_tree_find(tree, process->status.parent);
		sum += process ? host_status_bytes(&process->status) : 0;
	}
	return sum;
}

size_t host_observer_remove_shm(struct host_observer *observer)
{
	return host_shm_remove(&observer->shm, &observer->tree.ever);
}
