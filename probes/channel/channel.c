/* The reader's side of the page that the probe's processes write. */
/* SPDX-License-Identifier: MIT */
#include "probes/channel/channel.h"

#include "base/alloc.h"

#include "base/units.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The kernel's PID_MAX_LIMIT. */
#define CHANNEL_PID_LIMIT (UINT32_C(1) << 22)
/* More than these in one probe is a lie. */
#define STEPS_LIMIT UINT64_C(1000000000000)
#define RETRIES_LIMIT UINT64_C(1000000000)
#define OOMS_LIMIT UINT32_C(1000000000)
/* No machine has as much; sums of all slots stay numbers. */
#define MEMORY_LIMIT (UINT64_C(1) << 50)
/* Less is free, and the program's own shared memory needs it. */
#define MEMORY_FREE_MIN (4 * MIB)

struct channel_page {
	struct channel_header header;
	struct channel_slot slots[CHANNEL_SLOTS];
};

static_assert(sizeof(struct channel_header) == 64, "mirrored in Python");
static_assert(sizeof(struct channel_slot) == 144, "mirrored in Python");
static_assert(sizeof(struct channel_page) == CHANNEL_SIZE, "as in Python");

char *channel_memory_path(const char *probe_id)
{
	return xasprintf("%s/" CHANNEL_MEMORY_PREFIX "%s",
			 CHANNEL_MEMORY_FOLDER, probe_id);
}

bool channel_memory_has_room(const char *folder)
{
	struct stat entry;
	struct statfs info;

	/* By a link the file would have two names in a view. */
	return lstat(folder, &entry) == 0 && S_ISDIR(entry.st_mode) &&
	       statfs(folder, &info) == 0 && info.f_type == TMPFS_MAGIC &&
	       (uint64_t)info.f_bavail * (uint64_t)info.f_bsize >=
		       MEMORY_FREE_MIN &&
	       access(folder, W_OK | X_OK) == 0;
}

static int page_make(int fd)
{
	const struct channel_header header = {
		.magic = CHANNEL_MAGIC,
		.slots = CHANNEL_SLOTS,
		.slot_bytes = sizeof(struct channel_slot),
	};
	int failure = posix_fallocate(fd, 0, CHANNEL_SIZE);

	if (failure)
		return -failure;
	if (pwrite(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return errno ? -errno : -EIO;
	return 0;
}

int channel_open(struct channel *channel, const char *path, struct error *err)
{
	int result;
	int fd;

	channel->is_open = false;
	if (unlink(path) < 0 && errno != ENOENT)
		return error_set_errno(err, -errno, "cannot replace %s", path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  S_IRUSR | S_IWUSR);
	if (fd < 0)
		return error_set_errno(err, -errno, "cannot make %s", path);
	result = page_make(fd);
	if (result < 0) {
		(void)close(fd);
		(void)unlink(path);
		return error_set_errno(err, result, "cannot write %s", path);
	}
	channel->fd = fd;
	channel->is_open = true;
	return 0;
}

/* The bytes that a shortened file no longer has are zero. */
static void page_read(const struct channel *channel, struct channel_page *page)
{
	memset(page, 0, sizeof(*page));
	if (channel->is_open)
		(void)!pread(channel->fd, page, sizeof(*page), 0);
}

/*
 * A counter caught in the middle of a store can read high (255 and 256 as
 * 511), and steps too high would end a probe early: of two readings the lower
 * one counts.
 */
#define LOWER(member)                                                          \
	(slot.member = (__typeof__(slot.member))bytes_min(first->member,       \
							  second->member))

/* More than any card has was not written by the hook. */
static uint64_t plausible(uint64_t bytes)
{
	return bytes > MEMORY_LIMIT ? 0 : bytes;
}

static struct channel_slot slot_settle(const struct channel_slot *first,
				       const struct channel_slot *second)
{
	struct channel_slot slot = *second;

	LOWER(steps);
	LOWER(last_step_ns);
	LOWER(alloc_retries);
	LOWER(ooms);
	LOWER(rows);
	LOWER(passes);
	LOWER(batches);
	LOWER(loader_rows);
	LOWER(data_rows);
	LOWER(world);
	LOWER(group);
	LOWER(torch_peak_bytes);
	LOWER(rest_bytes);
	LOWER(forward_bytes);
	LOWER(pass_bytes);
	LOWER(same_sizes);
	LOWER(columns);
	LOWER(first_passes);
	LOWER(later_passes);
	LOWER(last_pass_ns);
	LOWER(torch_reserved_bytes);
	if (slot.steps > STEPS_LIMIT)
		slot.steps = 0;
	slot.alloc_retries = bytes_min(slot.alloc_retries, RETRIES_LIMIT);
	slot.ooms = (uint32_t)bytes_min(slot.ooms, OOMS_LIMIT);
	slot.torch_peak_bytes = bytes_min(slot.torch_peak_bytes, MEMORY_LIMIT);
	slot.rest_bytes = plausible(slot.rest_bytes);
	slot.forward_bytes = plausible(slot.forward_bytes);
	slot.pass_bytes = plausible(slot.pass_bytes);
	slot.torch_reserved_bytes = plausible(slot.torch_reserved_bytes);
	slot.flags = first->flags & second->flags & CHANNEL_FLAGS;
	if (slot.pid != first->pid || slot.pid >= CHANNEL_PID_LIMIT)
		slot.pid = 0;
	if (slot.phase > PHASE_SAVE)
		slot.phase = PHASE_START;
	assert(slot.steps <= first->steps && slot.steps <= second->steps);
	assert(!slot.torch_peak_bytes || slot.torch_peak_bytes <= MEMORY_LIMIT);
	return slot;
}

void channel_read_slots(const struct channel *channel,
			struct channel_slot slots[CHANNEL_SLOTS])
{
	struct channel_page *first = xmalloc(2 * sizeof(*first));
	struct channel_page *second = first + 1;

	page_read(channel, first);
	page_read(channel, second);
	for (size_t i = 0; i < CHANNEL_SLOTS; i++)
		slots[i] = slot_settle(&first->slots[i], &second->slots[i]);
	free(first);
}

void channel_write_slots(const struct channel *channel,
			 const struct channel_slot slots[CHANNEL_SLOTS])
{
	/* A page that is not written says what it said before. */
	if (channel->is_open)
		(void)!pwrite(channel->fd, slots,
			      CHANNEL_SLOTS * sizeof(*slots),
			      sizeof(struct channel_header));
}

static void raise_phase(enum phase *phase, uint32_t other)
{
	if (other > (uint32_t)*phase)
		*phase = (enum phase)other;
}

static void reading_raise(uint64_t *value, uint64_t other)
{
	if (other > *value)
		*value = other;
}

static void take_lowest(uint64_t *value, uint64_t other, bool is_first)
{
	if (is_first || other < *value)
		*value = other;
}

/* Unknown as soon as it is of one. */
static void add_known(uint64_t *total, uint64_t value, bool is_first)
{
	if (is_first || *total)
		*total = value ? *total + value : 0;
}

/* What a process that trains has seen of its sizes and its memory. */
static void reading_take(struct channel_reading *reading,
			 const struct channel_slot *slot, bool is_first)
{
	reading_raise(&reading->rows, slot->rows);
	reading_raise(&reading->columns, slot->columns);
	reading_raise(&reading->passes, slot->passes);
	reading_raise(&reading->batches, slot->batches);
	reading_raise(&reading->loader_rows, slot->loader_rows);
	reading_raise(&reading->data_rows, slot->data_rows);
	reading_raise(&reading->world, slot->world);
	reading_raise(&reading->group, slot->group);
	reading_raise(&reading->torch_peak_bytes, slot->torch_peak_bytes);
	reading_raise(&reading->rest_bytes, slot->rest_bytes);
	take_lowest(&reading->same_sizes, slot->same_sizes, is_first);
	if (slot->steps)
		reading_raise(&reading->first_passes, slot->first_passes);
	if (is_first || slot->later_passes < reading->later_passes) {
		reading->later_passes = slot->later_passes;
		reading->last_pass_ns = slot->last_pass_ns;
	}
	reading_raise(&reading->forward_bytes, slot->forward_bytes);
	add_known(&reading->rest_total_bytes, slot->rest_bytes, is_first);
	add_known(&reading->forward_total_bytes, slot->forward_bytes, is_first);
	reading_raise(&reading->pass_bytes, slot->pass_bytes);
	add_known(&reading->pass_total_bytes, slot->pass_bytes, is_first);
}

/* Any process of a rank: a launcher or a worker has its number as well. */
static bool rank_steps(const struct channel_slot slots[CHANNEL_SLOTS],
		       int32_t rank)
{
	for (size_t i = 0; i < CHANNEL_SLOTS; i++)
		if (slots[i].pid && slots[i].rank == rank && slots[i].steps)
			return true;
	return false;
}

static bool some_rank_is_behind(const struct channel_slot slots[CHANNEL_SLOTS])
{
	bool some_step = false;
	bool is_behind = false;

	for (size_t i = 0; i < CHANNEL_SLOTS; i++) {
		const struct channel_slot *slot = &slots[i];

		if (!slot->pid || slot->rank < 0)
			continue;
		if (slot->steps)
			some_step = true;
		else if (slot->flags & CHANNEL_TORCH)
			is_behind = is_behind || !rank_steps(slots, slot->rank);
	}
	return some_step && is_behind;
}

struct channel_reading channel_read(const struct channel *channel)
{
	struct channel_reading reading = { 0 };
	size_t by_hand = 0; /* slots that count passes */
	enum phase rank_phase = PHASE_START;
	struct channel_slot *slots = xcalloc(CHANNEL_SLOTS, sizeof(*slots));

	channel_read_slots(channel, slots);
	for (size_t i = 0; i < CHANNEL_SLOTS; i++) {
		const struct channel_slot slot = slots[i];

		if (!slot.pid)
			continue;
		reading.processes++;
		reading.flags |= slot.flags;
		reading.alloc_retries += slot.alloc_retries;
		reading.ooms += slot.ooms;
		raise_phase(&reading.phase, slot.phase);
		reading_raise(&reading.torch_reserved_bytes,
			      slot.torch_reserved_bytes);
		/* Does it train, as a rank or alone with torch? */
		if ((!slot.steps && !slot.first_passes) ||
		    (slot.rank < 0 && !(slot.flags & CHANNEL_TORCH)))
			continue;
		raise_phase(&rank_phase, slot.phase);
		reading_take(&reading, &slot, !reading.stepping && !by_hand);
		if (slot.steps &&
		    (!reading.stepping++ || slot.steps < reading.steps)) {
			reading.steps = slot.steps;
			reading.last_step_ns = slot.last_step_ns;
			reading.stepper = (pid_t)slot.pid;
		}
		if (!slot.steps)
			take_lowest(&reading.by_hand, slot.first_passes,
				    by_hand++ == 0);
	}
	reading.is_rank_behind = some_rank_is_behind(slots);
	free(slots);
	assert(reading.stepping + by_hand <= reading.processes);
	if (reading.stepping)
		reading.by_hand = 0;
	if (reading.stepping || by_hand)
		reading.phase = rank_phase;
	assert(reading.phase <= PHASE_SAVE && "the slots were settled");
	return reading;
}

bool channel_process(const struct channel *channel, pid_t pid,
		     enum phase *phase)
{
	const struct channel_slot *found = NULL;
	struct channel_page page;

	page_read(channel, &page);
	for (size_t i = 0; pid > 0 && i < CHANNEL_SLOTS; i++) {
		const struct channel_slot *slot = &page.slots[i];

		/* The number may have been another process's before. */
		if (slot->pid == (uint32_t)pid &&
		    (!found || slot->start_time > found->start_time))
			found = slot;
	}
	if (found && phase)
		*phase = found->phase > PHASE_SAVE ? PHASE_START
						   : (enum phase)found->phase;
	return found != NULL;
}

/* "7f00-7f10 rw-s 00000000 fe:01 1234  /path": the number of the file. */
static uintmax_t mapped_inode(const char *line)
{
	for (int field = 0; field < 4; field++) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	return strtoumax(line, NULL, 10);
}

bool channel_is_bypassed(const struct channel *channel, pid_t pid)
{
	char path[32];
	char line[512];
	struct stat page;
	FILE *maps;
	bool has_torch = false;
	bool has_page = channel_process(channel, pid, NULL);

	if (has_page || !channel->is_open || fstat(channel->fd, &page) < 0)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return false;
	while (!has_page && fgets(line, sizeof(line), maps)) {
		has_torch = has_torch || strstr(line, "/libtorch");
		has_page = mapped_inode(line) == page.st_ino;
	}
	(void)fclose(maps);
	return has_torch && !has_page;
}

size_t channel_ranks(const struct channel *channel,
		     struct channel_rank ranks[CHANNEL_SLOTS])
{
	struct channel_page page;
	size_t count = 0;

	page_read(channel, &page);
	for (size_t i = 0; i < CHANNEL_SLOTS; i++) {
		const struct channel_slot *slot = &page.slots[i];

		if (slot->pid && slot->pid < CHANNEL_PID_LIMIT &&
		    slot->rank >= 0 && (slot->flags & CHANNEL_TORCH))
			ranks[count++] = (struct channel_rank){
				.pid = (pid_t)slot->pid,
				.start_time = slot->start_time,
				.rank = slot->rank,
			};
	}
	assert(count <= CHANNEL_SLOTS);
	return count;
}

void channel_close(struct channel *channel)
{
	assert(!channel->is_open || channel->fd >= 0);
	if (channel->is_open)
		(void)close(channel->fd);
	channel->is_open = false;
}
