/* Slurm's words for the state of a job, and what they mean for a night. Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_EXECUTOR_SLURM_QUEUE_H
#define AUTOFIT_LAUNCHER_NIGHTLY_EXECUTOR_SLURM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/* For squeue: one job on a line, as slurm_queue_next reads it. */
#define SLURM_QUEUE_FORMAT "--format=%i|%T|%r|%B|%j"

struct slurm_queue_line {
	int64_t id;
	int64_t element; /* of the array; -1: it is of none */
	char state[32], reason[64];
	char node[64]; /* of its script; "": none yet */
	char name[256];
};

/* The next line that is a job; *at moves behind it. False: there is none. */
bool slurm_queue_next(const char **at, struct slurm_queue_line *line);

/*
 * Why a job in this state is over, complete with the remedy; NULL: it goes on,
 * also in a state that is not known here. is_lost: not by its own fault.
 */
const char *slurm_state_over(const char *state, bool *is_lost);

/* The state in a word for people: "runs", "queued"; else as Slurm says it. */
const char *slurm_state_word(const char *state);

/*
 * A job that failed for this reason was killed, or never came to its first
 * line: autofit in it did not end by itself, and its journal is there.
 */
bool slurm_reason_lost(const char *reason);

/* Why a pending job would wait for ever, with the remedy; NULL: it will not. */
const char *slurm_reason_stuck(const char *reason);

#endif
