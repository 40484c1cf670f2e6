/* A process that asks the driver, and may hang or die of it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_GPU_GPU_CHILD_H
#define AUTOFIT_PROBES_OBSERVERS_GPU_GPU_CHILD_H

#include "base/error.h"
#include "probes/observers/gpu/gpu.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct gpu_child {
	pid_t pid; /* 0: none */
	int fd;    /* a socket of whole records; -1: none */
};

#define GPU_CHILD_INIT                                                         \
	{                                                                      \
		.pid = 0, .fd = -1                                             \
	}

/*
 * Fork a process that calls run with its end of the socket and ends after it.
 * It dies with this one, leaves no core file, and what the driver prints in it
 * is nobody's output. 0, or -errno.
 */
int gpu_child_start(struct gpu_child *child,
		    void (*run)(const void *context, int fd),
		    const void *context, struct error *err);

/* How long an answer is waited for, and what is said meanwhile. */
struct gpu_wait {
	const char *what; /* is awaited */
	int64_t deadline_ms;
	int64_t started_ms; /* on clock_ms: the limit of the patience counts */
	const struct gpu_patience *patience; /* NULL: there is none */
};

/*
 * Until a record can be taken or the process has ended: 0. A wait of more than
 * 3 s is told. -ETIMEDOUT after deadline_ms; -ETIME and -EINTR by the patience.
 * err says what was awaited.
 */
int gpu_child_await(const struct gpu_child *child, const struct gpu_wait *wait,
		    struct error *err);

/*
 * Wait for it until then, on clock_ms, and take its status. False: it still
 * runs, or somebody else took the status.
 */
bool gpu_child_reap(struct gpu_child *child, int64_t deadline_ms, int *status);

/* Kill it if it is still there, and close the socket. Takes a second at most:
 * one that is stuck inside the kernel ends when the driver lets go of it. */
void gpu_child_end(struct gpu_child *child);

#endif
