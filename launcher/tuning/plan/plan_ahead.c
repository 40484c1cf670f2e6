/* Plans a round: the next question, and those that may follow it. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * A tree of what may come. Its root is what is known now; each node supposes
 * one more outcome than the node above it:
 *
 *                   known: 8 fits                  asks 16
 *                  /             \
 *            16 fits              16 does not      ask 32, 12
 *           /       \            /           \
 *      32 fits   it does not   12 fits   it does not
 *
 * The nodes are looked at level by level, and each asks what plan_next() says.
 */
#include "launcher/tuning/plan/plan_ahead.h"

#include "base/alloc.h"
#include "base/units.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* So many nodes are looked at for one round. */
#define AHEAD_NODES_MAX 64

struct ahead_node {
	size_t above; /* the node above it; the root's is not used */
	size_t depth; /* 0: the root, which supposes nothing */
	struct trial trial;
};

struct ahead {
	const struct plan *plan;
	/* What is known, and behind it what a node and those above suppose. */
	struct trial trials[SEARCH_TRIALS_MAX];
	size_t known;
	struct ahead_node nodes[AHEAD_NODES_MAX];
	size_t count;
};

/* The trials as if this node's had come true; their number. */
static size_t ahead_suppose(struct ahead *ahead, size_t node)
{
	size_t count = ahead->known + ahead->nodes[node].depth;

	assert(count <= SEARCH_TRIALS_MAX);
	for (size_t at = count; at > ahead->known;
	     node = ahead->nodes[node].above)
		ahead->trials[--at] = ahead->nodes[node].trial;
	return count;
}

/* As it would be noted; one that may be the answer runs on to be confirmed. */
static struct trial ahead_fit(const struct ahead *ahead, size_t count,
			      const struct plan_step *step, uint64_t peak)
{
	uint64_t limit = ahead->plan->problem.limit_bytes;
	struct trial fit = {
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.verdict = VERDICT_FITS,
		.phase = PHASE_TRAIN,
		.rank = -1,
		.peak_bytes = peak ? bytes_min(peak, limit) : limit,
	};

	if (step->is_confirmation ||
	    plan_wants_confirmed(ahead->plan, ahead->trials, count, &fit))
		fit.confirmed_steps = 1;
	return fit;
}

static void ahead_add(struct ahead *ahead, size_t above,
		      const struct trial *trial)
{
	size_t depth = ahead->nodes[above].depth + 1;

	if (ahead->count == AHEAD_NODES_MAX ||
	    ahead->known + depth > SEARCH_TRIALS_MAX)
		return;
	ahead->nodes[ahead->count++] = (struct ahead_node){
		.above = above,
		.depth = depth,
		.trial = *trial,
	};
}

/* Both outcomes of this step, the likelier one first; of a confirmation that
 * it fits. */
static void ahead_branch(struct ahead *ahead, size_t node, size_t count,
			 const struct plan_step *step)
{
	const struct search_problem *problem = &ahead->plan->problem;
	uint64_t peak = search_expected_peak(problem, ahead->trials, count,
					     step->micro_batch);
	const struct trial fit = ahead_fit(ahead, count, step, peak);
	const struct trial misfit = {
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.verdict = VERDICT_OOM_DEVICE,
		.phase = PHASE_TRAIN,
		.rank = -1,
		.peak_is_lower_bound = true,
	};
	bool is_likely = peak <= problem->limit_bytes;

	if (step->is_confirmation) {
		ahead_add(ahead, node, &fit);
		return;
	}
	ahead_add(ahead, node, is_likely ? &fit : &misfit);
	ahead_add(ahead, node, is_likely ? &misfit : &fit);
}

static bool asks_size(const struct plan_step *steps, size_t count,
		      int64_t micro)
{
	for (size_t i = 0; i < count; i++)
		if (steps[i].micro_batch == micro)
			return true;
	return false;
}

static size_t ahead_walk(struct ahead *ahead, struct plan_step *steps,
			 size_t max)
{
	size_t found = 1;

	ahead->count = 1;
	ahead_branch(ahead, 0, ahead->known, &steps[0]);
	for (size_t i = 1; i < ahead->count && found < max; i++) {
		size_t count = ahead_suppose(ahead, i);
		struct plan_step step =
			plan_next(ahead->plan, ahead->trials, count);

		if (step.action != PLAN_PROBE)
			continue;
		if (!step.is_confirmation &&
		    !asks_size(steps, found, step.micro_batch))
			steps[found++] = step;
		if (found < max)
			ahead_branch(ahead, i, count, &step);
	}
	return found;
}

size_t plan_ahead(const struct plan *plan, const struct trial *trials,
		  size_t count, struct plan_step *steps, size_t max)
{
	struct ahead *ahead;
	size_t found;

	assert(max >= 1);
	steps[0] = plan_next(plan, trials, count);
	if (steps[0].action != PLAN_PROBE)
		return 0;
	if (max == 1 || steps[0].is_confirmation || count >= SEARCH_TRIALS_MAX)
		return 1;
	ahead = xcalloc(1, sizeof(*ahead));
	ahead->plan = plan;
	ahead->known = count;
	if (count)
		memcpy(ahead->trials, trials, count * sizeof(*trials));
	found = ahead_walk(ahead, steps, max);
	free(ahead);
	return found;
}
