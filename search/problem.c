/* The candidates of a search: a list, or the multiples of a number. */
/* SPDX-License-Identifier: MIT */
#include "search/problem.h"

#include <assert.h>

/* How many candidates of the list are at most micro. */
static size_t list_rank(const struct search_problem *problem, int64_t micro)
{
	size_t low = 0;
	size_t high = problem->candidate_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (problem->candidates[middle] <= micro)
			low = middle + 1;
		else
			high = middle;
	}
	assert(!low || problem->candidates[low - 1] <= micro);
	assert(low == problem->candidate_count ||
	       problem->candidates[low] > micro);
	return low;
}

static int64_t multiple_floor(const struct search_problem *problem,
			      int64_t micro)
{
	int64_t multiple = micro - micro % problem->multiple_of;

	assert(problem->free_below <= problem->multiple_of);
	if (micro < problem->free_below)
		return micro;
	return multiple || problem->free_below < 1 ? multiple
						   : problem->free_below - 1;
}

int64_t problem_floor(const struct search_problem *problem, int64_t micro)
{
	size_t rank;

	assert(problem->candidates ||
	       (problem->multiple_of >= 1 && problem->max_micro >= 1));
	if (micro < 1)
		return 0;
	if (!problem->candidates) {
		if (micro > problem->max_micro)
			micro = problem->max_micro;
		return multiple_floor(problem, micro);
	}
	rank = list_rank(problem, micro);
	return rank ? problem->candidates[rank - 1] : 0;
}

int64_t problem_ceiling(const struct search_problem *problem, int64_t micro)
{
	size_t rank;

	assert(problem->candidates || problem->multiple_of >= 1);
	if (micro < 1)
		micro = 1;
	if (!problem->candidates && micro < problem->free_below)
		return micro <= problem->max_micro ? micro : 0;
	if (!problem->candidates) {
		int64_t count = (micro - 1) / problem->multiple_of + 1;

		if (count > problem->max_micro / problem->multiple_of)
			return 0;
		return count * problem->multiple_of;
	}
	rank = list_rank(problem, micro - 1);
	return rank < problem->candidate_count ? problem->candidates[rank] : 0;
}

int64_t problem_between(const struct search_problem *problem, int64_t low,
			int64_t high)
{
	size_t first = list_rank(problem, low);
	size_t last = list_rank(problem, high);

	assert(first >= 1 && first <= last);
	assert(problem->candidates[first - 1] == low);
	return problem->candidates[(first + last) / 2 - 1];
}

int64_t problem_scaled(int64_t micro, double factor)
{
	double product = (double)micro * factor;

	assert(micro >= 0 && factor >= 0);
	return product < 0x1p63 ? (int64_t)product : INT64_MAX;
}
