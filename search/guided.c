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
 *  2. Nothing fits yet: below the smallest misfit what the peaks allow, or a
 *     quarter of it, for a fit teaches more than another misfit. Only one that
 *     made steps first is known to be too large by little: see 5.
 *  3. One size fits, no misfit: grow. Take the largest of a step by
 *     FIRST_GROWTH, the line through the origin, the line from the bytes at
 *     rest, and the estimate moved so that it passes through the measured peak
 *     (to CORRECTED_SHARE of the limit). After two peaks that the noise hides
 *     the step is LATER_GROWTH.
 *  4. Two peaks make a line: the size where it meets the limit; if a probe has
 *     refuted that size, the same for a limit that is lower by the noise.
 *  5. A misfit is known but no line. If it made steps first, the line through
 *     it gives a size of the list, for a limit as growing peaks have it; else
 *     even doubtful peaks or the bytes at rest do, or it is the middle.
 *  6. The line puts the next size above the limit by more than the noise: it is
 *     called a misfit without a probe, and the search ends. Of three peaks on
 *     one line the noise is measured. Where any size may be the answer, the
 *     line is enough, if the noise can hide no size that is much larger. After
 *     one peak this takes two witnesses, the estimate and the bytes at rest.
 *     Where a fit was taken back, what the line puts as near the limit as its
 *     peaks differed is called one, too.
 *  7. Predictions that keep failing (SHORT_STEPS_MAX, BRACKETED_MAX): memory is
 *     no line here; bisection needs no peaks and always ends. Where any size
 * may be the answer and all have fitted, a size a little over the limit is
 * asked before that, as twice the size is far over it.
 *
 * findings.c keeps every question between the largest fit and the smallest
 * misfit, so a bad prediction costs a probe and never the answer.
 */
#include "search/findings.h"

#include <assert.h>
#include <stdbool.h>

/*
 * Of measurements that nobody fitted one in ten is more than 12% above its
 * estimate (docs/estimate.md): at this share of the limit the first probe is
 * likely to fit, and a fit teaches more than a misfit.
 */
#define ESTIMATE_SHARE 0.85

/* A rise of which an estimate and a measurement say as much. */
#define WITNESS_SHARE 0.8

/* Moved through a measured peak only the slope of the estimate can be wrong. */
#define CORRECTED_SHARE 0.95

/* A quarter more samples raise the peak of most models by more than noise. */
#define FIRST_GROWTH 1.25
#define LATER_GROWTH 4

/* Below a misfit: where a peak says how much it needs, and where none does. */
#define SHRINK_MEASURED 2
#define SHRINK_UNMEASURED 4

/* The most that is given away for a probe less, where any size will do. */
#define GIVEN_AWAY 1.05

/* After short steps: over the limit by more than noise, and a step of its own.
 */
#define OVER_SHARE 1.05
#define OVER_GROWTH 1.1

/* A line is met in two or three questions; after more it is none. */
#define SHORT_STEPS_MAX 3
#define BRACKETED_MAX 6

static int64_t first_wish(const struct search_problem *problem,
			  const struct findings *findings)
{
	double aim = ESTIMATE_SHARE * (double)problem->limit_bytes;

	return findings->estimated.points
		       ? memory_line_micro(&findings->estimated, (uint64_t)aim)
		       : problem->start;
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
	int64_t size = memory_line_micro(&findings->line, problem->limit_bytes);
	int64_t below =
		findings->smallest_misfit /
		(findings->line.points ? SHRINK_MEASURED : SHRINK_UNMEASURED);

	assert(findings->smallest_misfit);
	if (!size || size >= findings->smallest_misfit)
		return below;
	/* From above, the line through the origin promises too much. */
	if (findings->line.points == 1 && size > below)
		return below;
	return size;
}

/*
 * A misfit that made steps first is over the limit by little: of a list of
 * sizes the one that is under it by as much as peaks grow is mostly the answer.
 */
static bool has_late(const struct search_problem *problem,
		     const struct findings *findings)
{
	return problem->candidates && findings->late.points;
}

static int64_t wish_late(const struct search_problem *problem,
			 const struct findings *findings)
{
	double aim = PROBLEM_GROWN_SHARE * (double)problem->limit_bytes;

	assert(has_late(problem, findings));
	return memory_line_micro(&findings->late, (uint64_t)aim);
}

static int64_t wish_on_line(const struct search_problem *problem,
			    const struct findings *findings)
{
	uint64_t limit = problem->limit_bytes;
	uint64_t noise = findings_noise(problem);
	int64_t size = memory_line_micro(&findings->line, limit);

	assert(findings->line.points == 2);
	if (!findings->smallest_misfit || size < findings->smallest_misfit)
		return size;
	/* The line promised too much; perhaps by no more than noise. */
	size = memory_line_micro(&findings->line,
				 limit > noise ? limit - noise : 0);
	if (size > findings->largest_fit && size < findings->smallest_misfit)
		return size;
	return has_late(problem, findings) ? wish_late(problem, findings)
					   : findings_middle(problem, findings);
}

/* No line, but a bracket: nothing is lost by trusting the peaks a little. */
static int64_t wish_in_bracket(const struct search_problem *problem,
			       const struct findings *findings)
{
	int64_t middle = findings_middle(problem, findings);
	int64_t size =
		memory_line_micro(&findings->guess, problem->limit_bytes);

	assert(findings->largest_fit && findings->smallest_misfit);
	if (size && size < findings->smallest_misfit)
		return size;
	/* Its rise is too steep: up to there a size fits. */
	size = memory_line_micro(&findings->rest, problem->limit_bytes);
	if (size && size < findings->smallest_misfit)
		return size;
	/* It promised more than fits, but mostly not by much. */
	if (size && findings->smallest_misfit / 2 > middle)
		return findings->smallest_misfit / 2;
	/* The line through the origin promises too little: more may fit. */
	if (findings->line.points == 1)
		size = memory_line_micro(&findings->line, problem->limit_bytes);
	return size > middle && size < findings->smallest_misfit ? size
								 : middle;
}

/*
 * No line yet, and all sizes fitted. That the line through the origin meets the
 * limit somewhere does not prove that a larger size misfits: the second size is
 * at least so much larger that its peak should stand out of the noise, and
 * after two peaks that do not, the step is a long one.
 */
static int64_t wish_growing(const struct search_problem *problem,
			    const struct findings *findings)
{
	uint64_t limit = problem->limit_bytes;
	uint64_t aim = (uint64_t)(CORRECTED_SHARE * (double)limit);
	double growth = findings->measured == 1 ? FIRST_GROWTH : LATER_GROWTH;
	int64_t sizes[] = {
		problem_scaled(findings->largest_fit, growth),
		memory_line_micro(&findings->line, limit),
		memory_line_micro(&findings->rest, limit),
		memory_line_micro(&findings->estimated, aim),
		memory_line_micro(&findings->guess, aim),
		memory_line_micro(&findings->steep, limit),
	};
	int64_t size = 0;

	assert(findings->largest_fit && !findings->smallest_misfit);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		size = sizes[i] > size ? sizes[i] : size;
	return size;
}

static bool is_above(const struct memory_line *line, int64_t micro,
		     uint64_t limit, uint64_t doubt)
{
	uint64_t peak = memory_line_peak(line, micro);

	return peak > limit && peak - limit > doubt;
}

/*
 * Where any size may be the answer, what lies beside it is as good: the line
 * puts the next size above the limit, and with the noise against it a size that
 * is not much larger.
 */
static bool is_hardly_more(const struct search_problem *problem,
			   const struct findings *findings, int64_t micro)
{
	int64_t more = problem_scaled(micro, GIVEN_AWAY);
	uint64_t limit = problem->limit_bytes;

	return !problem->candidates && problem->tolerance > 0 &&
	       is_above(&findings->line, micro, limit, 0) &&
	       is_above(&findings->cautious, more, limit, 0);
}

/*
 * Clear of the limit by more than noise: any closer, a probe must decide. Where
 * one size was measured, the estimate and the bytes at rest must both say so of
 * a rise that is WITNESS_SHARE of theirs.
 */
static bool is_predicted_misfit(const struct search_problem *problem,
				const struct trial *trials, size_t count,
				const struct findings *findings, int64_t micro)
{
	uint64_t limit = problem->limit_bytes;
	uint64_t noise = memory_line_noise(limit);
	double slope = findings->estimated.bytes_per_sample;
	struct memory_line least;
	uint64_t doubt;

	assert(micro > findings->largest_fit && "what fits is no misfit");
	if (has_line(problem, findings)) {
		doubt = memory_line_doubt(&findings->line, trials, count,
					  noise);
		return is_hardly_more(problem, findings, micro) ||
		       (is_above(&findings->line, micro, limit, doubt) &&
			(doubt < noise ||
			 is_above(&findings->cautious, micro, limit, noise)));
	}
	least = memory_line_least(trials, count);
	if (!least.points)
		return false;
	if (is_above(&least, micro, limit, noise))
		return true;
	if (!findings->estimated.points)
		return false;
	if (findings->rest.bytes_per_sample < slope)
		slope = findings->rest.bytes_per_sample;
	least.bytes_per_sample = WITNESS_SHARE * slope;
	return is_above(&least, micro, limit, noise);
}

/*
 * A size that fitted did not when it ran again, and the line puts this one so
 * near the limit that the same could happen to it.
 */
static bool is_within_spread(const struct search_problem *problem,
			     const struct findings *findings, int64_t micro)
{
	return problem->spread_bytes && has_line(problem, findings) &&
	       memory_line_peak(&findings->line, micro) +
			       problem->spread_bytes >
		       problem->limit_bytes;
}

static bool all_fitted_on_line(const struct search_problem *problem,
			       const struct findings *findings)
{
	return !problem->candidates && findings->largest_fit &&
	       !findings->smallest_misfit && has_line(problem, findings);
}

/* The line promised little again and again: a size that it puts over the limit
 * brings a misfit, or a longer step. */
static int64_t wish_over(const struct search_problem *problem,
			 const struct findings *findings)
{
	double over = OVER_SHARE * (double)problem->limit_bytes;
	int64_t size = memory_line_micro(&findings->line, (uint64_t)over);
	int64_t longer = problem_scaled(findings->largest_fit, OVER_GROWTH);

	return size > longer ? size : longer;
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
	    (is_predicted_misfit(problem, trials, count, &findings,
				 findings.lowest) ||
	     is_within_spread(problem, &findings, findings.lowest))) {
		findings.bound = findings.lowest;
		findings.bound_by = MISFIT_BY_PREDICTION;
		return findings_settled(&findings);
	}
	if (findings.short_steps >= SHORT_STEPS_MAX &&
	    all_fitted_on_line(problem, &findings))
		return findings_ask(problem, &findings,
				    wish_over(problem, &findings));
	if (findings.short_steps >= SHORT_STEPS_MAX ||
	    findings.bracketed >= BRACKETED_MAX)
		return findings_bisect(problem, &findings);
	if (!findings.verdicts)
		wish = first_wish(problem, &findings);
	else if (has_line(problem, &findings) && findings.largest_fit)
		wish = wish_on_line(problem, &findings);
	else if (has_late(problem, &findings))
		wish = wish_late(problem, &findings);
	else if (!findings.largest_fit)
		wish = wish_below(problem, &findings);
	else if (findings.smallest_misfit)
		wish = wish_in_bracket(problem, &findings);
	else
		wish = wish_growing(problem, &findings);
	return findings_ask(problem, &findings, wish);
}

const struct search_strategy search_guided = { "guided", guided_next };
