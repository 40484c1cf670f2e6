/* Is a running probe decided, or to be stopped? Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_VERDICT_LIFECYCLE_H
#define AUTOFIT_PROBES_VERDICT_LIFECYCLE_H

#include "probes/verdict/step_peaks.h"
#include "probes/verdict/verdict.h"

#include <stdbool.h>
#include <stdint.h>

/* After this many steps an unstable peak is judged as it stands. */
#define UNSTABLE_STEPS_MAX 10
/* Without a step source: this long, and no growth in the second half. */
#define TIME_ONLY_MS 60000
/* After an out-of-memory line, or the end of one rank of several: time to print
 * the rest and end by itself. */
#define LAST_WORDS_MS 2000

struct lifecycle_limits {
	uint64_t limit_bytes, host_limit_bytes; /* 0: none */
	/* With less of the machine's memory available, others took it. */
	uint64_t available_floor_bytes;
	struct growth_noise noise;
	int64_t steps_needed;
	int64_t startup_timeout_ms;
	int64_t timeout_ms; /* whole probe; 0: none */
	/* --probe-timeout was given: it holds before the first step too. */
	bool timeout_covers_start;
};

struct lifecycle_facts {
	int64_t now_ms;         /* since the start; stopped time left out */
	int64_t last_life_ms;   /* last step, output, CPU, I/O or growth */
	int64_t memory_line_ms; /* when it said out of memory; -1: not */
	uint64_t peak_bytes, host_peak_bytes;
	uint64_t half_time_peak_bytes; /* the peak at now_ms / 2 */
	uint64_t available_bytes;      /* of the machine's memory */
	int64_t steps;                 /* or rounds: see trial_rounds_of */
	/* The allocator had freed and retried by this step: only a later step
	 * shows whether it goes on so. 0: it did not, or is not warm yet. */
	int64_t retried_steps;
	bool steps_will_come; /* the step hook is installed */
	/* Since when a rank is gone that the others wait for; 0: none is. */
	int64_t rank_lost_for_ms;
	bool neighbour_moved; /* see gpu_neighbours.h */
	bool scratch_full;    /* see scratch_space.h */
};

enum lifecycle_action { LIFECYCLE_GO_ON, LIFECYCLE_DECIDED, LIFECYCLE_STOP };

/* reason is set with LIFECYCLE_STOP; by_time with LIFECYCLE_DECIDED. */
struct lifecycle_step {
	enum lifecycle_action action;
	enum stop_reason reason;
	bool by_time;
};

struct lifecycle_step lifecycle_next(const struct lifecycle_limits *limits,
				     const struct lifecycle_facts *facts,
				     const struct step_peaks *peaks);

/* The limits alone: what must stop it even once it is decided. */
enum stop_reason lifecycle_breach(const struct lifecycle_limits *limits,
				  const struct lifecycle_facts *facts);

#endif
