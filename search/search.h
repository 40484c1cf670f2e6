/* Which micro-batch next: a function from the finished trials to a question. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_SEARCH_SEARCH_H
#define AUTOFIT_SEARCH_SEARCH_H

#include "base/trial.h"
#include "search/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tuning never has more probes than this. */
#define SEARCH_TRIALS_MAX 256

enum search_state {
	SEARCH_PROBE,        /* run micro_batch next */
	SEARCH_DONE,         /* micro_batch is the largest that fits */
	SEARCH_NOTHING_FITS, /* every candidate left is too large */
};

/* Why the size above the answer is called too large. */
enum misfit_by {
	MISFIT_BY_NONE,       /* there is no larger candidate */
	MISFIT_BY_PROBE,      /* it ran and did not fit */
	MISFIT_BY_PREDICTION, /* the memory line says so */
	MISFIT_BY_RECORD,     /* a recorded tuning under this limit says so */
};

struct search_answer {
	enum search_state state;
	int64_t micro_batch;     /* question or answer; 0: nothing fits */
	int64_t smallest_misfit; /* 0: not known */
	enum misfit_by misfit_by;
};

struct search_strategy {
	const char *name;
	struct search_answer (*next)(const struct search_problem *problem,
				     const struct trial *trials, size_t count);
};

/* NULL ends the table; the first is the default. */
extern const struct search_strategy *const search_strategies[];
const struct search_strategy *search_strategy_find(const char *name);

/*
 * Trials whose verdict is neither fit nor misfit (failed, disturbed) are
 * passed over: whether to go on after one is the caller's decision. No size
 * that has a verdict is asked again; memory need not be monotonic in truth,
 * the answer is always a size that ran and fitted, below every misfit.
 */
struct search_answer search_next(const struct search_strategy *strategy,
				 const struct search_problem *problem,
				 const struct trial *trials, size_t count);

/*
 * The peak to be expected at micro_batch, by the best that is known: two
 * measured peaks, bytes at rest, one peak with the slope of the estimate, or
 * one peak of which half is taken to be fixed. 0: nothing is known.
 */
uint64_t search_expected_peak(const struct search_problem *problem,
			      const struct trial *trials, size_t count,
			      int64_t micro_batch);

/*
 * Would a fit of micro_batch end the search? Asked before a probe starts, so
 * that a probe that can be the answer runs on as its own confirmation.
 */
bool search_fit_would_end(const struct search_strategy *strategy,
			  const struct search_problem *problem,
			  const struct trial *trials, size_t count,
			  int64_t micro_batch);

#endif
