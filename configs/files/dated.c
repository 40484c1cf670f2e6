/* Paths with the time of their last change. */
/* SPDX-License-Identifier: MIT */
#include "configs/files/dated.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void dated_add(struct dated_list *list, char *path, struct timespec changed)
{
	list->items = xgrow(list->items, list->count, &list->capacity,
			    sizeof(*list->items));
	list->items[list->count++] = (struct dated){ path, changed };
}

static int newest_first(const void *a, const void *b)
{
	const struct dated *x = a;
	const struct dated *y = b;

	if (x->changed.tv_sec != y->changed.tv_sec)
		return x->changed.tv_sec < y->changed.tv_sec ? 1 : -1;
	if (x->changed.tv_nsec != y->changed.tv_nsec)
		return x->changed.tv_nsec < y->changed.tv_nsec ? 1 : -1;
	return strcmp(x->path, y->path);
}

void dated_sort(struct dated_list *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items),
		      newest_first);
}

void dated_release(struct dated_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].path);
	free(list->items);
}
