/* Allocation that cannot fail: out of memory in autofit itself ends it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_ALLOC_H
#define AUTOFIT_BASE_ALLOC_H

#include <stddef.h>

/*
 * Each returns memory the caller frees with free(). On failure they print one
 * line and end the program with 125: the one exit outside launcher/.
 */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t count, size_t size);
/* The array with room for one more than count: the capacity doubles. */
void *xgrow(void *items, size_t count, size_t *capacity, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t length);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
