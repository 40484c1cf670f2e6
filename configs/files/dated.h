/* Paths with the time of their last change. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_FILES_DATED_H
#define AUTOFIT_CONFIGS_FILES_DATED_H

#include <stddef.h>
#include <time.h>

struct dated {
	char *path;
	struct timespec changed;
};

struct dated_list {
	struct dated *items;
	size_t count, capacity;
};

/* Takes path over. */
void dated_add(struct dated_list *list, char *path, struct timespec changed);
/* The newest first; of the same moment by name. */
void dated_sort(struct dated_list *list);
void dated_release(struct dated_list *list);

#endif
