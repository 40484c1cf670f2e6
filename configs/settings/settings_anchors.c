/* Anchors of YAML: which items an alias means too. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_anchors.h"

#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NO_ANCHOR SIZE_MAX

size_t settings_anchor_begin(struct settings_anchors *anchors, const char *name,
			     size_t first)
{
	if (!name)
		return NO_ANCHOR;
	anchors->items = xgrow(anchors->items, anchors->count,
			       &anchors->capacity, sizeof(*anchors->items));
	anchors->items[anchors->count] = (struct settings_anchor){
		.name = xstrdup(name),
		.first = first,
	};
	return anchors->count++;
}

void settings_anchor_end(struct settings_anchors *anchors, size_t anchor,
			 size_t end)
{
	if (anchor != NO_ANCHOR)
		anchors->items[anchor].end = end;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void settings_mark_aliased(struct settings *settings,
			   struct settings_anchors *anchors)
{
	struct strlist *aliases = &anchors->aliases;

	if (!aliases->count)
		return;
	qsort(aliases->items, aliases->count, sizeof(*aliases->items),
	      compare_names);
	for (size_t i = 0; i < anchors->count; i++) {
		const struct settings_anchor *anchor = &anchors->items[i];

		if (!bsearch(&anchor->name, aliases->items, aliases->count,
			     sizeof(*aliases->items), compare_names))
			continue;
		for (size_t j = anchor->first; j < anchor->end; j++)
			settings->items[j].is_scalar = false;
	}
}

void settings_anchors_release(struct settings_anchors *anchors)
{
	for (size_t i = 0; i < anchors->count; i++)
		free(anchors->items[i].name);
	free(anchors->items);
	strlist_release(&anchors->aliases);
}
