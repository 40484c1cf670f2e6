/* `autofit devices`: what autofit would tune for, and who uses it now. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_DEVICES_DEVICES_H
#define AUTOFIT_LAUNCHER_DEVICES_DEVICES_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "launcher/options/options.h"
#include "probes/observers/gpu/gpu.h"
#include "probes/observers/host/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct devices_process {
	struct gpu_process process;
	char *user; /* NULL: not a process of this PID namespace */
};

struct devices_gpu {
	struct gpu_device gpu;
	struct devices_process *processes;
	int process_count; /* -1: not known */
};

struct devices {
	struct devices_gpu *gpus;
	size_t gpu_count;
	/* What could not be observed, in words for the user; or NULL. */
	char *gpu_problem, *nvml_problem, *host_problem;
	int known_gpu_count;     /* by the kernel driver, visible or not */
	bool has_looked_at_gpus; /* not with --device host */
	struct host_budget host; /* zeroed when host_problem is set */
	char *visible;           /* CUDA_VISIBLE_DEVICES; NULL: not set */
};

/*
 * Looks at all that --device allows. A device that cannot be observed is a
 * problem in words, not a failure. The caller releases devices.
 */
void devices_look(struct devices *devices, const struct options *options,
		  const struct strlist *environment,
		  const struct host_roots *roots);
void devices_release(struct devices *devices);

/* The same without NVML in this process: no GPU's processes are known. */
void devices_list(struct devices *devices, const struct options *options,
		  const struct strlist *environment,
		  const struct host_roots *roots);

/*
 * Who owns the process; NULL when the pid is not one we can see. The caller
 * frees it.
 */
char *devices_user_of(const char *proc_root, pid_t pid);

/* Each appends; the JSON object is autofit.devices/1, with a newline. columns:
 * of the terminal. */
void devices_table(const struct devices *devices, size_t columns,
		   struct strbuf *out);
void devices_json(const struct devices *devices, struct strbuf *out);

/*
 * The sub-command: the table on stdout, with --json - the object instead, with
 * --json FILE both. Returns the exit code: 0, or 125 when the GPUs could not
 * be observed or --device names one that is not there.
 */
int devices_command(const struct options *options,
		    const struct strlist *environment);

#endif
