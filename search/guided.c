/* The strategy "guided": measured peaks predict where the limit is met. */
/* SPDX-License-Identifier: MIT */
/*
 * The search looks for the largest micro-batch whose peak stays under the
 * limit. Memory grows almost linearly with the micro-batch, so two measured
 * peaks give a line, and the next size to try is the one where that line meets
 * the limit. In this order, until no size is left that could improve the
 * answer:
 *
 *  1. Nothing ran yet: the size where the estimate reaches ESTIMATE_SHARE of
 *     the limit; without an estimate problem->start.
 *  2. Nothing fits yet: below the smallest misfit, half of it or what the
 *     peaks allow.
 *  3. One size fits, no misfit: grow. Take the largest of a step by
 *     FIRST_GROWTH, the line through the origin, and the estimate moved so that
 *     it passes through the measured peak (to CORRECTED_SHARE of the limit).
 *  4. Two peaks make a line: the size where it meets the limit; if a probe has
 *     refuted that size, the same for a limit that is lower by the noise.
 *  5. A misfit is known but no line: the middle of the bracket, or a size that
 *     even doubtful peaks allow.
 *  6. The line puts the next size above the limit by more than the noise: it is
 *     called a misfit without a probe, and the search ends.
 *  7. Predictions that keep failing (SHORT_STEPS_MAX, BRACKETED_MAX): memory is
 *     no line here; bisection needs no peaks and always ends.
 *
 * findings.c keeps every question between the largest fit and the smallest
 * misfit, so a bad prediction costs a probe and never the answer.
 */
#include "search/findings.h"

#include <assert.h>
#include <stdbool.h>

/*
 * The upper edge of an estimate's interval is up to a quarter above it: at 80%
 * of the limit the first probe is likely to fit, and a fit teaches more than a
 * misfit.
 */
#define ESTIMATE_SHARE 0.8

/* Moved through a measured peak only the slope of the estimate can be wrong. */
#define CORRECTED_SHARE 0.92

/* A quarter more samples raise the peak of most models by more than noise. */
#define FIRST_GROWTH 1.25

/* A line is met in two or three questions; after more it is none. */
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
	       (peak <= limit || peak - limit <= memory_line_noise(limit));
}

/* Something was too large, and nothing below it fitted. */
static int64_t wish_below(const struct search_problem *problem,
			  const struct findings *findings)
{
	int64_t half = findings->smallest_misfit / 2;
	int64_t size = memory_line_micro(&findings->line, problem->limit_bytes);

	assert(findings->smallest_misfit);
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
	uint64_t noise = memory_line_noise(limit);
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
	/* The line through the origin promises too little: more may fit. */
	if (findings->line.points == 1)
		size = memory_line_micro(&findings->line, problem->limit_bytes);
	return size > middle && size < findings->smallest_misfit ? size
								 : middle;
}

/*
 * The slope of the estimate through the one peak that was measured: what an
 * estimate has wrong lies mostly in the fixed bytes.
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
 * No line yet, and all sizes fitted. That the line through the origin meets the
 * limit somewhere does not prove that a larger size misfits: the second size is
 * at least so much larger that its peak should stand out of the noise, and
 * after two peaks that do not, the size is doubled.
 */
static int64_t wish_growing(const struct search_problem *problem,
			    const struct findings *findings)
{
	double growth = findings->measured == 1 ? FIRST_GROWTH : 2;
	int64_t size = problem_scaled(findings->largest_fit, growth);
	int64_t other = 0;

	assert(findings->largest_fit && !findings->smallest_misfit);
	if (findings->line.points != 1)
		return size;
	other = memory_line_micro(&findings->line, problem->limit_bytes);
	size = other > size ? other : size;
	if (problem->estimated_bytes_per_sample)
		other = wish_corrected(problem, findings);
	return other > size ? other : size;
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
	       peak - limit > memory_line_noise(limit);
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
	if (findings.short_steps >= SHORT_STEPS_MAX ||
	    findings.bracketed >= BRACKETED_MAX)
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
