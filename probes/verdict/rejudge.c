/* The verdict of a finished trial, judged anew by what became known later. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/rejudge.h"

#include <stddef.h>

static void limit_moved(struct trial *trial, uint64_t limit_bytes)
{
	if (trial_fits(trial) && trial->peak_bytes > limit_bytes)
		trial->verdict = VERDICT_OVER_BUDGET;
	else if (trial->verdict == VERDICT_OVER_BUDGET &&
		 trial->peak_bytes <= limit_bytes)
		trial->verdict = trial->peak_is_lower_bound ? VERDICT_NONE
							    : VERDICT_FITS;
	trial->limit_bytes = limit_bytes;
}

const char *trial_rejudge(struct trial *trial,
			  const struct trial_limits *limits)
{
	uint64_t confirmed = limits->confirmed_limit_bytes;

	if (limits->words_count_no_more && trial_is_out_of_memory(trial))
		trial->verdict = VERDICT_NONE;
	if (limits->limit_bytes)
		limit_moved(trial, limits->limit_bytes);
	if (!confirmed || !trial_fits(trial) || !trial_is_confirmed(trial))
		return NULL;
	trial->limit_bytes = confirmed;
	if (trial->peak_bytes <= confirmed)
		return NULL;
	trial->verdict = VERDICT_OVER_BUDGET;
	return trial->peak_varying
		       ? "the peak varies from step to step: 20% headroom"
		       : "the peak still rises: twice the headroom";
}
