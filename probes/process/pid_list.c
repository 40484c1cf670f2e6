/* A growable list of process ids. */
/* SPDX-License-Identifier: MIT */
#include "probes/process/pid_list.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdlib.h>

void pid_list_append(struct pid_list *list, pid_t pid)
{
	if (list->count == PID_LIST_MAX)
		return;
	list->items = xgrow(list->items, list->count, &list->capacity,
			    sizeof(*list->items));
	list->items[list->count++] = pid;
}

void pid_list_release(struct pid_list *list)
{
	free(list->items);
	*list = (struct pid_list)PID_LIST_INIT;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t left = *(const pid_t *)a;
	pid_t right = *(const pid_t *)b;

	return (left > right) - (left < right);
}

bool pid_list_has(const struct pid_list *list, pid_t pid)
{
	return list->count && bsearch(&pid, list->items, list->count,
				      sizeof(pid), compare_pids);
}

void pid_list_insert(struct pid_list *list, pid_t pid)
{
	size_t at = list->count;

	if (pid_list_has(list, pid) || list->count == PID_LIST_MAX)
		return;
	pid_list_append(list, pid);
	while (at && list->items[at - 1] > pid) {
		list->items[at] = list->items[at - 1];
		at--;
	}
	list->items[at] = pid;
	assert(!at || list->items[at - 1] < pid);
}

size_t pid_list_finish(struct pid_list *list, pid_t except)
{
	size_t kept = 0;

	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items),
		      compare_pids);
	for (size_t i = 0; i < list->count; i++) {
		pid_t pid = list->items[i];

		if (pid != except && (!kept || list->items[kept - 1] != pid))
			list->items[kept++] = pid;
	}
	assert(kept <= list->count);
	list->count = kept;
	return kept;
}
