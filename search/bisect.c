/* By fits and misfits alone: doubling, halving, then bisection. */
/* SPDX-License-Identifier: MIT */
#include "search/strategies.h"

#include "search/findings.h"

static struct search_answer bisect_next(const struct search_problem *problem,
					const struct trial *trials,
					size_t count)
{
	struct findings findings = findings_of(problem, trials, count);

	if (!findings.lowest)
		return findings_settled(&findings);
	return findings_bisect(problem, &findings);
}

const struct search_strategy search_bisect = { "bisect", bisect_next };
