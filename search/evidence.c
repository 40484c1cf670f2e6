/* What the finished trials prove, and which sizes are still worth asking. */
/* SPDX-License-Identifier: MIT */
#include "search/evidence.h"

#include <stdbool.h>

int64_t micro_scaled(int64_t micro, double factor)
{
	double product = (double)micro * factor;

	return product < 0x1p63 ? (int64_t)product : INT64_MAX;
}

/* How the search went so far: whether its questions lead anywhere. */
static void count_steps(struct evidence *evidence, const struct trial *trials,
			size_t count)
{
	int64_t largest = 0;
	bool has_misfit = false;

	for (size_t i = 0; i < count; i++) {
		int64_t micro = trials[i].micro_batch;

		if (!trial_is_misfit(&trials[i]) && !trial_fits(&trials[i]))
			continue;
		evidence->verdicts++;
		if (largest && has_misfit)
			evidence->bracketed++;
		if (trial_is_misfit(&trials[i])) {
			has_misfit = true;
		} else if (micro > largest) {
			if (largest && micro - largest < largest / 2)
				evidence->short_steps++;
			largest = micro;
		}
	}
}

static void find_bracket(struct evidence *evidence, const struct trial *trials,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t micro = trials[i].micro_batch;

		if (trial_is_misfit(&trials[i]) &&
		    (!evidence->smallest_misfit ||
		     micro < evidence->smallest_misfit))
			evidence->smallest_misfit = micro;
	}
	/* Where memory is not monotonic, a fit above a misfit is luck. */
	for (size_t i = 0; i < count; i++) {
		int64_t micro = trials[i].micro_batch;

		if (trial_fits(&trials[i]) && micro > evidence->largest_fit &&
		    (!evidence->smallest_misfit ||
		     micro < evidence->smallest_misfit))
			evidence->largest_fit = micro;
	}
}

static size_t count_measured(const struct trial *trials, size_t count)
{
	int64_t first = 0;

	for (size_t i = 0; i < count; i++) {
		if (!trial_fits(&trials[i]) || !trial_is_point(&trials[i]))
			continue;
		if (first && trials[i].micro_batch != first)
			return 2;
		first = trials[i].micro_batch;
	}
	return first ? 1 : 0;
}

/* A record that leaves no candidate, or that a fit refutes, is not believed. */
static void set_bound(struct evidence *evidence,
		      const struct search_problem *problem)
{
	int64_t recorded = problem->recorded_misfit;

	evidence->bound = evidence->smallest_misfit;
	if (evidence->bound)
		evidence->bound_by = MISFIT_BY_PROBE;
	if (recorded <= evidence->largest_fit ||
	    !problem_floor(problem, recorded - 1))
		return;
	if (!evidence->bound || recorded < evidence->bound) {
		evidence->bound = recorded;
		evidence->bound_by = MISFIT_BY_RECORD;
	}
}

static void set_questions(struct evidence *evidence,
			  const struct search_problem *problem)
{
	int64_t fit = evidence->largest_fit;
	int64_t above = fit < INT64_MAX ? problem_ceiling(problem, fit + 1) : 0;
	int64_t within = fit;
	bool is_bounded;

	if (fit && !problem->candidates && fit >= problem->exact_up_to)
		within = micro_scaled(fit, 1 + problem->tolerance);
	is_bounded = evidence->bound && above &&
		     (above >= evidence->bound || within >= evidence->bound);
	evidence->highest = problem_floor(
		problem, evidence->bound ? evidence->bound - 1 : INT64_MAX);
	if (fit && problem->max_growth > 0) {
		int64_t reach = problem_floor(
			problem, micro_scaled(fit, problem->max_growth));

		if (reach < evidence->highest)
			evidence->highest = reach;
	}
	if (!above || is_bounded || above > evidence->highest) {
		if (!is_bounded) {
			evidence->bound = evidence->smallest_misfit;
			evidence->bound_by = MISFIT_BY_NONE;
		}
		return;
	}
	evidence->lowest = problem_floor(problem, within);
	if (evidence->lowest > evidence->highest)
		evidence->lowest = evidence->highest;
	if (evidence->lowest < above)
		evidence->lowest = above;
}

struct evidence evidence_of(const struct search_problem *problem,
			    const struct trial *trials, size_t count)
{
	struct evidence evidence = { .bound_by = MISFIT_BY_NONE };

	count_steps(&evidence, trials, count);
	find_bracket(&evidence, trials, count);
	evidence.measured = count_measured(trials, count);
	evidence.line = memory_line_fit(trials, count);
	evidence.cautious = memory_line_cautious(trials, count);
	evidence.guess = memory_line_guess(trials, count);
	set_bound(&evidence, problem);
	set_questions(&evidence, problem);
	return evidence;
}

struct search_answer evidence_settled(const struct evidence *evidence)
{
	struct search_answer answer = {
		.state = evidence->largest_fit ? SEARCH_DONE
					       : SEARCH_NOTHING_FITS,
		.micro_batch = evidence->largest_fit,
		.smallest_misfit = evidence->bound,
		.misfit_by = evidence->bound_by,
	};

	return answer;
}

struct search_answer evidence_ask(const struct search_problem *problem,
				  const struct evidence *evidence, int64_t wish)
{
	int64_t micro = problem_floor(problem, wish);
	struct search_answer answer = {
		.state = SEARCH_PROBE,
		.smallest_misfit = evidence->smallest_misfit,
		.misfit_by = evidence->smallest_misfit ? MISFIT_BY_PROBE
						       : MISFIT_BY_NONE,
	};

	if (micro > evidence->highest)
		micro = evidence->highest;
	if (micro < evidence->lowest)
		micro = evidence->lowest;
	answer.micro_batch = micro;
	return answer;
}

/* Index of the first candidate that is not below micro. */
static size_t list_index(const struct search_problem *problem, int64_t micro)
{
	size_t i = 0;

	while (i < problem->candidate_count && problem->candidates[i] < micro)
		i++;
	return i;
}

int64_t evidence_middle(const struct search_problem *problem,
			const struct evidence *evidence)
{
	int64_t fit = evidence->largest_fit;
	int64_t misfit = evidence->smallest_misfit;

	if (problem->candidates && problem->candidate_count) {
		size_t low = list_index(problem, evidence->lowest);
		size_t high = list_index(problem, evidence->highest);

		return problem->candidates[low + (high - low) / 2];
	}
	return fit + (misfit - fit) / 2;
}

struct search_answer evidence_bisect(const struct search_problem *problem,
				     const struct evidence *evidence)
{
	int64_t wish;

	if (!evidence->verdicts)
		wish = problem->start;
	else if (!evidence->largest_fit)
		wish = evidence->smallest_misfit / 2;
	else if (!evidence->smallest_misfit)
		wish = micro_scaled(evidence->largest_fit, 2);
	else
		wish = evidence_middle(problem, evidence);
	return evidence_ask(problem, evidence, wish);
}
