/* A running probe: made of what each of its files has seen. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PROBE_INTERNAL_H
#define AUTOFIT_PROBES_PROBE_INTERNAL_H

#include "probes/channel/channel.h"
#include "probes/channel/started.h"
#include "probes/isolation/scratch_space.h"
#include "probes/nodes/node_ranks.h"
#include "probes/observers/host/host.h"
#include "probes/observers/host/host_available.h"
#include "probes/probe.h"
#include "probes/probe_clock.h"
#include "probes/probe_gpu.h"
#include "probes/probe_output.h"
#include "probes/verdict/step_times.h"

#define PROBE_TICK_MS 20
#define HALF_TIME_SLOTS 256
#define PROBE_OBSERVERS_MAX 16

/* Counters that rise while a probe is alive. */
struct probe_life {
	uint64_t cpu_ticks, io_bytes, output_bytes, memory_bytes;
	uint64_t steps, launches;
};

/* What the observers of probe_watch.c have read. */
struct probe_readings {
	struct host_observer *observer;
	struct host_reading own;  /* of its descendants, by those looks */
	struct host_reading host; /* with the ranks on all nodes */
	struct node_ranks ranks;  /* closed where all are descendants */
	int64_t ranks_asked_ms;   /* since when their reports are waited for */
	struct channel channel;
	struct channel_reading python;
	/* A rank is behind, and waited for: no step counts before its first. */
	bool awaits_rank;
	int64_t rank_behind_ms; /* when the first was; 0: none so far */
	enum phase furthest_phase;
	bool has_evaluated;              /* behind a step */
	struct host_available available; /* of the machine, at the last look */
	struct scratch_space scratch_start;
	const char *scratch_full;             /* the folder; NULL: it is not */
	int64_t next_ms[PROBE_OBSERVERS_MAX]; /* of each observer */
	struct probe_life life;               /* at the last look */
	int64_t last_life_ms;                 /* when any of it rose */
	/* The memory of all devices when it last rose, and when that was. */
	uint64_t risen_bytes;
	int64_t risen_ms;
	uint64_t half_time[HALF_TIME_SLOTS]; /* peak at second i */
	struct step_peaks peaks;
	struct step_times times;
	struct step_times pass_times; /* of the passes after the first step */
	/* Steps when those were over in which an allocator may retry, and its
	 * retries until then; 0: they are not over. */
	int64_t warm_steps;
	uint64_t warm_retries;
	int lost_rank; /* see probe_ranks.h; -1: none */
	int64_t rank_lost_ms;
	/* The last refusal that was found open: of how many, after how many
	 * steps. */
	struct open_refusal {
		uint64_t refusals;
		int64_t rounds;
	} open_refusal;
	size_t unhooked; /* see struct probe_outcome */
	/* What launchers that wait for the one process that steps hold. */
	uint64_t launcher_bytes;
	/* When the command had ended by itself, and the steps that were made a
	 * moment later; negative: not yet. */
	int64_t ended_ms, steps_left;
	bool would_leave; /* a program was called that sends work elsewhere */
};

/* How far its verdict has come; by probe.c and probe_decide.c. */
struct probe_course {
	enum probe_state state;
	struct lifecycle_limits limits;
	bool decided, confirming, by_time, keeper_gone;
	/* When the command itself is to be told to end, at the latest: not
	 * before its ranks elsewhere are over. 0: it is not, or was. */
	int64_t end_due_ms;
	enum keeper_order end_order;
	/* When a probe that was cancelled is not waited for any more; 0: it is
	 * waited for. */
	int64_t leave_due_ms;
	bool is_left; /* it was not */
};

struct probe {
	struct probe_spec spec;
	/* Handles of the loop, by probe.c; more are in output. */
	uv_loop_t *loop;
	uv_poll_t control;
	uv_timer_t tick;
	size_t open_handles;
	struct keeper keeper;
	struct probe_clock clock;
	struct probe_output output;
	struct probe_gpus gpus;
	struct probe_readings readings;
	struct probe_course course;
	uint64_t oom_kills_before;
	/* end is written as it comes, the rest when the probe is over. */
	struct evidence evidence;
	struct strlist modules, opened, imports;
	struct started started;
};

/* probe_watch.c: before the first process. */
int probe_watch_open(struct probe *probe, struct error *err);
/* Let the observers look whose time has come. */
void probe_watch(struct probe *probe);
/*
 * A probe that has seen enough is not to end yet: ranks elsewhere have to
 * report of the steps until the first call of this (ranks_asked_ms 0 makes the
 * next one the first), or an allocation was refused, and neither has its
 * program shown what came of that, nor ended a step since.
 */
bool probe_watch_awaits(struct probe *probe);
/* The same of a probe that is to be decided; looks once more where its peak may
 * become exact so. */
bool probe_watch_more(struct probe *probe);
/* Is the peak another than at the last look, for that had put off a reading? */
bool probe_watch_catches_up(struct probe *probe);
/* The command is gone: the peak becomes what the kernel's maximum for it says,
 * where that is more. In bytes; 0: not known. */
void probe_watch_command_ended(struct probe *probe,
			       uint64_t max_resident_bytes);
/* The command ended by itself: was it the surroundings that ended it? */
void probe_watch_end(struct probe *probe);
struct lifecycle_facts probe_watch_facts(const struct probe *probe);

/* probe_seen.c. Steps by the best source there is, and which one that is. */
int64_t probe_steps(const struct probe *probe, enum steps_source *source);
/*
 * Backward passes after the first optimizer step; 0: not known, or that step
 * had another number of them than it was told, or the model is compiled on its
 * way.
 */
int64_t probe_later_passes(const struct probe *probe);
/* Those, where they are told to count as steps do, once
 * confirmation.whole_steps have ended; 0: they do not. */
int64_t probe_passes(const struct probe *probe);
/* Retries of the allocator, by whoever counts more of them. */
uint64_t probe_retries(const struct probe *probe);
/* The peak of the device the verdict is about. */
uint64_t probe_peak(const struct probe *probe);
bool probe_is_cuda(const struct probe *probe);
/*
 * What of that peak is held between two steps; 0: not known. On a GPU what the
 * peak has beside torch's own (the context, blocks that are cached) stays too.
 */
uint64_t probe_rest(const struct probe *probe);
/* What a forward pass leaves for its backward pass; 0: not known, or passes
 * differ. */
uint64_t probe_forward(const struct probe *probe);
/* What a pass takes for a while above what is held before and behind it; 0: not
 * known, or passes differ, or the first ones compile the model. */
uint64_t probe_pass(const struct probe *probe);

/* probe_ahead.c: after each look at memory. */
void probe_ahead_note(struct probe *probe);
/* The peak has risen just now, the first counter is not long ago, and other
 * threads may still be at what was counted. */
bool probe_memory_comes(const struct probe *probe);

/*
 * probe_decide.c: by the last look, why the probe is to end now; STOP_NONE: it
 * goes on. Where it has become decided, its course says so.
 */
enum stop_reason probe_decide(struct probe *probe);

/* probe_outcome.c: growth that is noise on this device. */
const struct growth_noise *probe_noise(const struct probe *probe);
/* The last readings, once the keeper is gone. */
void probe_collect_evidence(struct probe *probe);

#endif
