/* Plans the next step of a tuning: search, then confirm. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/plan/plan.h"

#include "base/alloc.h"
#include "launcher/tuning/plan/plan_fastest.h"
#include "launcher/tuning/plan/plan_view.h"
#include "search/findings.h"

#include <assert.h>
#include <stdlib.h>

/* Probes need not accumulate more: memory is the same from two on. */
#define PROBE_ACCUM_MAX 2
/* But so few micro-steps cost less than a second start, to be confirmed. */
#define PROBE_ACCUM_ALL 8

int64_t plan_least_accum(const struct plan *plan, int64_t micro_batch)
{
	int64_t accum = plan_final_accum(plan, micro_batch);

	/* What the script derives cannot be another number. */
	return accum < PROBE_ACCUM_MAX || plan->accum_matters ||
			       plan->constraints.nominal.batch
		       ? accum
		       : PROBE_ACCUM_MAX;
}

struct plan_step plan_probe(const struct plan *plan, int64_t micro_batch)
{
	int64_t accum = plan_final_accum(plan, micro_batch);

	assert(accum >= 1);
	return (struct plan_step){
		.action = PLAN_PROBE,
		.micro_batch = micro_batch,
		.final_accum = accum,
		.probe_accum = accum <= PROBE_ACCUM_ALL
				       ? accum
				       : plan_least_accum(plan, micro_batch),
	};
}

static struct plan_step probe_step(const struct plan *plan,
				   const struct plan_view *view, int64_t micro,
				   bool may_be_answer)
{
	const struct trial *before = plan_view_trial(view, micro);
	struct plan_step step = plan_probe(plan, micro);

	step.is_confirmation =
		view->only_confirmed || (before && trial_fits(before));
	if (may_be_answer || step.is_confirmation)
		step.probe_accum = step.final_accum;
	return step;
}

/* Inputs of other lengths, or steps that take more than others. */
static bool peaks_vary(const struct trial *trials, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (trial_fits(&trials[i]) &&
		    (trials[i].sizes_differ || trials[i].peak_varying))
			return true;
	return false;
}

/* Is the next larger size expected to be too large, or as good as that? */
static bool next_is_too_large(const struct search_problem *problem,
			      const struct trial *trials, size_t count,
			      int64_t next)
{
	uint64_t peak = search_expected_peak(problem, trials, count, next);
	double limit = (double)problem->limit_bytes;

	/* A longer probe finds a higher peak there. */
	if (peaks_vary(trials, count))
		limit *= PROBLEM_GROWN_SHARE;
	return (double)(peak + findings_noise(problem)) > limit;
}

/* Before it runs: is this size the answer if it fits? */
static bool may_be_answer(const struct plan *plan, const struct plan_view *view,
			  const struct search_problem *problem, int64_t micro)
{
	int64_t next = problem_ceiling(problem, micro + 1);
	const struct trial *above = plan_view_trial(view, next);

	if (!next || (above && trial_is_misfit(above)))
		return search_fit_would_end(plan->strategy, problem,
					    view->trials, view->count, micro);
	return next_is_too_large(problem, view->trials, view->count, next);
}

static struct plan_step search_step(const struct plan *plan,
				    const struct plan_view *view,
				    const struct search_problem *problem)
{
	struct search_answer answer =
		search_next(plan->strategy, problem, view->trials, view->count);
	struct plan_step step = { .action = PLAN_NOTHING_FITS };

	if (answer.state == SEARCH_PROBE)
		step = probe_step(
			plan, view, answer.micro_batch,
			may_be_answer(plan, view, problem, answer.micro_batch));
	else if (answer.state == SEARCH_DONE &&
		 !plan_view_is_settled(view, answer.micro_batch))
		step = probe_step(plan, view, answer.micro_batch, true);
	else if (answer.state == SEARCH_DONE)
		step = (struct plan_step){
			.action = PLAN_DONE,
			.micro_batch = answer.micro_batch,
			.final_accum =
				plan_final_accum(plan, answer.micro_batch),
		};
	step.smallest_misfit = answer.smallest_misfit;
	step.misfit_by = answer.misfit_by;
	return step;
}

/*
 * No exact split fits and there is no accumulation to trade: find the largest
 * size that does fit, to be named in the advice.
 */
static struct plan_step advice_step(const struct plan *plan,
				    const struct plan_view *view,
				    struct plan_step nothing)
{
	struct search_problem problem = plan->problem;
	int64_t least = problem_ceiling(&problem, 1);
	struct plan_step step;

	if (plan->has_accumulation || !view->split_count || !least ||
	    view->splits[0] <= least)
		return nothing;
	problem.max_micro = view->splits[0] - 1;
	step = search_step(plan, view, &problem);
	if (step.action == PLAN_PROBE)
		return step;
	nothing.largest_micro = step.action == PLAN_DONE ? step.micro_batch : 0;
	return nothing;
}

/* What fits and is no exact split cannot be the answer. */
static void drop_other_fits(struct plan_view *view, const struct plan_view *all)
{
	assert(view != all);
	*view = *all;
	view->count = 0;
	for (size_t i = 0; i < all->count; i++)
		if (!trial_fits(&all->trials[i]) ||
		    plan_view_has_split(all, all->trials[i].micro_batch))
			view->trials[view->count++] = all->trials[i];
}

/* The largest size that fits, below every misfit; 0: none. */
static int64_t largest_fit(const struct plan_view *view, int64_t *misfit)
{
	int64_t fit = 0;

	*misfit = INT64_MAX;
	for (size_t i = 0; i < view->count; i++)
		if (trial_is_misfit(&view->trials[i]) &&
		    view->trials[i].micro_batch < *misfit)
			*misfit = view->trials[i].micro_batch;
	for (size_t i = 0; i < view->count; i++)
		if (trial_fits(&view->trials[i]) &&
		    view->trials[i].micro_batch > fit &&
		    view->trials[i].micro_batch < *misfit)
			fit = view->trials[i].micro_batch;
	return fit;
}

/*
 * Splits can lie farther apart than a probe may leap: 97 has 1 and 97. What a
 * leap is counted from is the largest size that fits, split or not.
 */
struct leap {
	int64_t reach;     /* the largest size that may be asked */
	int64_t next;      /* the split beyond it, to be looked into; 0: none */
	bool next_is_over; /* by the memory line, clear of its noise */
};

static struct leap leap_of(const struct plan *plan,
			   const struct plan_view *view,
			   const struct search_problem *splits)
{
	struct memory_line line = memory_line_fit(view->trials, view->count);
	uint64_t limit = splits->limit_bytes;
	struct leap leap = { .reach = INT64_MAX };
	int64_t misfit;
	int64_t fit = largest_fit(view, &misfit);

	if (!fit || !(plan->problem.max_growth > 0))
		return leap;
	leap.reach =
		findings_reach(&plan->problem, view->trials, view->count, fit);
	assert(leap.reach >= fit);
	leap.next = problem_ceiling(splits, fit + 1);
	if (leap.next <= leap.reach || leap.next >= misfit)
		leap.next = 0;
	leap.next_is_over = leap.next && line.points == 2 &&
			    memory_line_peak(&line, leap.next) >
				    limit + memory_line_noise(limit);
	return leap;
}

/* splits: room for another view. */
static struct plan_step keep_step(const struct plan *plan,
				  const struct plan_view *view,
				  struct plan_view *splits)
{
	struct search_problem problem = plan->problem;
	struct plan_step step;
	struct leap leap;
	int64_t misfit;
	int64_t fit;
	int64_t stone;

	drop_other_fits(splits, view);
	problem.candidates = view->splits;
	problem.candidate_count = view->split_count;
	leap = leap_of(plan, view, &problem);
	stone = problem_floor(&plan->problem, leap.reach);
	fit = largest_fit(view, &misfit);
	if (leap.next && !leap.next_is_over && stone > fit && stone < misfit)
		return probe_step(plan, view, stone, false);
	fit = largest_fit(splits, &misfit);
	if (fit && problem.max_growth > 0)
		problem.max_growth = ((double)leap.reach + 0.5) / (double)fit;
	step = search_step(plan, splits, &problem);
	if (step.action == PLAN_NOTHING_FITS)
		return advice_step(plan, view, step);
	if (leap.next_is_over && !step.smallest_misfit) {
		step.smallest_misfit = leap.next;
		step.misfit_by = MISFIT_BY_PREDICTION;
	}
	return step;
}

/* The largest exact split that is not larger than the largest safe size. */
static struct plan_step split_step(const struct plan *plan,
				   const struct plan_view *view,
				   struct plan_step largest)
{
	for (size_t i = view->split_count; i-- > 0;) {
		int64_t micro = view->splits[i];
		const struct trial *trial = plan_view_trial(view, micro);
		struct plan_step step = largest;

		if (micro > largest.micro_batch ||
		    (trial && trial_is_misfit(trial)))
			continue;
		if (!plan_view_is_settled(view, micro)) {
			step = probe_step(plan, view, micro, true);
			step.smallest_misfit = largest.smallest_misfit;
			step.misfit_by = largest.misfit_by;
			return step;
		}
		step.micro_batch = micro;
		step.final_accum = plan_final_accum(plan, micro);
		return step;
	}
	/* What was asked for is kept, or said not to fit. */
	if (plan->asked.effective_batch > 0)
		largest.action = PLAN_NOTHING_FITS;
	return largest;
}

/* Memory need not grow with the size: only a run proves the next one. */
static bool wants_proof(const struct plan *plan, const struct plan_view *view,
			const struct plan_step *largest)
{
	return plan->proves_misfit && plan->mode == PLAN_LARGEST &&
	       largest->misfit_by == MISFIT_BY_PREDICTION &&
	       largest->smallest_misfit &&
	       !plan_view_trial(view, largest->smallest_misfit);
}

static struct plan_step next_step_of(const struct plan *plan,
				     const struct plan_view *view,
				     struct plan_view *room)
{
	struct search_problem problem = plan->problem;
	struct plan_step step;

	if (plan->mode == PLAN_KEEP)
		return keep_step(plan, view, room);
	if (view->size_count) {
		problem.candidates = view->sizes;
		problem.candidate_count = view->size_count;
	}
	step = search_step(plan, view, &problem);
	if (step.action != PLAN_DONE)
		return step;
	if (wants_proof(plan, view, &step))
		return probe_step(plan, view, step.smallest_misfit, false);
	step.largest_micro = step.micro_batch;
	return plan->mode == PLAN_LARGEST ? split_step(plan, view, step) : step;
}

/* Sizes that are to be compared run in full, as a confirmation does. */
static struct plan_step fastest_step(const struct plan *plan,
				     const struct plan_view *view,
				     struct plan_step largest)
{
	int64_t untimed = plan_fastest_untimed(plan, view, largest.micro_batch);

	assert(largest.action == PLAN_DONE && plan->takes_fastest);
	if (untimed)
		return probe_step(plan, view, untimed, true);
	largest.micro_batch = plan_fastest(plan, view, largest.micro_batch);
	largest.final_accum = plan_final_accum(plan, largest.micro_batch);
	return largest;
}

/* With what the trials show of the program. */
static struct plan plan_seen(const struct plan *plan,
			     const struct trial *trials, size_t count)
{
	struct plan seen = *plan;

	seen.problem.spread_bytes = plan_view_spread(trials, count);
	seen.problem.multiple_of = plan_view_multiple(plan, trials, count);
	seen.problem.max_micro = plan_view_max_micro(plan, trials, count);
	return seen;
}

/* Views are too large for a small stack. */
struct plan_step plan_next(const struct plan *plan, const struct trial *trials,
			   size_t count)
{
	struct plan_view *view = xmalloc(2 * sizeof(*view));
	struct plan seen = plan_seen(plan, trials, count);
	struct plan_step step;

	plan_view_look(view, &seen, trials, count);
	step = next_step_of(&seen, view, view + 1);
	if (step.action == PLAN_DONE && plan->takes_fastest)
		step = fastest_step(&seen, view, step);
	assert((step.action == PLAN_NOTHING_FITS) == !step.micro_batch);
	assert(step.action != PLAN_PROBE ||
	       (step.probe_accum >= 1 && step.probe_accum <= step.final_accum));
	assert(step.action != PLAN_DONE ||
	       plan_view_is_settled(view, step.micro_batch));
	assert(step.action != PLAN_DONE || !step.smallest_misfit ||
	       step.micro_batch < step.smallest_misfit);
	assert(step.action != PLAN_DONE || plan->mode != PLAN_KEEP ||
	       plan_view_has_split(view, step.micro_batch));
	free(view);
	return step;
}

/* The next larger size that may be the answer; 0: none is known. */
static int64_t split_above(const struct plan *plan, const struct trial *all,
			   size_t count, int64_t micro)
{
	struct plan_view *view = xmalloc(sizeof(*view));
	int64_t above = 0;

	plan_view_look(view, plan, all, count);
	for (size_t i = view->split_count; i-- > 0;)
		if (plan->mode == PLAN_KEEP && view->splits[i] > micro)
			above = view->splits[i];
	free(view);
	return above;
}

/* All: with the running one as if it had fitted. */
static bool is_asked_next(const struct plan *plan, const struct trial *all,
			  size_t count, const struct trial *running)
{
	struct plan_step step = plan_next(plan, all, count);
	struct plan seen = plan_seen(plan, all, count);
	int64_t above;

	if (step.action != PLAN_PROBE)
		return false;
	if (step.is_confirmation)
		return step.micro_batch == running->micro_batch;
	if (step.micro_batch <= running->micro_batch)
		return false;
	/* A larger size is asked only to be sure that it does not fit. */
	above = split_above(&seen, all, count, running->micro_batch);
	return next_is_too_large(&seen.problem, all, count,
				 above ? above : step.micro_batch);
}

bool plan_wants_confirmed(const struct plan *plan, const struct trial *trials,
			  size_t count, const struct trial *running)
{
	struct trial *all;
	bool wanted;

	if (running->grad_accum != plan_final_accum(plan, running->micro_batch))
		return false;
	/* A size on the way to a split. */
	if (plan->mode == PLAN_KEEP && plan->has_accumulation &&
	    running->micro_batch * running->grad_accum *
			    plan->asked.world_size !=
		    plan->asked.effective_batch)
		return false;
	if (count > SEARCH_TRIALS_MAX - 1)
		count = SEARCH_TRIALS_MAX - 1;
	all = xcalloc(count + 1, sizeof(*all));
	for (size_t i = 0; i < count; i++)
		all[i] = trials[i];
	all[count] = *running;
	all[count].verdict = VERDICT_FITS;
	all[count].peak_is_lower_bound = false;
	wanted = is_asked_next(plan, all, count + 1, running);
	free(all);
	return wanted;
}
