/* What a size will need, before and between probes. Bytes per device. */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator.h"

struct estimate estimator_start(const struct estimator_facts *facts)
{
	struct estimate estimate = { .known = false };

	estimate.start_micro =
		facts->user_micro_batch > 0 ? facts->user_micro_batch : 1;
	return estimate;
}
