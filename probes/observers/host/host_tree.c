/* The processes below one, as looks have found them, with their counters. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/host/host_tree.h"

#include "base/alloc.h"
#include "probes/process/proctree.h"

#include <assert.h>
#include <stdlib.h>

#define WORK_EVERY_MS 200
/* One part in so many of a CPU may go into the children of all threads. */
#define WALK_PART 50

static void retire(struct host_tree *tree, struct host_process *process)
{
	tree->ended_cpu_ticks += process->cpu_ticks;
	tree->ended_io_bytes += process->io_bytes;
	tree->changes++;
	host_process_close(process);
}

static void look_at_known(struct host_tree *tree)
{
	size_t kept = 0;

	for (size_t i = 0; i < tree->count; i++) {
		struct host_process *process = &tree->processes[i];

		if (host_process_look(process) < 0)
			retire(tree, process);
		else
			tree->processes[kept++] = *process;
	}
	assert(kept <= tree->count);
	tree->count = kept;
}

static void host_add(struct host_tree *tree, const struct host_process *process)
{
	size_t at = tree->count++;

	tree->changes++;
	if (tree->count > tree->capacity) {
		tree->capacity = 2 * tree->count;
		tree->processes = xrealloc(tree->processes, tree->capacity,
					   sizeof(*tree->processes));
	}
	while (at && tree->processes[at - 1].pid > process->pid) {
		tree->processes[at] = tree->processes[at - 1];
		at--;
	}
	tree->processes[at] = *process;
	assert(!at || tree->processes[at - 1].pid < process->pid);
}

const struct host_process *host_tree_find(const struct host_tree *tree,
					  pid_t pid)
{
	size_t low = 0;
	size_t high = tree->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tree->processes[middle].pid == pid)
			return &tree->processes[middle];
		if (tree->processes[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Known processes stay known by themselves: the walk need not be whole. */
static void find_new(struct host_tree *tree, int64_t now_ms)
{
	struct pid_list *found = &tree->found;

	if (host_pace_is_due(&tree->walk, now_ms, WALK_PART)) {
		int64_t began_ns = host_pace_begin();

		(void)proctree_descendants(tree->root, PROCTREE_WHOLE, found);
		host_pace_taken(&tree->walk, now_ms, began_ns);
	} else {
		(void)proctree_descendants(tree->root, PROCTREE_QUICK, found);
	}
	for (size_t i = 0; i < found->count; i++) {
		struct host_process process;

		if (host_tree_find(tree, found->items[i]) ||
		    host_process_open(&process, found->items[i]) < 0)
			continue;
		pid_list_insert(&tree->ever, process.pid);
		if (host_process_look(&process) == 0)
			host_add(tree, &process);
		else
			host_process_close(&process);
	}
}

static void list_pids(struct host_tree *tree)
{
	tree->pids.count = 0;
	for (size_t i = 0; i < tree->count; i++)
		pid_list_append(&tree->pids, tree->processes[i].pid);
	assert(tree->pids.count == tree->count);
}

static void look_at_work(struct host_tree *tree, int64_t now_ms)
{
	bool is_due = now_ms >= tree->work_next_ms;

	tree->cpu_ticks = tree->ended_cpu_ticks;
	tree->io_bytes = tree->ended_io_bytes;
	if (is_due)
		tree->work_next_ms = now_ms + WORK_EVERY_MS;
	for (size_t i = 0; i < tree->count; i++) {
		struct host_process *process = &tree->processes[i];

		if (is_due)
			host_process_look_at_work(process);
		tree->cpu_ticks += process->cpu_ticks;
		tree->io_bytes += process->io_bytes;
	}
}

void host_tree_look(struct host_tree *tree, int64_t now_ms)
{
	look_at_known(tree);
	find_new(tree, now_ms);
	list_pids(tree);
	look_at_work(tree, now_ms);
}

void host_tree_release(struct host_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		host_process_close(&tree->processes[i]);
	free(tree->processes);
	pid_list_release(&tree->pids);
	pid_list_release(&tree->ever);
	pid_list_release(&tree->found);
}
