/* Step counters in log lines, by the regexes of a preset. */
/* SPDX-License-Identifier: MIT */
#include "configs/presets/steps.h"

#include "base/alloc.h"
#include "configs/signatures/pattern.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * A counter stands near the beginning; no pattern meets more than this, since
 * one with ".*" may take time that grows with the square of the length.
 */
#define WINDOW_BYTES 1024

struct step_pattern {
	struct pattern *pattern;
	int group;
};

struct step_patterns {
	struct step_pattern *items;
	size_t count;
	struct strlist ignore;
};

static int steps_add_pattern(struct step_patterns *set, const char *text,
			     struct error *err)
{
	struct step_pattern *item = &set->items[set->count];
	int result = pattern_make(&item->pattern, text, err);

	if (result < 0)
		return result;
	set->count++;
	item->group = pattern_group(item->pattern, "step");
	if (item->group < 0)
		item->group = 1;
	if (pattern_group_count(item->pattern) == 0)
		return error_set(err, -EINVAL,
				 "step pattern \"%s\" has no group: put ( ) "
				 "around the counter",
				 text);
	return 0;
}

int step_patterns_make(struct step_patterns **set,
		       const struct strlist *patterns,
		       const struct strlist *ignore, struct error *err)
{
	struct step_patterns *made = xcalloc(1, sizeof(*made));
	int result = 0;

	*set = NULL;
	made->items = xcalloc(patterns->count + 1, sizeof(*made->items));
	for (size_t i = 0; i < patterns->count && result >= 0; i++)
		result = steps_add_pattern(made, patterns->items[i], err);
	if (result < 0) {
		step_patterns_free(made);
		return result;
	}
	for (size_t i = 0; i < ignore->count; i++)
		if (*ignore->items[i])
			strlist_add(&made->ignore, ignore->items[i]);
	*set = made;
	return 0;
}

void step_patterns_free(struct step_patterns *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->count; i++)
		pattern_free(set->items[i].pattern);
	free(set->items);
	strlist_release(&set->ignore);
	free(set);
}

int64_t counter_parse(const char *text, size_t length)
{
	int64_t value = 0;

	if (length == 0 || *text < '0' || *text > '9')
		return -1;
	for (size_t i = 0; i < length; i++) {
		int digit = text[i] - '0';

		if (text[i] == ',')
			continue;
		if (digit < 0 || digit > 9 || value > (INT64_MAX - digit) / 10)
			return -1;
		value = value * 10 + digit;
	}
	return value;
}

static bool is_ignored_line(const struct step_patterns *set, const char *line,
			    size_t length)
{
	for (size_t i = 0; i < set->ignore.count; i++)
		if (memmem(line, length, set->ignore.items[i],
			   strlen(set->ignore.items[i])))
			return true;
	return false;
}

int64_t step_patterns_match(const struct step_patterns *set, const char *line,
			    size_t length)
{
	struct pattern_window window = { .text = line, .to = length };

	if (window.to > WINDOW_BYTES) {
		window.to = WINDOW_BYTES;
		window.cut = true;
	}
	for (size_t i = 0; i < set->count; i++) {
		struct pattern_span span;
		int64_t counter;

		if (!pattern_match(set->items[i].pattern, &window,
				   set->items[i].group, &span))
			continue;
		counter = counter_parse(line + span.from, span.to - span.from);
		/* Few lines come here, so the literals are asked last. */
		if (counter >= 0)
			return is_ignored_line(set, line, window.to) ? -1
								     : counter;
	}
	return -1;
}
