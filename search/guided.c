/* By measured peaks: the next size is where the memory line meets the limit. */
/* SPDX-License-Identifier: MIT */
#include "search/strategies.h"

#include "search/findings.h"

#include <stdbool.h>

/* Of an estimated peak: it may be wrong, and a fit teaches more. */
#define ESTIMATE_SHARE 0.8

/* Of one that a measured peak has corrected. */
#define CORRECTED_SHARE 0.92

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
		     const struct findings *findings)
{
	uint64_t limit = problem->limit_bytes;
	uint64_t peak =
		memory_line_peak(&findings->line, findings->largest_fit);

	return findings->line.points == 2 &&
	       (peak <= limit || peak - limit <= noise_bytes(limit));
}

/* Something was too large, and nothing below it fitted. */
static int64_t wish_below(const struct search_problem *problem,
			  const struct findings *findings)
{
	int64_t half = findings->smallest_misfit / 2;
	int64_t size = memory_line_micro(&findings->line, problem->limit_bytes);

	if (!size || size >= findings->smallest_misfit)
		return half;
	/* From above, the line through the origin promises too much. */
	if (findings->line.points == 1 && size > half)
		return half;
	return size;
}

static int64_t wish_on_line(const struct search_problem *problem,
			    const struct findings *findings)
{
	uint64_t limit = problem->limit_bytes;
	uint64_t noise = noise_bytes(limit);
	int64_t size = memory_line_micro(&findings->line, limit);

	if (!findings->smallest_misfit || size < findings->smallest_misfit)
		return size;
	/* The line promised too much; perhaps by no more than noise. */
	size = memory_line_micro(&findings->line,
				 limit > noise ? limit - noise : 0);
	if (size > findings->largest_fit && size < findings->smallest_misfit)
		return size;
	return findings_middle(problem, findings);
}

/* No line, but a bracket: nothing is lost by trusting the peaks a little. */
static int64_t wish_in_bracket(const struct search_problem *problem,
			       const struct findings *findings)
{
	int64_t middle = findings_middle(problem, findings);
	int64_t size =
		memory_line_micro(&findings->guess, problem->limit_bytes);

	if (size && size < findings->smallest_misfit)
		return size;
	/* The line through the origin promises too little, so it may be more.
	 */
	if (findings->line.points == 1)
		size = memory_line_micro(&findings->line, problem->limit_bytes);
	return size > middle && size < findings->smallest_misfit ? size
								 : middle;
}

/*
 * The estimate of what a sample needs, through the one peak that is measured:
 * what the estimate has wrong lies mostly in what is fixed.
 */
static int64_t wish_corrected(const struct search_problem *problem,
			      const struct findings *findings)
{
	double slope = (double)problem->estimated_bytes_per_sample;
	int64_t micro = findings->largest_fit;
	struct memory_line line = { .points = 2, .bytes_per_sample = slope };
	double aim = CORRECTED_SHARE * (double)problem->limit_bytes;

	line.fixed_bytes = (double)memory_line_peak(&findings->line, micro) -
			   slope * (double)micro;
	return memory_line_micro(&line, (uint64_t)aim);
}

/*
 * No line yet, and all sizes fitted. Where the line through the origin ends
 * is no findings of a misfit above: the second size is at least so much
 * larger that its peak should stand out of the noise, and after two peaks
 * that do not, the size is doubled.
 */
static int64_t wish_growing(const struct search_problem *problem,
			    const struct findings *findings)
{
	double growth = findings->measured == 1 ? FIRST_GROWTH : 2;
	int64_t step = micro_scaled(findings->largest_fit, growth);
	int64_t size = 0;

	if (findings->line.points == 1)
		size = memory_line_micro(&findings->line, problem->limit_bytes);
	if (findings->line.points == 1 && problem->estimated_bytes_per_sample) {
		int64_t corrected = wish_corrected(problem, findings);

		size = corrected > size ? corrected : size;
	}
	return size > step ? size : step;
}

/* Clear of the limit by more than noise: any closer, a probe must decide. */
static bool is_predicted_misfit(const struct search_problem *problem,
				const struct findings *findings, int64_t micro)
{
	uint64_t limit = problem->limit_bytes;
	uint64_t peak = memory_line_peak(&findings->line, micro);
	uint64_t least = memory_line_peak(&findings->cautious, micro);

	if (least < peak)
		peak = least;
	return has_line(problem, findings) && peak > limit &&
	       peak - limit > noise_bytes(limit);
}

static bool is_out_of_patience(const struct findings *findings)
{
	return findings->short_steps >= SHORT_STEPS_MAX ||
	       findings->bracketed >= BRACKETED_MAX;
}

static struct search_answer guided_next(const struct search_problem *problem,
					const struct trial *trials,
					size_t count)
{
	struct findings findings = findings_of(problem, trials, count);
	int64_t wish;

	if (!findings.lowest)
		return findings_settled(&findings);
	if (findings.largest_fit &&
	    is_predicted_misfit(problem, &findings, findings.lowest)) {
		findings.bound = findings.lowest;
		findings.bound_by = MISFIT_BY_PREDICTION;
		return findings_settled(&findings);
	}
	if (is_out_of_patience(&findings))
		return findings_bisect(problem, &findings);
	if (!findings.verdicts)
		wish = first_wish(problem);
	else if (!findings.largest_fit)
		wish = wish_below(problem, &findings);
	else if (has_line(problem, &findings))
		wish = wish_on_line(problem, &findings);
	else if (findings.smallest_misfit)
		wish = wish_in_bracket(problem, &findings);
	else
		wish = wish_growing(problem, &findings);
	return findings_ask(problem, &findings, wish);
}

const struct search_strategy search_guided = { "guided", guided_next };
