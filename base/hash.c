/* A short name for a long text: 64-bit FNV-1a. Not against an adversary. */
/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

uint64_t hash_bytes(const void *data, size_t length)
{
	const unsigned char *bytes = data;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++) {
		hash ^= bytes[i];
		hash *= UINT64_C(0x100000001b3);
	}
	return hash;
}
