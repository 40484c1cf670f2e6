/* Others that come onto a GPU, or move on it, while a probe runs there. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/gpu_neighbours.h"

#include "base/units.h"
#include "probes/observers/gpu/gpu_tenants.h"
#include "probes/process/proctree.h"

#include <stdio.h>

#define ANCESTORS_MAX 64

static bool gpu_neighbours_is_listed(const struct gpu_tree *tree, pid_t pid)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->pids[i] == pid)
			return true;
	return false;
}

/*
 * It may have been started after the tree was looked at, or by a server (srun)
 * that hands on the environment. One that is gone is nobody.
 */
static bool is_of_probe(const struct gpu_tree *tree, pid_t pid)
{
	struct proc_stat stat = { .ppid = pid };

	for (int i = 0; i < ANCESTORS_MAX && stat.ppid > 1; i++) {
		if (stat.ppid == tree->keeper)
			return true;
		if (proctree_stat(stat.ppid, &stat) < 0)
			break;
	}
	return proctree_is_marked(pid, tree->mark);
}

static bool gpu_neighbours_is_own(struct gpu_neighbours *neighbours,
				  const struct gpu_tree *tree, pid_t pid)
{
	if (pid_list_has(&neighbours->tree, pid))
		return true;
	if (!gpu_neighbours_is_listed(tree, pid) &&
	    (pid_list_has(&neighbours->known, pid) || !is_of_probe(tree, pid)))
		return false;
	/* Remembered: it may be listed for a moment after it has ended. */
	pid_list_insert(&neighbours->tree, pid);
	neighbours->tree_was_listed = true;
	return true;
}

static bool counts(const struct gpu_process *process)
{
	return process->is_compute && !gpu_tenant_is_server(process->pid);
}

void gpu_neighbours_begin(struct gpu_neighbours *neighbours,
			  const struct gpu_listing *listing)
{
	for (int i = 0; i < listing->count; i++) {
		const struct gpu_process *process = &listing->processes[i];

		if (!counts(process) ||
		    (!neighbours->shared &&
		     (!process->used_bytes ||
		      process->used_bytes > GPU_NEIGHBOUR_BASE_BYTES)))
			continue;
		pid_list_insert(&neighbours->known, process->pid);
		neighbours->others_bytes[listing->gpu] += process->used_bytes;
	}
}

static void say_newcomer(const struct gpu_process *process,
			 char text[GPU_NEIGHBOUR_TEXT_MAX])
{
	char bytes[BYTES_TEXT_MAX];

	(void)snprintf(text, GPU_NEIGHBOUR_TEXT_MAX,
		       "another process came onto the GPU: pid %d%s%s",
		       (int)process->pid, process->used_bytes ? ", " : "",
		       process->used_bytes
			       ? bytes_format(bytes, process->used_bytes)
			       : "");
}

static bool has_moved(uint64_t before, uint64_t now,
		      char text[GPU_NEIGHBOUR_TEXT_MAX])
{
	uint64_t difference = before > now ? before - now : now - before;
	char from[BYTES_TEXT_MAX];
	char to[BYTES_TEXT_MAX];

	if (difference <= GPU_NEIGHBOUR_NOISE_BYTES)
		return false;
	(void)snprintf(text, GPU_NEIGHBOUR_TEXT_MAX,
		       "the memory of others on the GPU moved from %s to %s",
		       bytes_format(from, before), bytes_format(to, now));
	return true;
}

bool gpu_neighbours_look(struct gpu_neighbours *neighbours,
			 const struct gpu_listing *listing,
			 const struct gpu_tree *tree,
			 char text[GPU_NEIGHBOUR_TEXT_MAX])
{
	const struct gpu_process *newcomer = NULL;
	uint64_t others = 0;

	for (int i = 0; i < listing->count; i++) {
		const struct gpu_process *process = &listing->processes[i];

		if (gpu_neighbours_is_own(neighbours, tree, process->pid) ||
		    !counts(process))
			continue;
		others += process->used_bytes;
		if (!newcomer &&
		    !pid_list_has(&neighbours->known, process->pid) &&
		    gpu_tenant_is_visible(process->pid))
			newcomer = process;
	}
	if (listing->count < 0 || !neighbours->tree_was_listed)
		return false;
	if (newcomer) {
		say_newcomer(newcomer, text);
		return true;
	}
	return (neighbours->shared || neighbours->known.count) &&
	       has_moved(neighbours->others_bytes[listing->gpu], others, text);
}

void gpu_neighbours_release(struct gpu_neighbours *neighbours)
{
	pid_list_release(&neighbours->known);
	pid_list_release(&neighbours->tree);
}
