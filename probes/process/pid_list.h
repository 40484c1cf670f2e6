/* A growable list of process ids. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PROCESS_PID_LIST_H
#define AUTOFIT_PROBES_PROCESS_PID_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* No list grows beyond this; what would is passed over. */
#define PID_LIST_MAX 65536

/* Ascending and each pid once, except between append and finish. */
struct pid_list {
	pid_t *items;
	size_t count, capacity;
};

#define PID_LIST_INIT                                                          \
	{                                                                      \
		0                                                              \
	}

/* A pid that is there already changes nothing. */
void pid_list_insert(struct pid_list *list, pid_t pid);
bool pid_list_has(const struct pid_list *list, pid_t pid);

/* Many at once: append each, then sort, drop what is double and except.
 * Returns the count. */
void pid_list_append(struct pid_list *list, pid_t pid);
size_t pid_list_finish(struct pid_list *list, pid_t except);

void pid_list_release(struct pid_list *list);

#endif
