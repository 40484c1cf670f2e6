/* Lines that say why a command failed: out of memory, and known causes. */
/* SPDX-License-Identifier: MIT */
#include "configs/signatures/signature.h"

#include "base/alloc.h"
#include "base/strlist.h"
#include "configs/signatures/literals.h"
#include "configs/signatures/pattern.h"
#include "configs/signatures/signature_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A longer line is matched in overlapping windows: a match of up to the
 * overlap is always found, and no pattern ever meets more than a window.
 */
#define WINDOW_BYTES 4096
#define OVERLAP_BYTES 2048

/* For one line, so that a line made to annoy costs milliseconds at most. */
#define RUNS_MAX 512

void signatures_free(struct signatures *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->count; i++)
		rule_release(&set->rules[i]);
	free(set->rules);
	literals_free(set->literals);
	free(set);
}

static bool has_literal(const struct rule *rule, const char *text,
			size_t length)
{
	for (size_t i = 0; i < rule->contains.count; i++)
		if (memmem(text, length, rule->contains.items[i],
			   strlen(rule->contains.items[i])))
			return true;
	return false;
}

/* An example must be found by the way that lines are: literal, pattern. */
static int check_examples(const struct rule *rule, struct error *err)
{
	for (size_t i = 0; i < rule->examples.count; i++) {
		const char *line = rule->examples.items[i];
		struct pattern_window window = { line, 0, strlen(line), false };

		if (!has_literal(rule, line, window.to))
			return error_set(err, -EINVAL,
					 "no \"contains\" is in its example "
					 "\"%s\"",
					 line);
		if (rule->pattern &&
		    !pattern_match(rule->pattern, &window, 0, NULL))
			return error_set(err, -EINVAL,
					 "its pattern does not match its "
					 "example \"%s\"",
					 line);
	}
	return 0;
}

static int compile_rule(struct rule *rule, struct error *err)
{
	int result;

	if (rule->shown.class == SIGNATURE_NONE)
		return error_set(err, -EINVAL, "class is missing");
	if (rule->contains.count == 0)
		return error_set(err, -EINVAL,
				 "contains is missing: a literal that every "
				 "match has in it");
	if (rule->examples.count == 0)
		return error_set(err, -EINVAL,
				 "example is missing: a line that it matches");
	rule->shown.example = xstrdup(rule->examples.items[0]);
	if (rule->text) {
		result = pattern_make(&rule->pattern, rule->text, err);
		if (result < 0)
			return result;
		if (!pattern_needs(rule->text, &rule->contains))
			return error_set(err, -EINVAL,
					 "pattern \"%s\" can match without a "
					 "literal of \"contains\": each of its "
					 "alternatives must have one",
					 rule->text);
	}
	return check_examples(rule, err);
}

static int compare_rules(const void *left, const void *right)
{
	const struct rule *a = left;
	const struct rule *b = right;

	if (a->shown.class != b->shown.class)
		return a->shown.class < b->shown.class ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void number_literals(struct rule *rule, struct strlist *all)
{
	rule->literals = xcalloc(rule->contains.count, sizeof(*rule->literals));
	for (size_t i = 0; i < rule->contains.count; i++) {
		size_t index = strlist_find(all, rule->contains.items[i]);

		if (index == all->count)
			strlist_add(all, rule->contains.items[i]);
		rule->literals[i] = index;
	}
}

static int finish(struct signatures *set, struct error *err)
{
	struct strlist all = STRLIST_INIT;
	int result = 0;

	for (size_t i = 0; i < set->count; i++) {
		struct rule *rule = &set->rules[i];

		result = compile_rule(rule, err);
		if (result < 0) {
			(void)error_prefix(err, "%s: %s", rule->where,
					   rule->shown.name);
			goto out;
		}
		number_literals(rule, &all);
	}
	if (set->count > 0)
		qsort(set->rules, set->count, sizeof(*set->rules),
		      compare_rules);
	result = literals_make(&set->literals, &all, err);
out:
	strlist_release(&all);
	return result;
}

int signatures_load(struct signatures **set, const char *folder,
		    struct error *err)
{
	struct signatures *made = xcalloc(1, sizeof(*made));
	int result = rules_read(made, folder, err);

	*set = NULL;
	if (result >= 0)
		result = finish(made, err);
	if (result < 0) {
		signatures_free(made);
		return result;
	}
	*set = made;
	return 0;
}

const struct signature *signatures_at(const struct signatures *set,
				      size_t index)
{
	return index < set->count ? &set->rules[index].shown : NULL;
}

static bool wants(const struct rule *rule, const struct literals_found *found)
{
	for (size_t i = 0; i < rule->contains.count; i++)
		if (literals_found_has(found, rule->literals[i]))
			return true;
	return false;
}

/* The first rule before `best` that matches in the window, or best. */
static size_t match_window(const struct signatures *set,
			   const struct pattern_window *window, size_t best,
			   unsigned *runs_left)
{
	struct literals_found found;

	if (!literals_find(set->literals, window->text + window->from,
			   window->to - window->from, &found))
		return best;
	for (size_t i = 0; i < best; i++) {
		const struct rule *rule = &set->rules[i];

		if (!wants(rule, &found))
			continue;
		if (!rule->pattern)
			return i;
		if (*runs_left == 0)
			return best;
		--*runs_left;
		if (pattern_match(rule->pattern, window, 0, NULL))
			return i;
	}
	return best;
}

const struct signature *signatures_match(const struct signatures *set,
					 const char *line, size_t length)
{
	struct pattern_window window = { .text = line, .to = length };
	unsigned runs_left = RUNS_MAX;
	size_t best = set->count;

	while (length - window.from > WINDOW_BYTES) {
		window.to = window.from + WINDOW_BYTES;
		window.cut = true;
		best = match_window(set, &window, best, &runs_left);
		window.from += WINDOW_BYTES - OVERLAP_BYTES;
	}
	window.to = length;
	window.cut = false;
	best = match_window(set, &window, best, &runs_left);
	return signatures_at(set, best);
}
