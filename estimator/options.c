/* Options that would save memory in a run: how much, and their cost. */
/* SPDX-License-Identifier: MIT */
#include "estimator/options.h"

#include "estimator/options_rules.h"

#include <string.h>

const char *memory_option_name(enum memory_option_kind kind)
{
	return option_rules[kind].name;
}

const char *memory_option_words(enum memory_option_kind kind)
{
	return option_rules[kind].words;
}

const char *memory_option_cost(enum memory_option_kind kind)
{
	return option_rules[kind].cost;
}

/* The run with one more change; false: it changes nothing, or cannot be. */
static bool options_try_kind(const struct workload *run,
			     enum memory_option_kind kind, int64_t usable_bytes,
			     int64_t before_bytes, struct memory_option *option)
{
	struct estimate estimate;

	option->kind = kind;
	option->changed = *run;
	option->changed.gpu_bytes = usable_bytes;
	if (!option_rules[kind].apply(&option->changed) ||
	    estimate_memory(&option->changed, &estimate, NULL) < 0)
		return false;
	option->peak_bytes = estimate.peak[TIER_PROCESS];
	option->high_bytes = estimate.high[TIER_PROCESS];
	option->saved_bytes = before_bytes - option->peak_bytes;
	option->fits = option->high_bytes <= usable_bytes;
	return option->saved_bytes > 0;
}

/* At its place by bytes; the last one falls out where there is no room. */
static size_t insert(struct memory_option *options, size_t count,
		     size_t capacity, const struct memory_option *option)
{
	size_t at = count;

	while (at > 0 && options[at - 1].saved_bytes < option->saved_bytes)
		at--;
	if (at >= capacity)
		return count;
	if (count == capacity)
		count--;
	memmove(&options[at + 1], &options[at],
		(count - at) * sizeof(*options));
	options[at] = *option;
	return count + 1;
}

int estimate_options(const struct workload *workload, int64_t usable_bytes,
		     struct memory_option *options, size_t capacity,
		     struct error *err)
{
	struct memory_option option;
	struct estimate before;
	size_t count = 0;
	int result = estimate_memory(workload, &before, err);

	if (result < 0)
		return result;
	for (int kind = 0; kind < MEMORY_OPTION_KINDS; kind++)
		if (options_try_kind(workload, (enum memory_option_kind)kind,
				     usable_bytes, before.peak[TIER_PROCESS],
				     &option))
			count = insert(options, count, capacity, &option);
	return (int)count;
}

/* All of kinds but the one at skip, in their order. */
static bool apply_all(const struct workload *workload,
		      const enum memory_option_kind *kinds, size_t count,
		      int64_t usable_bytes, struct memory_option *option)
{
	struct estimate estimate;

	option->changed = *workload;
	option->changed.gpu_bytes = usable_bytes;
	for (size_t i = 0; i < count; i++)
		(void)option_rules[kinds[i]].apply(&option->changed);
	if (estimate_memory(&option->changed, &estimate, NULL) < 0)
		return false;
	option->peak_bytes = estimate.peak[TIER_PROCESS];
	option->high_bytes = estimate.high[TIER_PROCESS];
	option->fits = option->high_bytes <= usable_bytes;
	return option->fits;
}

/* What is not needed once the later ones are there goes again. */
static size_t options_prune(const struct workload *workload,
			    enum memory_option_kind *kinds, size_t count,
			    int64_t usable_bytes)
{
	enum memory_option_kind fewer[MEMORY_OPTION_KINDS];
	struct memory_option option;

	for (size_t i = count; i-- > 0;) {
		memcpy(fewer, kinds, count * sizeof(*kinds));
		memmove(&fewer[i], &fewer[i + 1],
			(count - i - 1) * sizeof(*kinds));
		if (!apply_all(workload, fewer, count - 1, usable_bytes,
			       &option))
			continue;
		count--;
		memcpy(kinds, fewer, count * sizeof(*kinds));
	}
	return count;
}

/* Where there are several GPUs, sharing costs least: it comes first. */
static enum memory_option_kind kind_at(const struct workload *run, int place)
{
	enum memory_option_kind shares = run->task == TASK_INFERENCE
						 ? MEMORY_TENSOR_PARALLEL
						 : MEMORY_SHARDING;

	if (run->data_parallel > 1 && place == 0)
		return shares;
	if (run->data_parallel > 1 && place <= (int)shares)
		place--;
	return (enum memory_option_kind)place;
}

int estimate_combination(const struct workload *workload, int64_t usable_bytes,
			 enum memory_option_kind kinds[MEMORY_OPTION_KINDS],
			 struct memory_option *option, struct error *err)
{
	struct memory_option next;
	struct estimate before;
	size_t count = 0;
	int result = estimate_memory(workload, &before, err);

	if (result < 0 || apply_all(workload, kinds, 0, usable_bytes, option))
		return result < 0 ? result : 0;
	for (int i = 0; i < MEMORY_OPTION_KINDS && !option->fits; i++) {
		enum memory_option_kind kind = kind_at(workload, i);

		if (!options_try_kind(&option->changed, kind, usable_bytes,
				      option->peak_bytes, &next))
			continue;
		*option = next;
		kinds[count++] = kind;
	}
	if (!option->fits)
		return 0;
	count = options_prune(workload, kinds, count, usable_bytes);
	(void)apply_all(workload, kinds, count, usable_bytes, option);
	option->saved_bytes = before.peak[TIER_PROCESS] - option->peak_bytes;
	return (int)count;
}
