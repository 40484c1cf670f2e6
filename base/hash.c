/* A short name for a long text: 64-bit FNV-1a. Not against an adversary. */
/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

uint64_t hash_bytes(const void *data, size_t length)
{
	const char *bytes = data;
	uint64_t hash = HASH_START;

	for (size_t i = 0; i < length; i++)
		hash = hash_byte(hash, bytes[i]);
	return hash;
}
