/* Lines in which a framework names its batch sizes, by regexes of a preset. */
/* SPDX-License-Identifier: MIT */
#include "configs/presets/printed_sizes.h"

#include "base/alloc.h"
#include "configs/presets/steps.h"
#include "configs/signatures/pattern.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* See configs/presets/steps.c: what a pattern may cost is bounded by this. */
#define WINDOW_BYTES 1024
#define GROUPS 3

static const struct {
	const char *name;
	size_t offset;
} groups[GROUPS] = {
	{ "micro", offsetof(struct printed_sizes, micro) },
	{ "accum", offsetof(struct printed_sizes, accum) },
	{ "effective", offsetof(struct printed_sizes, effective) },
};

struct printed_sizes_pattern {
	struct pattern *pattern;
	int group[GROUPS]; /* -1: it has no such group */
};

struct printed_sizes_patterns {
	struct printed_sizes_pattern *items;
	size_t count;
};

static int sizes_add_pattern(struct printed_sizes_patterns *set,
			     const char *text, struct error *err)
{
	struct printed_sizes_pattern *item = &set->items[set->count];
	bool has_group = false;
	int result = pattern_make(&item->pattern, text, err);

	if (result < 0)
		return result;
	set->count++;
	for (size_t i = 0; i < GROUPS; i++) {
		item->group[i] = pattern_group(item->pattern, groups[i].name);
		has_group = has_group || item->group[i] >= 0;
	}
	if (!has_group)
		return error_set(err, -EINVAL,
				 "echo pattern \"%s\" has no group: put "
				 "(?<micro> ), (?<accum> ) or (?<effective> ) "
				 "around a size",
				 text);
	return 0;
}

int printed_sizes_patterns_make(struct printed_sizes_patterns **set,
				const struct strlist *patterns,
				struct error *err)
{
	struct printed_sizes_patterns *made = xcalloc(1, sizeof(*made));
	int result = 0;

	*set = NULL;
	made->items = xcalloc(patterns->count + 1, sizeof(*made->items));
	for (size_t i = 0; i < patterns->count && result >= 0; i++)
		result = sizes_add_pattern(made, patterns->items[i], err);
	if (result < 0) {
		printed_sizes_patterns_free(made);
		return result;
	}
	*set = made;
	return 0;
}

void printed_sizes_patterns_free(struct printed_sizes_patterns *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->count; i++)
		pattern_free(set->items[i].pattern);
	free(set->items);
	free(set);
}

static void take_groups(const struct printed_sizes_pattern *item,
			const struct pattern_window *window,
			struct printed_sizes *sizes)
{
	for (size_t i = 0; i < GROUPS; i++) {
		struct pattern_span span;
		int64_t size;

		if (item->group[i] < 0 || !pattern_match(item->pattern, window,
							 item->group[i], &span))
			continue;
		size = counter_parse(window->text + span.from,
				     span.to - span.from);
		if (size > 0)
			*(int64_t *)((char *)sizes + groups[i].offset) = size;
	}
}

void printed_sizes_patterns_match(const struct printed_sizes_patterns *set,
				  const char *line, size_t length,
				  struct printed_sizes *sizes)
{
	struct pattern_window window = { .text = line, .to = length };

	if (window.to > WINDOW_BYTES) {
		window.to = WINDOW_BYTES;
		window.cut = true;
	}
	for (size_t i = 0; i < set->count; i++)
		take_groups(&set->items[i], &window, sizes);
}
