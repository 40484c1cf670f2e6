/* Texts that are released together. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_POOL_H
#define AUTOFIT_BASE_POOL_H

#include <stddef.h>

struct pool_block;

/* All zero: empty. What it gave out stays where it is until its release. */
struct pool {
	struct pool_block *last; /* the blocks before hang behind it */
	char *free;              /* its unused bytes */
	size_t left;
};

/* A copy of these bytes with a NUL behind them; the pool owns it. */
char *pool_add(struct pool *pool, const char *text, size_t length);
void pool_release(struct pool *pool);

#endif
