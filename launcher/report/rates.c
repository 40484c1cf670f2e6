/* How fast the splits of a result train, and which differences are noise. Pure.
 */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/rates.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

/* Of a split that was timed in one step or two. */
#define ERROR_OF_FEW 0.05
/* No clock and no machine are better than this. */
#define ERROR_MIN 0.005
/* Steps of the warm-up, and the one that the others are timed from. */
#define STEPS_UNTIMED 3

/* It may make several backward passes of each micro-batch. */
static double passes_of_micro_step(const struct trial *trial)
{
	return trial->grad_accum && trial->seen_accum > trial->grad_accum
		       ? (double)trial->seen_accum / (double)trial->grad_accum
		       : 1;
}

double rates_samples_per_second(const struct result *result,
				const struct trial *trial, int64_t accum)
{
	int64_t world = result->record.batch.world_size;
	int64_t ran = trial_step_passes(trial);
	double more, seconds;

	if (accum == trial->grad_accum)
		accum = ran;
	more = (double)(accum - ran) * passes_of_micro_step(trial);
	seconds = trial->step_seconds + more * trial->pass_seconds;
	if (!(trial->step_seconds > 0) || !(seconds > 0) ||
	    (accum != ran && !(trial->pass_seconds > 0)))
		return 0;
	return (double)trial->micro_batch * (double)accum *
	       (double)(world > 0 ? world : 1) / seconds;
}

const struct trial *rates_trial(const struct result *result, int64_t micro,
				int64_t accum)
{
	const struct probe_notes *probes = &result->record.probes;
	const struct trial *found = NULL;

	for (size_t i = 0; i < probes->count; i++) {
		const struct trial *trial = &probes->items[i].trial;

		if (trial->micro_batch == micro &&
		    (!found || trial->grad_accum == accum ||
		     found->grad_accum != accum))
			found = trial;
	}
	return found;
}

static void apart_widen(double *apart, double a, double b)
{
	double wider = a > b ? a / b - 1 : b / a - 1;

	if (a > 0 && b > 0 && wider > *apart)
		*apart = wider;
}

struct runs_apart rates_runs_apart(const struct result *result)
{
	const struct probe_notes *probes = &result->record.probes;
	struct runs_apart apart = { 0, 0 };

	for (size_t i = 1; i < probes->count; i++) {
		const struct trial *a = &probes->items[i].trial;

		for (size_t j = 0; j < i; j++) {
			const struct trial *b = &probes->items[j].trial;

			if (a->micro_batch != b->micro_batch ||
			    a->grad_accum != b->grad_accum || !trial_fits(a) ||
			    !trial_fits(b))
				continue;
			apart_widen(&apart.peak, (double)a->peak_bytes,
				    (double)b->peak_bytes);
			apart_widen(&apart.speed, a->step_seconds,
				    b->step_seconds);
		}
	}
	return apart;
}

/* The standard error of its median step, as a share of it. */
static double error_of(const struct trial *trial)
{
	double count =
		(double)(trial->later_passes ? trial->later_passes - 1
					     : trial->steps - STEPS_UNTIMED);
	double error;

	if (count < 2)
		return ERROR_OF_FEW;
	assert(trial->step_seconds > 0);
	error = 1.2533 * 1.4826 * trial->step_mad_seconds /
		(trial->step_seconds * sqrt(count));
	return error > ERROR_MIN ? error : ERROR_MIN;
}

double rates_spread(const struct trial *trial)
{
	return 2 * error_of(trial);
}

/*
 * A step that the output counts may be a micro-step: then the split with more
 * of them was not as fast as it seems, and is not known to be the faster one.
 */
static bool is_known(const struct trial *trial, const struct trial *own,
		     double factor)
{
	const struct trial *more =
		trial->grad_accum > own->grad_accum ? trial : own;

	return trial->grad_accum == own->grad_accum ||
	       !trial_may_count_passes(more) || (factor > 1) == (more == own);
}

struct rate_factor rates_against_own(const struct result *result,
				     const struct trial *trial, int64_t accum)
{
	int64_t own_accum = result->own.grad_accum;
	const struct trial *own =
		rates_trial(result, result->own.micro_batch, own_accum);
	struct rate_factor rate = { 0, 0 };
	double speed, base, of_trial, of_own, error;

	if (!trial || !own || !trial_fits(trial) || !trial_fits(own))
		return rate;
	speed = rates_samples_per_second(result, trial, accum);
	base = rates_samples_per_second(result, own, own_accum);
	if (!(speed > 0) || !(base > 0) || !is_known(trial, own, speed / base))
		return rate;
	of_trial = error_of(trial);
	of_own = error_of(own);
	error = 2 * sqrt(of_trial * of_trial + of_own * of_own);
	assert(of_trial > 0 && of_own > 0);
	rate.factor = speed / base;
	rate.noise = rates_runs_apart(result).speed;
	if (error > rate.noise)
		rate.noise = error;
	return rate;
}

bool rates_is_noise(const struct rate_factor *rate)
{
	return fabs(rate->factor - 1) < rate->noise;
}

bool rates_answer_is_slower(const struct result *result,
			    struct rate_factor *rate)
{
	const struct batch *batch = &result->record.batch;

	*rate = rates_against_own(
		result,
		rates_trial(result, batch->micro_batch, batch->grad_accum),
		batch->grad_accum);
	return rate->factor > 0 && rate->factor < 1 && !rates_is_noise(rate);
}
