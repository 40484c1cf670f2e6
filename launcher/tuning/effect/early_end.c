/* Did a size end earlier than others, which goes by no failure? Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/effect/early_end.h"

static double samples_of(const struct trial *trial)
{
	return (double)trial->micro_batch * (double)trial->grad_accum *
	       (double)trial->steps;
}

const struct trial *early_end_find(const struct trial *trials, size_t count,
				   const struct trial *trial)
{
	const struct trial *found = NULL;

	if (!trial->ran_to_end || trial->steps_source != STEPS_HOOK)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const struct trial *other = &trials[i];

		if (!trial_fits(other) || other->ran_to_end ||
		    other->steps_source != STEPS_HOOK)
			continue;
		if (other->steps <= trial->steps ||
		    samples_of(other) <= samples_of(trial))
			return NULL;
		if (!found || other->micro_batch > found->micro_batch)
			found = other;
	}
	return found;
}
