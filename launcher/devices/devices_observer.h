/* NVML asked again and again, in a process of its own that may hang or die. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_DEVICES_DEVICES_OBSERVER_H
#define AUTOFIT_LAUNCHER_DEVICES_DEVICES_OBSERVER_H

#include "base/error.h"
#include "launcher/devices/devices.h"
#include "probes/observers/gpu/gpu.h"

#include <stdint.h>

#define DEVICES_PROBLEM_MAX 200

/* One device at one look. */
struct devices_reading {
	uint64_t total_bytes, free_bytes;  /* total 0: not known */
	int process_count;                 /* -1: not known */
	struct gpu_process largest;        /* pid 0: there is none */
	char problem[DEVICES_PROBLEM_MAX]; /* what is missing and why, or "" */
};

/* In the order of struct devices. */
struct devices_readings {
	struct devices_reading gpus[GPU_MAX];
};

struct devices_observer;

/*
 * For the GPUs of devices, which must outlive it. No process is started yet.
 * The caller closes.
 */
struct devices_observer *devices_observer_open(const struct devices *devices);
void devices_observer_close(struct devices_observer *observer);

/*
 * Ask for a look. The process that is asked opens NVML at its first one and
 * keeps it, and dies with this one; after its death another is started. 0, or
 * -errno when that cannot be done.
 */
int devices_observer_ask(struct devices_observer *observer, struct error *err);

/* Readable when the answer or the end of the process has come; -1: none. */
int devices_observer_fd(const struct devices_observer *observer);

/* 0, or -errno when the process has died, of what the driver does in it. */
int devices_observer_take(struct devices_observer *observer,
			  struct devices_readings *readings, struct error *err);

#endif
