/* The problem of a search: sizes that may be tried, and the limit. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_SEARCH_PROBLEM_H
#define AUTOFIT_SEARCH_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

/*
 * The candidates are either a list (the exact splits of an effective batch),
 * or every multiple of multiple_of up to max_micro and all sizes below
 * free_below.
 */
struct search_problem {
	const int64_t *candidates; /* ascending; NULL: the multiples */
	size_t candidate_count;
	int64_t multiple_of; /* >= 1 */
	int64_t free_below;  /* at most multiple_of; 0: none */
	int64_t max_micro;   /* >= 1 */
	/*
	 * The answer is exact up to this size; above it, a misfit at most
	 * tolerance (0.02) above the largest fit ends the search. A list of
	 * candidates is always exact.
	 */
	int64_t exact_up_to;
	double tolerance;
	int64_t start;        /* first question; snapped to a candidate */
	uint64_t limit_bytes; /* a size fits if its peak stays under this */
	/* By so much the peaks of one size were seen to differ, where that took
	 * a fit back; 0: it did not happen. */
	uint64_t spread_bytes;
	/* At most this many times the largest fit is asked; 0: no bound. */
	double max_growth;
	/* An estimate before any probe; neither ceiling nor floor. */
	uint64_t estimated_fixed_bytes;
	uint64_t estimated_bytes_per_sample; /* 0: no estimate */
	/* A size a record calls too large under the same limit; 0: none. */
	int64_t recorded_misfit;
};

/*
 * A peak that grows from step to step is judged by twice the headroom, and so
 * by this share of the limit: in host memory the headroom is 8% of the budget.
 */
#define PROBLEM_GROWN_SHARE (0.84 / 0.92)

/* The largest candidate <= micro, or 0; the smallest >= micro, or 0. */
int64_t problem_floor(const struct search_problem *problem, int64_t micro);
int64_t problem_ceiling(const struct search_problem *problem, int64_t micro);

/* The candidate of the list half way between two of its candidates. */
int64_t problem_between(const struct search_problem *problem, int64_t low,
			int64_t high);

/* micro x factor rounded down; INT64_MAX where it does not fit. */
int64_t problem_scaled(int64_t micro, double factor);

#endif
