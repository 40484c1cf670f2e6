/* Findings: what the trials prove, and which sizes are still worth asking. */
/* SPDX-License-Identifier: MIT */
#include "search/findings.h"

#include "base/units.h"

#include <assert.h>
#include <stdbool.h>

/* How the search went so far: whether its questions lead anywhere. */
static void count_steps(struct findings *findings, const struct trial *trials,
			size_t count)
{
	int64_t largest = 0;
	bool has_misfit = false;

	for (size_t i = 0; i < count; i++) {
		int64_t micro = trials[i].micro_batch;

		if (!trial_has_verdict(&trials[i]))
			continue;
		findings->verdicts++;
		if (largest && has_misfit)
			findings->bracketed++;
		if (trial_is_misfit(&trials[i])) {
			has_misfit = true;
		} else if (micro > largest) {
			if (largest && micro - largest < largest / 2)
				findings->short_steps++;
			largest = micro;
		}
	}
	assert(!findings->bracketed ||
	       findings->bracketed + 2 <= findings->verdicts);
}

static void find_bracket(struct findings *findings, const struct trial *trials,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t micro = trials[i].micro_batch;

		if (trial_is_misfit(&trials[i]) &&
		    (!findings->smallest_misfit ||
		     micro < findings->smallest_misfit))
			findings->smallest_misfit = micro;
	}
	/* Where memory is not monotonic, a fit above a misfit is luck. */
	for (size_t i = 0; i < count; i++) {
		int64_t micro = trials[i].micro_batch;

		if (trial_fits(&trials[i]) && micro > findings->largest_fit &&
		    (!findings->smallest_misfit ||
		     micro < findings->smallest_misfit))
			findings->largest_fit = micro;
	}
	assert(!findings->smallest_misfit ||
	       findings->largest_fit < findings->smallest_misfit);
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
static void set_bound(struct findings *findings,
		      const struct search_problem *problem)
{
	int64_t recorded = problem->recorded_misfit;

	findings->bound = findings->smallest_misfit;
	if (findings->bound)
		findings->bound_by = MISFIT_BY_PROBE;
	if (recorded <= findings->largest_fit ||
	    !problem_floor(problem, recorded - 1))
		return;
	if (!findings->bound || recorded < findings->bound) {
		findings->bound = recorded;
		findings->bound_by = MISFIT_BY_RECORD;
	}
	assert(!findings->bound || findings->bound > findings->largest_fit);
}

uint64_t findings_noise(const struct search_problem *problem)
{
	return bytes_max(memory_line_noise(problem->limit_bytes),
			 problem->spread_bytes);
}

int64_t findings_reach(const struct search_problem *problem,
		       const struct trial *trials, size_t count,
		       int64_t largest_fit)
{
	double growth = problem->max_growth;
	int64_t reach = problem_scaled(largest_fit, growth);
	int64_t furthest = problem_scaled(largest_fit, growth * growth);
	struct memory_line line = memory_line_steep(trials, count);
	int64_t size;

	assert(largest_fit >= 1 && growth > 0);
	if (!line.points)
		line = memory_line_rest(trials, count);
	/* At its steepest so little above the limit is stopped in time. */
	size = memory_line_micro(&line, problem->limit_bytes +
						problem->limit_bytes / 10);
	if (size > furthest)
		size = furthest;
	return size > reach ? size : reach;
}

static void set_questions(struct findings *findings,
			  const struct search_problem *problem,
			  const struct trial *trials, size_t count)
{
	int64_t fit = findings->largest_fit;
	int64_t above = fit < INT64_MAX ? problem_ceiling(problem, fit + 1) : 0;
	int64_t within = fit;
	bool is_bounded;

	if (fit && !problem->candidates && fit >= problem->exact_up_to)
		within = problem_scaled(fit, 1 + problem->tolerance);
	is_bounded = findings->bound && above &&
		     (above >= findings->bound || within >= findings->bound);
	findings->highest = problem_floor(
		problem, findings->bound ? findings->bound - 1 : INT64_MAX);
	if (fit && problem->max_growth > 0) {
		int64_t reach = problem_floor(
			problem, findings_reach(problem, trials, count, fit));

		if (reach < findings->highest)
			findings->highest = reach;
	}
	if (!above || is_bounded || above > findings->highest) {
		if (!is_bounded) {
			findings->bound = findings->smallest_misfit;
			findings->bound_by = MISFIT_BY_NONE;
		}
		return;
	}
	findings->lowest = problem_floor(problem, within);
	if (findings->lowest > findings->highest)
		findings->lowest = findings->highest;
	if (findings->lowest < above)
		findings->lowest = above;
	assert(fit < findings->lowest && findings->lowest <= findings->highest);
	assert(!findings->bound || findings->highest < findings->bound);
}

static struct memory_line estimated_line(const struct search_problem *problem,
					 const struct trial *trials,
					 size_t count)
{
	double slope = (double)problem->estimated_bytes_per_sample;
	struct memory_line line = { 0, 0, 0 };

	if (!problem->estimated_bytes_per_sample)
		return line;
	line = memory_line_sloped(trials, count, slope);
	if (line.points)
		return line;
	line.points = 2;
	line.fixed_bytes = (double)problem->estimated_fixed_bytes;
	line.bytes_per_sample = slope;
	return line;
}

struct findings findings_of(const struct search_problem *problem,
			    const struct trial *trials, size_t count)
{
	struct findings findings = { .bound_by = MISFIT_BY_NONE };

	assert(problem->tolerance >= 0);
	count_steps(&findings, trials, count);
	find_bracket(&findings, trials, count);
	findings.measured = count_measured(trials, count);
	findings.line = memory_line_fit(trials, count);
	findings.cautious = memory_line_cautious(trials, count);
	findings.steep = memory_line_steep(trials, count);
	findings.rest = memory_line_rest(trials, count);
	findings.estimated = estimated_line(problem, trials, count);
	findings.guess = memory_line_guess(trials, count);
	findings.late = memory_line_late(trials, count);
	set_bound(&findings, problem);
	set_questions(&findings, problem, trials, count);
	return findings;
}

struct search_answer findings_settled(const struct findings *findings)
{
	struct search_answer answer = {
		.state = findings->largest_fit ? SEARCH_DONE
					       : SEARCH_NOTHING_FITS,
		.micro_batch = findings->largest_fit,
		.smallest_misfit = findings->bound,
		.misfit_by = findings->bound_by,
	};

	assert(answer.smallest_misfit || answer.misfit_by == MISFIT_BY_NONE);
	assert(!answer.smallest_misfit ||
	       answer.micro_batch < answer.smallest_misfit);
	return answer;
}

struct search_answer findings_ask(const struct search_problem *problem,
				  const struct findings *findings, int64_t wish)
{
	int64_t micro = problem_floor(problem, wish);
	struct search_answer answer = {
		.state = SEARCH_PROBE,
		.smallest_misfit = findings->smallest_misfit,
		.misfit_by = findings->smallest_misfit ? MISFIT_BY_PROBE
						       : MISFIT_BY_NONE,
	};

	assert(findings->lowest >= 1 && findings->lowest <= findings->highest);
	if (micro > findings->highest)
		micro = findings->highest;
	if (micro < findings->lowest)
		micro = findings->lowest;
	assert(micro > findings->largest_fit);
	assert(!findings->smallest_misfit || micro < findings->smallest_misfit);
	answer.micro_batch = micro;
	return answer;
}

int64_t findings_middle(const struct search_problem *problem,
			const struct findings *findings)
{
	int64_t fit = findings->largest_fit;
	int64_t misfit = findings->smallest_misfit;

	assert(findings->lowest && findings->lowest <= findings->highest);
	if (problem->candidates)
		return problem_between(problem, findings->lowest,
				       findings->highest);
	assert(fit < misfit && "it is asked where both are known");
	return fit + (misfit - fit) / 2;
}

struct search_answer findings_bisect(const struct search_problem *problem,
				     const struct findings *findings)
{
	int64_t wish;

	if (!findings->verdicts)
		wish = problem->start;
	else if (!findings->largest_fit)
		wish = findings->smallest_misfit / 2;
	else if (!findings->smallest_misfit)
		wish = problem_scaled(findings->largest_fit, 2);
	else
		wish = findings_middle(problem, findings);
	return findings_ask(problem, findings, wish);
}
