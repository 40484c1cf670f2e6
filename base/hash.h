/* A short name for a long text: 64-bit FNV-1a. Not against an adversary. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_HASH_H
#define AUTOFIT_BASE_HASH_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Source: Fowler, Noll, Vo, FNV-1a with offset basis 0xcbf29ce484222325 and
 * prime 0x100000001b3. What is named by it is compared in full as well.
 */
#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Byte by byte from HASH_START on. */
static inline uint64_t hash_byte(uint64_t hash, char byte)
{
	return (hash ^ (unsigned char)byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t hash_bytes(const void *data, size_t length)
{
	const char *bytes = data;
	uint64_t hash = HASH_START;

	for (size_t i = 0; i < length; i++)
		/* The analyzer knows but one byte of some texts. */
		hash = hash_byte(hash, bytes[i]); /* NOLINT */
	return hash;
}

/* The bucket of a hash, in a table of so many buckets (a power of two). */
static inline size_t hash_bucket(uint64_t hash, size_t bucket_count)
{
	assert(bucket_count && !(bucket_count & (bucket_count - 1)));
	return (size_t)(hash ^ hash >> 32) & (bucket_count - 1);
}

/* The least power of two that is not below it. */
static inline size_t hash_bucket_count(size_t least)
{
	size_t count = 1;

	while (count < least)
		count *= 2;
	return count;
}

#endif
