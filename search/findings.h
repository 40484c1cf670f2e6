/* Findings: what the trials prove, and which sizes are still worth asking.
 * Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_SEARCH_FINDINGS_H
#define AUTOFIT_SEARCH_FINDINGS_H

#include "base/trial.h"
#include "search/memory_line.h"
#include "search/problem.h"
#include "search/search.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Every strategy asks only between lowest and highest, so none can ask a size
 * twice, pass a misfit or outgrow max_growth; it only chooses where between.
 */
struct findings {
	int64_t largest_fit;     /* below every misfit; 0: none */
	int64_t smallest_misfit; /* by a probe; 0: none */
	/* A fit here leaves nothing within the tolerance; 0: all settled. */
	int64_t lowest;
	int64_t highest;
	/* When settled: the size above the answer, and why it is too large. */
	int64_t bound;
	enum misfit_by bound_by;
	size_t verdicts;    /* trials that fit or do not */
	size_t bracketed;   /* those asked between a fit and a misfit */
	size_t short_steps; /* those that raised the largest by under half */
	size_t measured;    /* sizes that fit and have a peak; 2: or more */
	struct memory_line line;
	struct memory_line rest; /* by one probe's bytes at rest */
	/* The estimate, with its slope through what was measured: what one has
	 * wrong lies mostly in the fixed bytes. */
	struct memory_line estimated;
	struct memory_line guess;    /* of peaks closer than noise as well */
	struct memory_line cautious; /* the least that the line can rise */
	struct memory_line steep;    /* the most that the peaks can */
	struct memory_line late;     /* by a misfit that made steps first */
};

struct findings findings_of(const struct search_problem *problem,
			    const struct trial *trials, size_t count);

/* The answer when nothing is left to ask (lowest is 0). */
struct search_answer findings_settled(const struct findings *findings);

/* The candidate nearest below wish that is worth asking, else the lowest. */
struct search_answer findings_ask(const struct search_problem *problem,
				  const struct findings *findings,
				  int64_t wish);

/* Two peaks near the limit that are no farther apart may be equal. */
uint64_t findings_noise(const struct search_problem *problem);

/*
 * The largest size that max_growth lets be asked after the largest fit; where
 * what was measured, at its steepest, promises a larger one within a tenth of
 * the limit, up to the square of max_growth.
 */
int64_t findings_reach(const struct search_problem *problem,
		       const struct trial *trials, size_t count,
		       int64_t largest_fit);

/* The question of the strategy "bisect": needs sizes only, no peaks. */
struct search_answer findings_bisect(const struct search_problem *problem,
				     const struct findings *findings);

/* Half way between the largest fit and the smallest misfit. */
int64_t findings_middle(const struct search_problem *problem,
			const struct findings *findings);

/* The table of strategies is in search.c; this one has a file of its own. */
extern const struct search_strategy search_guided;

#endif
