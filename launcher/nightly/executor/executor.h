/* Where the jobs of a night run: here, or through Slurm. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_EXECUTOR_EXECUTOR_H
#define AUTOFIT_LAUNCHER_NIGHTLY_EXECUTOR_EXECUTOR_H

#include "base/error.h"
#include "base/strbuf.h"
#include "launcher/nightly/jobs/jobs.h"
#include "probes/process/process_state.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of Slurm: its default of MaxArraySize allows one more. */
#define EXECUTOR_TOGETHER_MAX 1000

/* A job that runs or waits to: `autofit tune`, this very program. */
struct executor_task {
	const struct job *job;
	struct strlist arguments; /* of autofit, its name first */
	char *json;               /* file that receives its result */
	char *log;                /* file that receives what it says */
	uint64_t mark;            /* of this job in this night */
	bool has_ended;
	/* It ended through no fault of its own: start it again. */
	bool is_lost;
	/* Why it ended without a result; NULL: it has one. */
	char *message;
	/* There was no room for it after all: start it later. */
	bool is_put_off;
	pid_t pid;              /* local */
	int64_t slurm_id;       /* 0: taken over, not yet seen */
	int64_t slurm_element;  /* of an array; negative: of none */
	bool slurm_has_run;     /* squeue said so */
	const char *slurm_over; /* why Slurm says it is over; NULL: it is not */
	bool slurm_lost;        /* and that it was not its fault */
	/* For people: "runs", "queued", and on which node; "": not known. */
	char state[32], node[64];
	unsigned slurm_absent; /* answers of squeue that did not name it */
	int64_t slurm_over_ms; /* since when it is over */
};

struct executor {
	const struct executor_ops *ops;
	const struct process_state *state;
	const char *folder;  /* absolute: scripts, logs, and results */
	size_t together_max; /* tasks that it starts in one call; 1: by one */
	struct strbuf queue; /* the last answer of squeue */
	int64_t asked_ms;    /* when; 0: never */
	bool has_failed;     /* it did not answer, and that was said */
	size_t look_at;      /* task whose result is looked for next */
};

struct executor_ops {
	/* Between two looks. */
	long look_ns;
	/* A job that was stopped is waited for. */
	bool awaits_stopped;
	/* Can jobs run there at all? Told before anything starts; says how
	 * many it starts together. */
	int (*open)(struct executor *executor, struct error *err);
	/*
	 * All of them ask Slurm for the same, and at most at_once run at once.
	 * Some may be put off. -errno when none can be started at all.
	 */
	int (*start)(struct executor *executor, struct executor_task **tasks,
		     size_t count, size_t at_once, struct error *err);
	/* Sets has_ended, is_lost and message of those that ended. */
	void (*look)(struct executor *executor, struct executor_task **tasks,
		     size_t count);
	/* number: the signal that ends the night, or SIGTERM. */
	void (*stop)(struct executor *executor, struct executor_task **tasks,
		     size_t count, int number);
};

/* When the night is killed its job ends too, and keeps its journal. */
extern const struct executor_ops executor_local;
/* When the night is killed its jobs go on; the next one takes them over. */
extern const struct executor_ops executor_slurm;

/* For a task that failed to start or gave no result; takes what over. */
void executor_task_end(struct executor_task *task, char *message);
/* What people see of it; a text that is too long is cut. */
void executor_task_tell(struct executor_task *task, const char *state,
			const char *node);
void executor_task_release(struct executor_task *task);
void executor_release(struct executor *executor);

#endif
