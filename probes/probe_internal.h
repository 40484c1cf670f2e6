/* What the files of the probe share: its handles and all it has seen. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PROBE_INTERNAL_H
#define AUTOFIT_PROBES_PROBE_INTERNAL_H

#include "probes/channel/channel.h"
#include "probes/isolation/scratch_space.h"
#include "probes/keeper/keeper.h"
#include "probes/observers/gpu/gpu_neighbours.h"
#include "probes/observers/gpu/preload.h"
#include "probes/observers/host/host_available.h"
#include "probes/output/failure.h"
#include "probes/output/lines.h"
#include "probes/output/logfile.h"
#include "probes/output/redact.h"
#include "probes/probe.h"
#include "probes/verdict/lifecycle.h"
#include "probes/verdict/reconcile.h"
#include "probes/verdict/step_count.h"

#define PROBE_TICK_MS 20
#define HALF_TIME_SLOTS 256
#define PROBE_OBSERVERS_MAX 16

/* One of the command's two outputs. */
struct probe_stream {
	uv_poll_t poll;
	struct probe *probe;
	struct lines lines;
	struct step_count steps; /* by the counters in its lines */
	struct redact redact;    /* between it and the log */
	bool may_have_secret;    /* in the line under way, or those at hand */
	int fd;                  /* -1: closed */
};

struct probe {
	struct probe_spec spec;
	uv_loop_t *loop;
	struct keeper keeper;
	uv_poll_t control;
	uv_timer_t tick;
	struct probe_stream streams[2]; /* stdout, stderr */
	size_t open_handles;
	enum probe_state state;
	/* Observers. */
	struct host_observer *host;
	struct host_reading host_reading;
	struct channel channel;
	struct channel_reading reading;
	struct preload_reading preload, preload_before;
	struct reconcile reconcile[GPU_MAX];
	bool gpu_used;
	bool gpu_bytes_told; /* NVML says what each process holds */
	bool gpu_bypassed;   /* by a process that the library is not in */
	bool gpu_filled;     /* a device did, whoever it was */
	int gpu_looks_again; /* when it was decided, and not seen exactly */
	enum phase furthest_phase;
	struct gpu_neighbours neighbours;
	struct host_available available; /* of the machine, at the last look */
	struct scratch_space scratch_start;
	int64_t next_ms[PROBE_OBSERVERS_MAX]; /* of each observer */
	/* The log. */
	struct logfile log;
	struct failure failure;
	struct redact redact; /* of texts: one line after the other */
	struct strbuf masked; /* what was just read, for the log */
	struct strbuf line;   /* the line under way */
	char *memory_text, *refused_path;
	int64_t log_since_ms; /* when a counter first rose; -1: not yet */
	struct printed_sizes echo;
	uint64_t output_bytes;
	/* Time: stopped spans are left out. */
	uint64_t started_ns, frozen_ns, frozen_total_ns;
	int64_t last_life_ms;
	uint64_t life_cpu_ticks, life_io_bytes, life_output_bytes;
	uint64_t life_bytes, life_steps, life_launches;
	uint64_t step_launches; /* when a counter in the output last rose */
	uint64_t half_time[HALF_TIME_SLOTS]; /* peak at second i */
	/* Verdict. */
	struct evidence evidence;
	struct lifecycle_limits limits;
	struct step_peaks peaks, host_peaks;
	struct probe_confirmation confirmation;
	bool decided, confirming, by_time, keeper_gone;
	int64_t memory_line_ms;
	uint64_t retries_at_warm_up;
	/* Steps when those were over in which an allocator may retry; 0: they
	 * are not. */
	int64_t warm_steps;
	uint64_t oom_kills_before;
	size_t unhooked;
	int isolation_errno;
	struct strbuf first_error;
	struct strlist modules;
};

/* Milliseconds since the start, without the time it was stopped. */
int64_t probe_now_ms(const struct probe *probe);

/* probe_watch.c: look at everything once; updates readings and peaks. */
void probe_watch(struct probe *probe);
/* The same, of processes that the hook or the library is not in. */
void probe_watch_unhooked(struct probe *probe);
/* Steps by the best source there is, and which one that is. */
int64_t probe_steps(const struct probe *probe, enum steps_source *source);
/* The peak of the device the verdict is about. */
uint64_t probe_peak(const struct probe *probe);
bool probe_is_cuda(const struct probe *probe);
/* Retries of the allocator, by whoever counts more of them. */
uint64_t probe_retries(const struct probe *probe);
struct lifecycle_facts probe_facts(const struct probe *probe);

/* probe_gpu.c: its GPUs, from inside and from outside. */
int probe_open_gpus(struct probe *probe, struct error *err);
void probe_watch_preload(struct probe *probe);
void probe_watch_gpus(struct probe *probe);
/* A few ticks more, for a reading that makes its peak exact. */
bool probe_looks_again(struct probe *probe);
uint64_t probe_gpu_peak(const struct probe *probe);
enum coverage probe_gpu_coverage(const struct probe *probe);
void probe_gpu_evidence(struct probe *probe);

/* probe_outcome.c: growth that is noise on this device; the last readings. */
const struct growth_noise *probe_noise(const struct probe *probe);
void probe_collect_evidence(struct probe *probe);

/* probe_output.c: before the first byte. */
void probe_open_output(struct probe *probe);
/* Read what waits in a stream; false at its end. */
bool probe_read_stream(struct probe_stream *stream);
void probe_finish_stream(struct probe_stream *stream);
/* The texts that leave the probe: what they show has no secrets in it. */
void probe_finish_texts(struct probe *probe);
void probe_release_output(struct probe *probe);

/* probe_surroundings.c: GPUs' other tenants, the machine's memory, scratch. */
int probe_open_surroundings(struct probe *probe, struct error *err);
void probe_watch_available(struct probe *probe);
void probe_watch_scratch(struct probe *probe);
void probe_watch_neighbours(struct probe *probe,
			    const struct gpu_listing *listing);
/* The command ended by itself: was it they that ended it? */
void probe_ask_surroundings(struct probe *probe);

#endif
