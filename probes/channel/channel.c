/* The reader's side of the page that the probe's processes write. */
/* SPDX-License-Identifier: MIT */
#include "probes/channel/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The kernel's PID_MAX_LIMIT. */
#define PID_LIMIT (UINT32_C(1) << 22)
/* More steps than this in one probe is a lie. */
#define STEPS_LIMIT UINT64_C(1000000000000)
#define RETRIES_LIMIT UINT64_C(1000000000)
#define OOMS_LIMIT UINT32_C(1000000000)
#define RANK_LIMIT (INT32_C(1) << 24)
#define KNOWN_FLAGS                                                            \
	(CHANNEL_PYTHON | CHANNEL_TORCH | CHANNEL_CUDA | CHANNEL_COMPILED |    \
	 CHANNEL_HOOK_FAILED | CHANNEL_COUNTS_OOMS)

struct page {
	struct channel_header header;
	struct channel_slot slots[CHANNEL_SLOTS];
};

_Static_assert(sizeof(struct channel_header) == 64, "mirrored in Python");
_Static_assert(sizeof(struct channel_slot) == 64, "mirrored in Python");
_Static_assert(sizeof(struct page) == CHANNEL_SIZE, "mirrored in Python");

static int page_write(int fd)
{
	struct page page;
	const char *bytes = (const char *)&page;
	size_t done = 0;

	memset(&page, 0, sizeof(page));
	page.header.magic = CHANNEL_MAGIC;
	page.header.slots = CHANNEL_SLOTS;
	page.header.slot_bytes = sizeof(struct channel_slot);
	while (done < sizeof(page)) {
		ssize_t n = write(fd, bytes + done, sizeof(page) - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			done += (size_t)n;
	}
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
	result = page_write(fd);
	if (result < 0) {
		(void)close(fd);
		(void)unlink(path);
		return error_set_errno(err, result, "cannot write %s", path);
	}
	channel->fd = fd;
	channel->is_open = true;
	return 0;
}

/* What cannot be read, because the file was shortened, is zero. */
static void page_read(const struct channel *channel, struct page *page)
{
	char *bytes = (char *)page;
	size_t done = 0;

	memset(page, 0, sizeof(*page));
	while (channel->is_open && done < sizeof(*page)) {
		ssize_t n = pread(channel->fd, bytes + done,
				  sizeof(*page) - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * A counter caught in the middle of a store can read high (255 and 256 as
 * 511), and steps too high would end a probe early: of two readings the lower
 * one counts. The counters only rise, so nothing is lost but a moment.
 */
static struct channel_slot slot_settle(const struct channel_slot *first,
				       const struct channel_slot *second)
{
	struct channel_slot slot = *second;

	slot.steps = smaller(first->steps, second->steps);
	slot.last_step_ns = smaller(first->last_step_ns, second->last_step_ns);
	slot.alloc_retries =
		smaller(first->alloc_retries, second->alloc_retries);
	slot.flags = first->flags & second->flags & KNOWN_FLAGS;
	if (slot.pid != first->pid || slot.pid >= PID_LIMIT)
		slot.pid = 0;
	if (slot.steps > STEPS_LIMIT)
		slot.steps = 0;
	slot.alloc_retries = smaller(slot.alloc_retries, RETRIES_LIMIT);
	if (slot.phase > PHASE_SAVE)
		slot.phase = PHASE_START;
	slot.ooms = (uint32_t)smaller(smaller(first->ooms, second->ooms),
				      OOMS_LIMIT);
	slot.rows = (uint32_t)smaller(first->rows, second->rows);
	return slot;
}

static bool slot_is_rank(const struct channel_slot *slot)
{
	return slot->steps > 0 &&
	       (slot->rank >= 0 || (slot->flags & CHANNEL_TORCH));
}

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	/* CLOCK_MONOTONIC is always there. */
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

static void add_rank(struct channel_reading *reading,
		     const struct channel_slot *slot, uint64_t now)
{
	uint64_t last_step_ns = smaller(slot->last_step_ns, now);

	if (!reading->stepping || slot->steps < reading->steps)
		reading->steps = slot->steps;
	reading->stepping++;
	if (slot->rows > reading->rows)
		reading->rows = slot->rows;
	if (last_step_ns > reading->last_step_ns)
		reading->last_step_ns = last_step_ns;
}

static void raise_phase(enum phase *phase, uint32_t other)
{
	if (other > (uint32_t)*phase)
		*phase = (enum phase)other;
}

struct channel_reading channel_read(const struct channel *channel)
{
	struct channel_reading reading = { 0 };
	enum phase rank_phase = PHASE_START;
	struct page first;
	struct page second;
	uint64_t now;

	page_read(channel, &first);
	page_read(channel, &second);
	now = now_ns();
	for (size_t i = 0; i < CHANNEL_SLOTS; i++) {
		struct channel_slot slot =
			slot_settle(&first.slots[i], &second.slots[i]);

		if (!slot.pid)
			continue;
		reading.processes++;
		reading.flags |= slot.flags;
		reading.alloc_retries += slot.alloc_retries;
		reading.ooms += slot.ooms;
		raise_phase(&reading.phase, slot.phase);
		if (!slot_is_rank(&slot))
			continue;
		raise_phase(&rank_phase, slot.phase);
		add_rank(&reading, &slot, now);
	}
	if (reading.stepping)
		reading.phase = rank_phase;
	return reading;
}

bool channel_has(const struct channel *channel, uint32_t pid)
{
	struct page page;

	page_read(channel, &page);
	for (size_t i = 0; pid && i < CHANNEL_SLOTS; i++)
		if (page.slots[i].pid == pid)
			return true;
	return false;
}

bool channel_process(const struct channel *channel, uint32_t pid,
		     enum phase *phase, int *rank)
{
	const struct channel_slot *found = NULL;
	struct page page;

	page_read(channel, &page);
	for (size_t i = 0; pid && i < CHANNEL_SLOTS; i++) {
		const struct channel_slot *slot = &page.slots[i];

		/* The number may have been another process's before. */
		if (slot->pid == pid &&
		    (!found || slot->start_time > found->start_time))
			found = slot;
	}
	if (!found)
		return false;
	*phase = found->phase > PHASE_SAVE ? PHASE_START
					   : (enum phase)found->phase;
	*rank = found->rank < 0 || found->rank >= RANK_LIMIT ? -1 : found->rank;
	return true;
}

void channel_close(struct channel *channel)
{
	if (channel->is_open)
		(void)close(channel->fd);
	channel->is_open = false;
}
