/* What others do around a probe: on its GPUs, in memory, on its disk. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_internal.h"

#include "base/alloc.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static_assert(NEIGHBOUR_TEXT_MAX == GPU_NEIGHBOUR_TEXT_MAX,
	      "a text that is cut on its way into the evidence");

static struct gpu_listing list_processes(const struct probe *probe, size_t gpu,
					 struct gpu_process *processes)
{
	return (struct gpu_listing){
		.gpu = gpu,
		.processes = processes,
		.count = nvml_processes(probe->spec.nvml,
					probe->spec.gpus[gpu].uuid, processes,
					NULL),
	};
}

static void begin_neighbours(struct probe *probe)
{
	struct gpu_process processes[GPU_PROCESSES_MAX];

	probe->neighbours.shared = probe->spec.shared;
	for (size_t i = 0; probe->spec.nvml && i < probe->spec.gpu_count; i++) {
		struct gpu_listing listing =
			list_processes(probe, i, processes);

		gpu_neighbours_begin(&probe->neighbours, &listing);
	}
}

int probe_open_surroundings(struct probe *probe, struct error *err)
{
	struct error why = ERROR_INIT;
	int result = 0;

	begin_neighbours(probe);
	/* Without a reading nothing is claimed of the machine's memory. */
	if (host_available_read(&probe->available, "/proc", NULL) == 0)
		probe->limits.available_floor_bytes =
			host_available_floor(&probe->available);
	if (probe->spec.scratch)
		result = scratch_space_check(probe->spec.scratch,
					     &probe->scratch_start, &why);
	/* A file system that cannot be asked may still have room. */
	if (result == -ENOSPC || result == -EROFS)
		return error_set(err, result, "%s", why.message);
	return 0;
}

void probe_watch_neighbours(struct probe *probe,
			    const struct gpu_listing *listing)
{
	struct gpu_tree tree = { .keeper = probe->keeper.pid };
	char *mark = xasprintf("AUTOFIT_PROBE=%s", probe->spec.id);
	char text[GPU_NEIGHBOUR_TEXT_MAX];

	tree.mark = mark;
	tree.pids = host_observer_pids(probe->host, &tree.count);
	/* The first that came is the one that is named. */
	if (gpu_neighbours_look(&probe->neighbours, listing, &tree, text) &&
	    !probe->evidence.outside.neighbour_moved[0])
		(void)memcpy(probe->evidence.outside.neighbour_moved, text,
			     sizeof(text));
	free(mark);
}

void probe_watch_scratch(struct probe *probe)
{
	if (probe->spec.scratch &&
	    scratch_space_is_full(probe->spec.scratch, &probe->scratch_start,
				  probe->spec.scratch_reserve_bytes))
		probe->evidence.outside.scratch_full = probe->spec.scratch;
}

void probe_watch_available(struct probe *probe)
{
	/* What was read last stands when this one fails. */
	(void)host_available_read(&probe->available, "/proc", NULL);
}

void probe_ask_surroundings(struct probe *probe)
{
	struct gpu_process processes[GPU_PROCESSES_MAX];
	int status = probe->evidence.end.wait_status;

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	for (size_t i = 0; probe->spec.nvml && i < probe->spec.gpu_count; i++) {
		struct gpu_listing listing =
			list_processes(probe, i, processes);

		probe_watch_neighbours(probe, &listing);
	}
	probe_watch_scratch(probe);
}
