/* By measured peaks: the next size is where the memory line meets the limit. */
/* SPDX-License-Identifier: MIT */
#include "search/strategies.h"

#include "search/evidence.h"

#include <stdbool.h>

/* Of an estimated peak: it may be wrong, and a fit teaches more. */
#define ESTIMATE_SHARE 0.8

#define FIRST_GROWTH 1.25

/* So many small steps up, or questions within a bracket: not on a line. */
#define SHORT_STEPS_MAX 3
#define BRACKETED_MAX 4

static int64_t first_wish(const struct search_problem *problem)
{
	struct memory_line estimate = {
		.points = 2,
		.fixed_bytes = (double)problem->estimated_fixed_bytes,
		.bytes_per_sample = (double)problem->estimated_bytes_per_sample,
	};
	double aim = ESTIMATE_SHARE * (double)problem->limit_bytes;

	if (!problem->estimated_bytes_per_sample)
		return problem->start;
	return memory_line_micro(&estimate, (uint64_t)aim);
}

/* Two points, and they do not call a size too large that fitted. */
static bool has_line(const struct search_problem *problem,
		     const struct evidence *evidence)
{
	uint64_t limit = problem->limit_bytes;
	uint64_t peak =
		memory_line_peak(&evidence->line, evidence->largest_fit);

	return evidence->line.points == 2 &&
	       (peak <= limit || peak - limit <= noise_bytes(limit));
}

/* Something was too large, and nothing below it fitted. */
static int64_t wish_below(const struct search_problem *problem,
			  const struct evidence *evidence)
{
	int64_t half = evidence->smallest_misfit / 2;
	int64_t size = memory_line_micro(&evidence->line, problem->limit_bytes);

	if (!size || size >= evidence->smallest_misfit)
		return half;
	/* From above, the line through the origin promises too much. */
	if (evidence->line.points == 1 && size > half)
		return half;
	return size;
}

static int64_t wish_on_line(const struct search_problem *problem,
			    const struct evidence *evidence)
{
	uint64_t limit = problem->limit_bytes;
	uint64_t noise = noise_bytes(limit);
	int64_t size = memory_line_micro(&evidence->line, limit);

	if (!evidence->smallest_misfit || size < evidence->smallest_misfit)
		return size;
	/* The line promised too much; perhaps by no more than noise. */
	size = memory_line_micro(&evidence->line,
				 limit > noise ? limit - noise : 0);
	if (size > evidence->largest_fit && size < evidence->smallest_misfit)
		return size;
	return evidence_middle(problem, evidence);
}

/* No line, but a bracket: nothing is lost by trusting the peaks a little. */
static int64_t wish_in_bracket(const struct search_problem *problem,
			       const struct evidence *evidence)
{
	int64_t middle = evidence_middle(problem, evidence);
	int64_t size =
		memory_line_micro(&evidence->guess, problem->limit_bytes);

	if (size && size < evidence->smallest_misfit)
		return size;
	/* The line through the origin promises too little, so it may be more.
	 */
	if (evidence->line.points == 1)
		size = memory_line_micro(&evidence->line, problem->limit_bytes);
	return size > middle && size < evidence->smallest_misfit ? size
								 : middle;
}

/*
 * No line yet, and all sizes fitted. Where the line through the origin ends
 * is no evidence of a misfit above: the second size is at least so much
 * larger that its peak should stand out of the noise, and after two peaks
 * that do not, the size is doubled.
 */
static int64_t wish_growing(const struct search_problem *problem,
			    const struct evidence *evidence)
{
	double growth = evidence->measured == 1 ? FIRST_GROWTH : 2;
	int64_t step = micro_scaled(evidence->largest_fit, growth);
	int64_t size = 0;

	if (evidence->line.points == 1)
		size = memory_line_micro(&evidence->line, problem->limit_bytes);
	return size > step ? size : step;
}

/* Clear of the limit by more than noise: any closer, a probe must decide. */
static bool is_predicted_misfit(const struct search_problem *problem,
				const struct evidence *evidence, int64_t micro)
{
	uint64_t limit = problem->limit_bytes;
	uint64_t peak = memory_line_peak(&evidence->line, micro);
	uint64_t least = memory_line_peak(&evidence->cautious, micro);

	if (least < peak)
		peak = least;
	return has_line(problem, evidence) && peak > limit &&
	       peak - limit > noise_bytes(limit);
}

static bool is_out_of_patience(const struct evidence *evidence)
{
	return evidence->short_steps >= SHORT_STEPS_MAX ||
	       evidence->bracketed >= BRACKETED_MAX;
}

static struct search_answer guided_next(const struct search_problem *problem,
					const struct trial *trials,
					size_t count)
{
	struct evidence evidence = evidence_of(problem, trials, count);
	int64_t wish;

	if (!evidence.lowest)
		return evidence_settled(&evidence);
	if (evidence.largest_fit &&
	    is_predicted_misfit(problem, &evidence, evidence.lowest)) {
		evidence.bound = evidence.lowest;
		evidence.bound_by = MISFIT_BY_PREDICTION;
		return evidence_settled(&evidence);
	}
	if (is_out_of_patience(&evidence))
		return evidence_bisect(problem, &evidence);
	if (!evidence.verdicts)
		wish = first_wish(problem);
	else if (!evidence.largest_fit)
		wish = wish_below(problem, &evidence);
	else if (has_line(problem, &evidence))
		wish = wish_on_line(problem, &evidence);
	else if (evidence.smallest_misfit)
		wish = wish_in_bracket(problem, &evidence);
	else
		wish = wish_growing(problem, &evidence);
	return evidence_ask(problem, &evidence, wish);
}

const struct search_strategy search_guided = { "guided", guided_next };
