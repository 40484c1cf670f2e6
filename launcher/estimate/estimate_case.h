/* One run to be estimated: its model, its sizes, the GPU it is to fit on. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_CASE_H
#define AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_CASE_H

#include "base/error.h"
#include "base/strlist.h"
#include "configs/models/gpus.h"
#include "configs/models/models.h"
#include "estimator/estimator.h"
#include "launcher/command/parts/command.h"
#include "launcher/options/estimate_request.h"
#include "launcher/options/options.h"
#include "probes/process/process_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Tokens of a sample where nothing is said, and the model has as many. */
#define ESTIMATE_SEQUENCE 2048

struct estimate_gpu {
	char name[GPU_MODEL_NAME_MAX]; /* or what names it: "--gpu-memory" */
	int64_t usable_bytes;          /* 0: none is known */
	int compute_major;             /* 0: not known */
};

struct estimate_case {
	const struct options *options;
	bool has_model;
	struct model_facts model;
	char *source; /* "config.json in models/x", "known by name" */
	struct workload run;
	int64_t gpu_count;       /* GPUs of the whole run */
	int64_t effective_batch; /* wished, or of the command; 0: not said */
	struct strlist assumed;  /* what was not said, and is taken */
	bool assumes_amp;     /* nobody said a precision of what is trained */
	struct strlist notes; /* what was not understood */
	struct estimate_gpu gpu;
	struct gpu_catalogue gpus;
	char *folder; /* of the user's data files; NULL: none */
	struct strlist environment;
	struct model_table known; /* models by name */
};

/*
 * From the options, and what they name. 0, or an exit code (exitcode.h) with
 * err. Faults of the user's files go to warnings. The caller releases the case
 * always.
 */
int estimate_case_open(struct estimate_case *all, const struct options *options,
		       const struct process_state *state,
		       struct strlist *warnings, struct error *err);
void estimate_case_release(struct estimate_case *all);

/*
 * The parts of that for a command that is read already: its model and its run,
 * with no GPU. -ENODATA: it names no model that can be read; err says what
 * would do.
 */
int estimate_case_of_command(struct estimate_case *all,
			     const struct command *command,
			     const struct options *options,
			     const struct strlist *environment,
			     struct error *err);

/* Defaults for what was not said; -EINVAL: numbers that do not go together. */
int estimate_case_complete(struct estimate_case *all, struct error *err);

#endif
