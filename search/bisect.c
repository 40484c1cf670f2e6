/* By fits and misfits alone: doubling, halving, then bisection. */
/* SPDX-License-Identifier: MIT */
#include "search/strategies.h"

#include "search/evidence.h"

static struct search_answer bisect_next(const struct search_problem *problem,
					const struct trial *trials,
					size_t count)
{
	struct evidence evidence = evidence_of(problem, trials, count);

	if (!evidence.lowest)
		return evidence_settled(&evidence);
	return evidence_bisect(problem, &evidence);
}

const struct search_strategy search_bisect = { "bisect", bisect_next };
