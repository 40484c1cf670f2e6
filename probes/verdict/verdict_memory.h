/* The rules of a verdict that speak of memory: too much, or run out of. Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_VERDICT_VERDICT_MEMORY_H
#define AUTOFIT_PROBES_VERDICT_VERDICT_MEMORY_H

#include "probes/verdict/verdict.h"

#include <stdbool.h>

/*
 * Each leaves the judgement alone, or gives the verdict. verdict_judge() says
 * in which order they are asked, among the other rules.
 */
void verdict_rule_stopped_over_limit(const struct evidence *evidence,
				     struct judgement *out);
void verdict_rule_other_memory(const struct evidence *evidence,
			       struct judgement *out);
void verdict_rule_memory_text(const struct evidence *evidence,
			      struct judgement *out);
void verdict_rule_kernel_kill(const struct evidence *evidence,
			      struct judgement *out);
void verdict_rule_refused_at_last(const struct evidence *evidence,
				  struct judgement *out);
void verdict_rule_over_limit(const struct evidence *evidence,
			     struct judgement *out);
void verdict_rule_caught_oom(const struct evidence *evidence,
			     struct judgement *out);
void verdict_rule_thrashing(const struct evidence *evidence,
			    struct judgement *out);

/*
 * Its last words are of host memory, but it was far from the limit, asked for
 * no more than was left, and nobody was killed: such words come for want of
 * address space, threads or a sound number, too.
 */
bool verdict_words_are_unlikely(const struct evidence *evidence);

/*
 * Something of it speaks of memory, whatever the verdict: its words, an error
 * that torch raised, a refusal, or an end by a signal, which tells no cause.
 */
bool verdict_shows_memory(const struct evidence *evidence);

#endif
