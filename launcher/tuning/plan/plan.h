/* Plans the next step of a tuning: search, then confirm. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_PLAN_PLAN_H
#define AUTOFIT_LAUNCHER_TUNING_PLAN_PLAN_H

#include "base/batch.h"
#include "base/trial.h"
#include "launcher/command/parts/command.h"
#include "search/search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exact splits beyond this many are not told apart. */
#define PLAN_SPLITS_MAX 4096

enum plan_mode {
	PLAN_KEEP,    /* the largest exact split of the effective batch */
	PLAN_GROW,    /* the largest micro-batch; the effective batch grows */
	PLAN_LARGEST, /* both: largest micro-batch and best exact split */
};

struct plan {
	enum plan_mode mode;
	const struct search_strategy *strategy;
	/* Asked for. effective_batch 0: not known, PLAN_GROW and _LARGEST. */
	struct batch asked;
	bool has_accumulation; /* the command has such an option */
	/* Memory grows with it, or a probe with less of it failed: probe the
	 * real one. */
	bool accum_matters;
	/* What the framework asks of a split; its words are not the plan's. */
	struct command_constraints constraints;
	/* PLAN_LARGEST: the size next to the answer is run as well, where only
	 * a prediction says that it does not fit. */
	bool proves_misfit;
	/* Of the splits that fit the fastest is the answer: the command's own,
	 * one half way to the largest and that one are timed. */
	bool takes_fastest;
	int64_t own_micro; /* of the command as it is; 0: not known */
	/* Limits, start, growth; candidates are filled in by plan_next. */
	struct search_problem problem;
};

enum plan_action {
	PLAN_PROBE,
	PLAN_DONE,
	PLAN_NOTHING_FITS, /* largest_micro: the largest that does, or 0 */
};

struct plan_step {
	enum plan_action action;
	int64_t micro_batch;     /* to probe, or the recommended one */
	int64_t final_accum;     /* what a run with micro_batch would use */
	int64_t probe_accum;     /* what the probe is to use */
	bool is_confirmation;    /* it has fitted; now for longer */
	int64_t largest_micro;   /* PLAN_GROW, _LARGEST: largest that fits */
	int64_t smallest_misfit; /* of the search; 0: none */
	enum misfit_by misfit_by;
};

/*
 * Of several trials of one size the last counts. A fit is recommended only
 * once it was confirmed (trial_is_confirmed).
 */
struct plan_step plan_next(const struct plan *plan, const struct trial *trials,
			   size_t count);

/*
 * Would this trial, were it the last, make its size the answer? Then the
 * probe that is still running goes on as its own confirmation.
 */
bool plan_wants_confirmed(const struct plan *plan, const struct trial *trials,
			  size_t count, const struct trial *running);

/*
 * Sizes ran out of memory only after as many steps as shorter probes of
 * smaller sizes had made: those fits are doubtful, and only confirmed ones are
 * believed from the second such size on. What fails late for another reason,
 * no short probe can show: there one is enough.
 */
bool plan_doubts_short_fits(const struct trial *trials, size_t count);

/* A probe of a size that is not to be the answer. */
struct plan_step plan_probe(const struct plan *plan, int64_t micro_batch);

/* The largest split there is up to this size; the size itself where no split is
 * to be kept, or none is so small. */
int64_t plan_split_at_most(const struct plan *plan, int64_t micro_batch);

/* The least that shows what a probe of this size takes. */
int64_t plan_least_accum(const struct plan *plan, int64_t micro_batch);

/* The accumulation a run with micro_batch uses; 1 without accumulation. */
int64_t plan_final_accum(const struct plan *plan, int64_t micro_batch);

#endif
