/* What the ranks of a probe report, whichever node they are on. */
/* SPDX-License-Identifier: MIT */
#include "probes/nodes/node_ranks.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/units.h"
#include "probes/channel/hook_files.h"
#include "probes/nodes/node_report.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEAT_EVERY_MS 1000
#define AWAIT_LOOK_MS 50
#define AWAIT_MAX_MS 15000
/* A rank that Slurm itself has killed says no last word. */
#define SILENT_MS 3000

struct node_rank_seen {
	struct node_report report; /* beats 0: none yet */
	struct channel_slot *slots;
	size_t slot_count; /* in use */
	size_t node;
	int64_t ms;          /* when this report was read */
	int64_t clock_is_by; /* ns that the clock here is ahead of the node's */
};

struct node_sum {
	char name[NODE_NAME_MAX];
	uint64_t current_bytes, peak_bytes, swap_bytes;
};

/* A file of the folder with a number in it. Who reads it while it is written
 * reads it again soon. */
static void put_number(const struct node_ranks *ranks, const char *name,
		       int64_t number)
{
	char *path = xasprintf("%s/%s", ranks->folder, name);
	int fd = open(path,
		      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		      0600);

	if (fd >= 0) {
		(void)dprintf(fd, "%" PRId64, number);
		(void)close(fd);
	}
	free(path);
}

int node_ranks_open(struct node_ranks *ranks, const char *folder, int64_t count,
		    struct error *err)
{
	assert(count >= 1);
	if (count > NODE_RANKS_MAX)
		return error_set(err, -E2BIG,
				 "%" PRId64 " ranks are more than the %d that "
				 "can report",
				 count, NODE_RANKS_MAX);
	if (mkdir(folder, 0700) < 0)
		return error_set_errno(err, -errno, "cannot make %s", folder);
	*ranks = (struct node_ranks){
		.folder = xstrdup(folder),
		.seen = xcalloc((size_t)count, sizeof(*ranks->seen)),
		.count = (size_t)count,
	};
	put_number(ranks, "alive", 0);
	return 0;
}

void node_ranks_close(struct node_ranks *ranks)
{
	for (size_t i = 0; i < ranks->count; i++)
		free(ranks->seen[i].slots);
	free(ranks->seen);
	free(ranks->nodes);
	free(ranks->folder);
	memset(ranks, 0, sizeof(*ranks));
}

static size_t find_node(struct node_ranks *ranks, const char *name)
{
	for (size_t i = 0; i < ranks->node_count; i++)
		if (strcmp(ranks->nodes[i].name, name) == 0)
			return i;
	ranks->nodes = xgrow(ranks->nodes, ranks->node_count,
			     &ranks->node_capacity, sizeof(*ranks->nodes));
	ranks->nodes[ranks->node_count] = (struct node_sum){ .name = "" };
	memcpy(ranks->nodes[ranks->node_count].name, name,
	       strnlen(name, NODE_NAME_MAX - 1));
	return ranks->node_count++;
}

/* Under torch its rank may be told by Slurm alone. */
static void keep_slots(struct node_rank_seen *seen,
		       const struct channel_slot *slots)
{
	seen->slot_count = 0;
	for (size_t i = 0; i < CHANNEL_SLOTS; i++) {
		struct channel_slot slot = slots[i];

		if (!slot.pid)
			continue;
		if (slot.last_step_ns)
			slot.last_step_ns =
				(uint64_t)((int64_t)slot.last_step_ns +
					   seen->clock_is_by);
		if (slot.rank < 0 && (slot.flags & CHANNEL_TORCH))
			slot.rank = seen->report.rank;
		seen->slots[seen->slot_count++] = slot;
	}
}

/* To where those of descendants are: beside the folder of the reports. */
static void take_files(const struct node_ranks *ranks, size_t index)
{
	char *from = node_report_folder(ranks->folder, (int)index);
	char *to = xstrdup(ranks->folder);
	char *slash = strrchr(to, '/');

	if (slash)
		*slash = '\0';
	hook_files_copy(from, to, (int)index);
	free(from);
	free(to);
}

static bool read_rank(struct node_ranks *ranks, size_t index,
		      struct node_page *page, int64_t now_ms)
{
	struct node_rank_seen *seen = &ranks->seen[index];
	bool is_first = seen->report.beats == 0;

	if (seen->report.state == NODE_RANK_OVER ||
	    !node_report_read(ranks->folder, (int)index, page) ||
	    page->report.beats <= seen->report.beats)
		return false;
	seen->report = page->report;
	seen->ms = now_ms;
	if (is_first) {
		seen->node = find_node(ranks, page->report.node);
		seen->clock_is_by = now_ms * INT64_C(1000000) -
				    (int64_t)page->report.now_ns;
		seen->slots = xcalloc(CHANNEL_SLOTS, sizeof(*seen->slots));
	}
	keep_slots(seen, page->slots);
	if (seen->report.state != NODE_RANK_RUNS)
		take_files(ranks, index);
	return true;
}

/* As many as there is room for: those of the first ranks. */
static void fill_channel(const struct node_ranks *ranks,
			 const struct channel *channel)
{
	struct channel_slot *slots = xcalloc(CHANNEL_SLOTS, sizeof(*slots));
	size_t used = 0;

	for (size_t i = 0; i < ranks->count; i++)
		for (size_t k = 0;
		     k < ranks->seen[i].slot_count && used < CHANNEL_SLOTS; k++)
			slots[used++] = ranks->seen[i].slots[k];
	channel_write_slots(channel, slots);
	free(slots);
}

void node_ranks_look(struct node_ranks *ranks, const struct channel *channel)
{
	int64_t now_ms = clock_ms();
	struct node_page *page;
	bool has_news = false;

	if (!ranks->folder)
		return;
	if (now_ms >= ranks->next_beat_ms) {
		ranks->next_beat_ms = now_ms + BEAT_EVERY_MS;
		put_number(ranks, "alive", (int64_t)++ranks->beats);
	}
	page = xmalloc(sizeof(*page));
	for (size_t i = 0; i < ranks->count; i++)
		has_news = read_rank(ranks, i, page, now_ms) || has_news;
	free(page);
	if (has_news)
		fill_channel(ranks, channel);
}

static void add_to_node(struct node_sum *node, const struct host_reading *host)
{
	node->current_bytes += host->current_bytes;
	node->peak_bytes += host->peak_bytes;
	node->swap_bytes += host->swap_bytes;
}

static void sum_nodes(struct node_ranks *ranks, const struct host_reading *own)
{
	char here[NODE_NAME_MAX];
	size_t own_node;

	node_report_where(here);
	own_node = find_node(ranks, here);
	for (size_t i = 0; i < ranks->node_count; i++)
		ranks->nodes[i].current_bytes = ranks->nodes[i].peak_bytes =
			ranks->nodes[i].swap_bytes = 0;
	for (size_t i = 0; i < ranks->count; i++)
		add_to_node(&ranks->nodes[ranks->seen[i].node],
			    &ranks->seen[i].report.host);
	add_to_node(&ranks->nodes[own_node], own);
}

void node_ranks_join(struct node_ranks *ranks, const struct host_reading *own,
		     struct host_reading *host)
{
	*host = *own;
	if (!ranks->folder)
		return;
	sum_nodes(ranks, own);
	for (size_t i = 0; i < ranks->node_count; i++) {
		const struct node_sum *node = &ranks->nodes[i];

		host->current_bytes =
			bytes_max(host->current_bytes, node->current_bytes);
		host->peak_bytes =
			bytes_max(host->peak_bytes, node->peak_bytes);
		host->swap_bytes =
			bytes_max(host->swap_bytes, node->swap_bytes);
	}
	for (size_t i = 0; i < ranks->count; i++) {
		const struct host_reading *rank = &ranks->seen[i].report.host;

		host->largest_vm_peak_bytes =
			bytes_max(host->largest_vm_peak_bytes,
				  rank->largest_vm_peak_bytes);
		host->largest_vm_data_bytes =
			bytes_max(host->largest_vm_data_bytes,
				  rank->largest_vm_data_bytes);
		host->cpu_ticks += rank->cpu_ticks;
		host->io_bytes += rank->io_bytes;
		host->processes += rank->processes;
	}
}

uint64_t node_ranks_available(const struct node_ranks *ranks)
{
	uint64_t least = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		uint64_t bytes = ranks->seen[i].report.available_bytes;

		if (bytes && (!least || bytes < least))
			least = bytes;
	}
	return least;
}

int64_t node_ranks_unseen(const struct node_ranks *ranks)
{
	int64_t unseen = 0;

	for (size_t i = 0; i < ranks->count; i++)
		unseen += ranks->seen[i].report.beats == 0;
	return unseen;
}

bool node_ranks_have_told(const struct node_ranks *ranks, int64_t since_ms)
{
	for (size_t i = 0; i < ranks->count; i++) {
		const struct node_rank_seen *seen = &ranks->seen[i];

		if (!seen->report.beats ||
		    (seen->report.state == NODE_RANK_RUNS &&
		     seen->ms < since_ms))
			return false;
	}
	return true;
}

static bool has_failed(const struct node_report *report)
{
	return report->state != NODE_RANK_RUNS && !report->was_stopped &&
	       report->wait_status != 0;
}

int node_ranks_lost(const struct node_ranks *ranks)
{
	int lost = -1;
	bool others_live = false;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct node_report *report = &ranks->seen[i].report;

		if (report->beats && report->state == NODE_RANK_RUNS)
			others_live = true;
		else if (lost < 0 && has_failed(report))
			lost = (int)i;
	}
	return others_live ? lost : -1;
}

void node_ranks_stop(struct node_ranks *ranks, int64_t grace_ms)
{
	if (ranks->folder)
		put_number(ranks, "stop", grace_ms);
}

void node_ranks_freeze(struct node_ranks *ranks, bool is_to_be)
{
	char *path;

	if (!ranks->folder)
		return;
	if (is_to_be) {
		put_number(ranks, "frozen", 1);
		return;
	}
	path = xasprintf("%s/frozen", ranks->folder);
	(void)unlink(path);
	free(path);
}

bool node_ranks_are_over(const struct node_ranks *ranks)
{
	int64_t now_ms = clock_ms();

	for (size_t i = 0; i < ranks->count; i++) {
		const struct node_rank_seen *seen = &ranks->seen[i];

		if (seen->report.beats &&
		    seen->report.state != NODE_RANK_OVER &&
		    now_ms - seen->ms < SILENT_MS)
			return false;
	}
	return true;
}

void node_ranks_await(struct node_ranks *ranks, const struct channel *channel)
{
	int64_t end_ms = clock_ms() + AWAIT_MAX_MS;

	node_ranks_look(ranks, channel);
	while (!node_ranks_are_over(ranks) && clock_ms() < end_ms) {
		(void)poll(NULL, 0, AWAIT_LOOK_MS);
		node_ranks_look(ranks, channel);
	}
	for (size_t i = 0; i < ranks->count; i++)
		take_files(ranks, i);
}

int32_t node_ranks_kills(const struct node_ranks *ranks, uint64_t *oom_kills)
{
	int64_t kills = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		kills += ranks->seen[i].report.foreign_kills;
		*oom_kills += ranks->seen[i].report.oom_kills;
	}
	return kills > INT32_MAX ? INT32_MAX : (int32_t)kills;
}
