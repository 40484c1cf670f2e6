/* Texts that are released together. */
/* SPDX-License-Identifier: MIT */
#include "base/pool.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Each block is twice as large as the one before, up to this size. */
#define FIRST_BYTES ((size_t)1024)
#define LARGEST_BYTES ((size_t)64 * 1024)

struct pool_block {
	struct pool_block *before;
	size_t bytes;
	char text[];
};

static void add_block(struct pool *pool, size_t needed)
{
	size_t bytes = pool->last ? 2 * pool->last->bytes : FIRST_BYTES;
	struct pool_block *block;

	if (bytes > LARGEST_BYTES)
		bytes = LARGEST_BYTES;
	if (bytes < needed)
		bytes = needed;
	block = xmalloc(sizeof(*block) + bytes);
	block->before = pool->last;
	block->bytes = bytes;
	pool->last = block;
	pool->free = block->text;
	pool->left = bytes;
}

char *pool_add(struct pool *pool, const char *text, size_t length)
{
	char *copy;

	if (length >= pool->left)
		add_block(pool, length + 1);
	assert(length < pool->left);
	copy = pool->free;
	if (length)
		memcpy(copy, text, length);
	copy[length] = '\0';
	pool->free += length + 1;
	pool->left -= length + 1;
	return copy;
}

void pool_release(struct pool *pool)
{
	while (pool->last) {
		struct pool_block *before = pool->last->before;

		free(pool->last);
		pool->last = before;
	}
	*pool = (struct pool){ 0 };
}
