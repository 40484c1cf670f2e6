/* The table of strategies, and the questions put to any of them. */
/* SPDX-License-Identifier: MIT */
#include "search/search.h"

#include "search/findings.h"

#include <assert.h>
#include <string.h>

/* The strategy "bisect" goes by fits and misfits alone, not by peaks. */
static struct search_answer bisect_next(const struct search_problem *problem,
					const struct trial *trials,
					size_t count)
{
	struct findings findings = findings_of(problem, trials, count);

	return findings.lowest ? findings_bisect(problem, &findings)
			       : findings_settled(&findings);
}

static const struct search_strategy search_bisect = { "bisect", bisect_next };

const struct search_strategy *const search_strategies[] = {
	&search_guided,
	&search_bisect,
	NULL,
};

const struct search_strategy *search_strategy_find(const char *name)
{
	for (size_t i = 0; name && search_strategies[i]; i++)
		if (strcmp(search_strategies[i]->name, name) == 0)
			return search_strategies[i];
	return NULL;
}

struct search_answer search_next(const struct search_strategy *strategy,
				 const struct search_problem *problem,
				 const struct trial *trials, size_t count)
{
	struct search_answer answer = strategy->next(problem, trials, count);

	assert((answer.state == SEARCH_NOTHING_FITS) == !answer.micro_batch);
	assert(answer.state != SEARCH_PROBE ||
	       problem_floor(problem, answer.micro_batch) ==
		       answer.micro_batch);
	return answer;
}

uint64_t search_expected_peak(const struct search_problem *problem,
			      const struct trial *trials, size_t count,
			      int64_t micro_batch)
{
	struct findings findings = findings_of(problem, trials, count);
	struct memory_line half;

	assert(micro_batch >= 1);
	if (findings.line.points == 2)
		return memory_line_peak(&findings.line, micro_batch);
	if (findings.rest.points)
		return memory_line_peak(&findings.rest, micro_batch);
	if (findings.estimated.points)
		return memory_line_peak(&findings.estimated, micro_batch);
	half = memory_line_sloped(trials, count,
				  findings.line.bytes_per_sample / 2);
	return memory_line_peak(&half, micro_batch);
}

bool search_fit_would_end(const struct search_strategy *strategy,
			  const struct search_problem *problem,
			  const struct trial *trials, size_t count,
			  int64_t micro_batch)
{
	struct memory_line line = memory_line_fit(trials, count);
	uint64_t peak = memory_line_peak(&line, micro_batch);
	struct trial with_it[SEARCH_TRIALS_MAX + 1];
	struct search_answer answer;

	assert(micro_batch >= 1);
	if (count > SEARCH_TRIALS_MAX)
		return false;
	if (count)
		memcpy(with_it, trials, count * sizeof(*trials));
	/* It fits, so its peak is no more than the limit; if that. */
	if (!peak || peak > problem->limit_bytes)
		peak = problem->limit_bytes;
	with_it[count] = (struct trial){
		.micro_batch = micro_batch,
		.verdict = VERDICT_FITS,
		.peak_bytes = peak,
	};
	answer = strategy->next(problem, with_it, count + 1);
	return answer.state == SEARCH_DONE && answer.micro_batch == micro_batch;
}
