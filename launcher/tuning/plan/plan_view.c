/* What a plan looks at: the trials so far, the splits there are. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/plan/plan_view.h"

#include "base/alloc.h"
#include "base/units.h"
#include "search/accumulation.h"

#include <assert.h>
#include <stdlib.h>

/* So many sizes that fail late are no accident of one step. */
#define LATE_MISFITS_MAX 2

static int64_t round_up(int64_t accum, int64_t multiple)
{
	int64_t over = multiple > 1 ? accum % multiple : 0;

	return over ? accum + (multiple - over) : accum;
}

/* What the accumulation is a multiple of, where the effective batch grows. */
static int64_t accum_step(const struct plan *plan, int64_t micro_batch)
{
	int64_t of_effective = plan->constraints.effective_multiple_of;
	int64_t step = plan->constraints.accum_multiple_of;

	/* micro x world is the divisor's part that it has already. */
	assert(micro_batch >= 1 && plan->asked.world_size >= 1);
	if (of_effective > 1)
		of_effective /= accumulation_divisor(
			of_effective, micro_batch * plan->asked.world_size);
	return accumulation_multiple(step > 1 ? step : 1,
				     of_effective > 1 ? of_effective : 1);
}

int64_t plan_final_accum(const struct plan *plan, int64_t micro_batch)
{
	int64_t accum;

	assert(micro_batch >= 1);
	if (plan->has_accumulation && plan->constraints.nominal.batch)
		return command_nominal_accum(&plan->constraints.nominal,
					     micro_batch,
					     plan->asked.world_size);
	if (!plan->has_accumulation || plan->asked.effective_batch <= 0)
		return 1;
	accum = accumulation_exact(plan->asked.effective_batch, micro_batch,
				   plan->asked.world_size);
	if (accum)
		return accum;
	accum = accumulation_grow(plan->asked.effective_batch, micro_batch,
				  plan->asked.world_size);
	assert(accum >= 1);
	return round_up(accum, accum_step(plan, micro_batch));
}

static void add_last(struct plan_view *view, const struct trial *trial)
{
	for (size_t i = 0; i < view->count; i++)
		if (view->trials[i].micro_batch == trial->micro_batch) {
			view->trials[i] = *trial;
			return;
		}
	if (view->count < SEARCH_TRIALS_MAX)
		view->trials[view->count++] = *trial;
}

static bool micro_is_allowed(const struct plan *plan, int64_t micro)
{
	return problem_floor(&plan->problem, micro) == micro &&
	       (plan->constraints.micro_divides < 1 ||
		plan->constraints.micro_divides % micro == 0);
}

static bool split_is_allowed(const struct plan *plan, int64_t micro)
{
	int64_t accum = plan_final_accum(plan, micro);

	assert(plan->asked.effective_batch > 0);
	if (accum != accumulation_exact(plan->asked.effective_batch, micro,
					plan->asked.world_size))
		return false;
	return micro_is_allowed(plan, micro) &&
	       (plan->constraints.accum_multiple_of < 2 ||
		accum % plan->constraints.accum_multiple_of == 0);
}

/* Only those that the framework takes. */
static void keep_allowed(struct plan_view *view, const struct plan *plan)
{
	size_t kept = 0;

	for (size_t i = 0; i < view->split_count; i++)
		if (split_is_allowed(plan, view->splits[i]))
			view->splits[kept++] = view->splits[i];
	assert(kept <= view->split_count);
	view->split_count = kept;
}

/* With the accumulation that a script derives: no smaller batch than asked. */
static bool derived_is_enough(const struct plan *plan, int64_t micro)
{
	int64_t needed = accumulation_grow(plan->asked.effective_batch, micro,
					   plan->asked.world_size);

	return plan_final_accum(plan, micro) >= needed;
}

/* Without splits to keep to, the sizes that framework or script take. */
static void make_sizes(struct plan_view *view, const struct plan *plan)
{
	bool is_derived =
		plan->mode == PLAN_GROW && plan->constraints.nominal.batch;
	int64_t last = is_derived ? plan->problem.max_micro
				  : plan->constraints.micro_divides;

	view->size_count = 0;
	for (int64_t micro = 1;
	     micro <= last && micro <= plan->problem.max_micro &&
	     view->size_count < PLAN_SPLITS_MAX;
	     micro++)
		if (micro_is_allowed(plan, micro) &&
		    (!is_derived || derived_is_enough(plan, micro)))
			view->sizes[view->size_count++] = micro;
}

static void make_splits(struct plan_view *view, const struct plan *plan)
{
	const struct search_problem *problem = &plan->problem;
	int64_t multiple = problem->free_below > 1 ? 1 : problem->multiple_of;
	int64_t micro;

	view->split_count = 0;
	if (plan->asked.effective_batch <= 0)
		return;
	if (plan->has_accumulation) {
		view->split_count = accumulation_splits(
			plan->asked.effective_batch, plan->asked.world_size,
			multiple, view->splits, PLAN_SPLITS_MAX);
		if (view->split_count > PLAN_SPLITS_MAX)
			view->split_count = PLAN_SPLITS_MAX;
		while (view->split_count &&
		       view->splits[view->split_count - 1] > problem->max_micro)
			view->split_count--;
		keep_allowed(view, plan);
		return;
	}
	/* Nothing to trade: the one size that gives this effective batch. */
	assert(plan->asked.world_size >= 1);
	micro = plan->asked.effective_batch / plan->asked.world_size;
	if (micro >= 1 && micro <= problem->max_micro &&
	    micro * plan->asked.world_size == plan->asked.effective_batch)
		view->splits[view->split_count++] = micro;
}

/* It made its steps, with fewer samples than it was told. */
static bool has_no_more_data(const struct trial *trial)
{
	return trial->verdict == VERDICT_TOO_BIG && trial->steps > 0 &&
	       trial->loader_rows > 0 && trial->input_rows > 0 &&
	       trial->input_rows % trial->loader_rows == 0 &&
	       trial->loader_rows < trial->micro_batch;
}

/* It ran out of memory, or failed, after steps that were enough for a short
 * probe. */
static bool is_late_misfit(const struct trial *misfit,
			   const struct trial *trials, size_t count)
{
	if (!trial_is_misfit(misfit) || misfit->verdict == VERDICT_TIMEOUT ||
	    has_no_more_data(misfit))
		return false;
	for (size_t i = 0; i < count; i++)
		if (trial_fits(&trials[i]) && !trial_is_confirmed(&trials[i]) &&
		    trials[i].steps &&
		    trial_rounds(&trials[i]) <= trial_rounds(misfit))
			return true;
	return false;
}

bool plan_doubts_short_fits(const struct trial *trials, size_t count)
{
	int late = 0;

	for (size_t i = 0; i < count; i++)
		if (is_late_misfit(&trials[i], trials, count))
			late += trials[i].verdict == VERDICT_TOO_BIG
					? LATE_MISFITS_MAX
					: 1;
	return late >= LATE_MISFITS_MAX;
}

/* Confirmed peaks make a line of their own, above that of short probes. */
static void drop_short_fits(struct plan_view *view)
{
	size_t kept = 0;

	for (size_t i = 0; i < view->count; i++)
		if (!trial_fits(&view->trials[i]) ||
		    trial_is_confirmed(&view->trials[i]))
			view->trials[kept++] = view->trials[i];
	view->count = kept;
}

static bool is_taken_back(const struct trial *fit, const struct trial *over)
{
	return fit->micro_batch == over->micro_batch &&
	       fit->grad_accum == over->grad_accum && trial_fits(fit) &&
	       over->verdict == VERDICT_OVER_BUDGET &&
	       over->peak_bytes > fit->peak_bytes;
}

uint64_t plan_view_spread(const struct trial *trials, size_t count)
{
	bool only_confirmed = plan_doubts_short_fits(trials, count);
	uint64_t spread = 0;

	for (size_t over = 1; over < count; over++)
		for (size_t fit = 0; fit < over; fit++)
			if (is_taken_back(&trials[fit], &trials[over]) &&
			    (!only_confirmed ||
			     trial_is_confirmed(&trials[fit])))
				spread = bytes_max(
					spread, trials[over].peak_bytes -
							trials[fit].peak_bytes);
	return spread;
}

/* A larger size than that failed before any step, and not by memory. */
static bool fails_at_once(const struct trial *trial, int64_t above)
{
	return trial->verdict == VERDICT_TOO_BIG && !trial->steps &&
	       trial->micro_batch > above;
}

int64_t plan_view_multiple(const struct plan *plan, const struct trial *trials,
			   size_t count)
{
	int64_t given = plan->problem.multiple_of;
	int64_t own = plan->own_micro;
	bool own_fits = false;
	bool other_fails = false;

	if (own < 1 || own % given != 0 || plan->problem.free_below > 1)
		return given;
	for (size_t i = 0; i < count; i++) {
		own_fits |=
			trials[i].micro_batch == own && trial_fits(&trials[i]);
		other_fails |= fails_at_once(&trials[i], own) &&
			       trials[i].micro_batch % own != 0;
	}
	return own_fits && other_fails ? own : given;
}

int64_t plan_view_data(const struct trial *trial)
{
	return trial_fits(trial) && trial->loader_rows == trial->micro_batch &&
			       trial->data_rows >= trial->micro_batch
		       ? trial->data_rows
		       : 0;
}

int64_t plan_view_max_micro(const struct plan *plan, const struct trial *trials,
			    size_t count)
{
	int64_t most = plan->problem.max_micro;
	bool is_known = false;

	for (size_t i = 0; i < count; i++) {
		int64_t data = plan_view_data(&trials[i]);

		if (data && data < most)
			most = data;
		is_known |= trial_fits(&trials[i]) &&
			    (trials[i].input_rows == trials[i].micro_batch ||
			     trials[i].loader_rows == trials[i].micro_batch);
		if (has_no_more_data(&trials[i]) &&
		    trials[i].loader_rows < most)
			most = trials[i].loader_rows;
	}
	return is_known ? most : plan->problem.max_micro;
}

/* The program does not take this size by its number, or has no more data. */
static bool is_no_size(const struct trial *trial, const struct plan *plan)
{
	return (fails_at_once(trial, plan->own_micro) &&
		trial->micro_batch % plan->problem.multiple_of != 0) ||
	       (has_no_more_data(trial) &&
		trial->micro_batch > plan->problem.max_micro);
}

/* Such sizes bound no other. */
static void drop_no_sizes(struct plan_view *view, const struct plan *plan)
{
	size_t kept = 0;

	for (size_t i = 0; i < view->count; i++)
		if (!is_no_size(&view->trials[i], plan))
			view->trials[kept++] = view->trials[i];
	view->count = kept;
}

void plan_view_look(struct plan_view *view, const struct plan *plan,
		    const struct trial *trials, size_t count)
{
	view->count = 0;
	for (size_t i = 0; i < count; i++)
		add_last(view, &trials[i]);
	view->only_confirmed = plan_doubts_short_fits(trials, count);
	if (view->only_confirmed)
		drop_short_fits(view);
	drop_no_sizes(view, plan);
	make_splits(view, plan);
	assert(view->split_count <= PLAN_SPLITS_MAX);
	make_sizes(view, plan);
}

const struct trial *plan_view_trial(const struct plan_view *view, int64_t micro)
{
	for (size_t i = 0; i < view->count; i++)
		if (view->trials[i].micro_batch == micro)
			return &view->trials[i];
	return NULL;
}

int64_t plan_split_at_most(const struct plan *plan, int64_t micro_batch)
{
	struct plan_view *view = xmalloc(sizeof(*view));
	int64_t found = micro_batch;

	plan_view_look(view, plan, NULL, 0);
	for (size_t i = 0; i < view->split_count; i++)
		if (plan->mode == PLAN_KEEP && view->splits[i] <= micro_batch)
			found = view->splits[i];
	free(view);
	return found;
}

bool plan_view_is_settled(const struct plan_view *view, int64_t micro)
{
	const struct trial *trial = plan_view_trial(view, micro);

	return trial && trial_fits(trial) && trial_is_confirmed(trial);
}

bool plan_view_has_split(const struct plan_view *view, int64_t micro)
{
	for (size_t i = 0; i < view->split_count; i++)
		if (view->splits[i] == micro)
			return true;
	return false;
}
