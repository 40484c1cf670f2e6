/* One look of `devices --watch`: a line each, a table, a JSON object. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_DEVICES_DEVICES_SAMPLE_H
#define AUTOFIT_LAUNCHER_DEVICES_DEVICES_SAMPLE_H

#include "base/strbuf.h"
#include "launcher/devices/devices_need.h"
#include "launcher/report/report.h"
#include "probes/observers/gpu/gpu.h"
#include "probes/observers/host/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Nothing in it is owned. Bytes are 0 where they are not known. */
struct sample_gpu {
	const struct gpu_device *gpu;
	uint64_t total_bytes;
	bool has_memory; /* the two are known */
	uint64_t used_bytes, free_bytes;
	uint64_t peak_bytes;        /* largest used_bytes since the start */
	int process_count;          /* -1: not known */
	struct gpu_process largest; /* pid 0: none */
	const char *user;           /* whose largest is; NULL: not known */
	const struct devices_need *need;
	const char *problem; /* NULL: none */
};

struct sample_host {
	const struct host_budget *budget;
	uint64_t used_bytes, peak_bytes;
	const struct devices_need *need;
	const char *problem; /* NULL: none, and budget is filled in */
};

struct devices_sample {
	struct timespec time;
	double interval_seconds;
	const char *machine; /* its name */
	const char *problem; /* with the GPUs as a whole; NULL: none */
	struct sample_gpu gpus[GPU_MAX];
	size_t gpu_count;
	struct sample_host host;
};

/* Each appends. A line for each device, beginning with the time. */
void sample_lines(const struct devices_sample *sample, struct strbuf *out);

/* Lines of at most style->columns. */
void sample_table(const struct devices_sample *sample,
		  const struct report_style *style, struct strbuf *out);

/* One line: autofit.devices.sample/1. */
void sample_json(const struct devices_sample *sample, struct strbuf *out);

#endif
