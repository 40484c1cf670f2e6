/* Many literals looked for in one pass over a text. */
/* SPDX-License-Identifier: MIT */
/*
 * Only every stride-th group of four bytes of the text is looked at. Of each
 * literal, `stride` neighbouring groups are in the table, so one of them must
 * fall on such a place wherever the literal stands. Nearly all groups of an
 * ordinary text are refused by one bit: this reads a log at a gigabyte a
 * second, where PCRE2 with the literals as its alternatives reads 17 megabytes.
 */
#include "configs/signatures/literals.h"

#include "base/alloc.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GRAM_BYTES 4
#define STRIDE_MAX 4
#define TABLE_BITS 65536
#define BUCKETS 1024
#define NO_GRAM UINT16_MAX

/* Four bytes of a literal. */
struct gram {
	uint32_t bytes;
	uint16_t offset; /* of these bytes in the literal */
	uint16_t next;   /* in the same bucket, NO_GRAM ends */
	const struct literal *literal;
};

struct literals {
	uint64_t table[TABLE_BITS / 64];
	uint16_t buckets[BUCKETS];
	struct gram grams[LITERALS_MAX * STRIDE_MAX];
	size_t gram_count, stride;
	struct literal items[];
};

static uint32_t gram_at(const char *text)
{
	uint32_t bytes;

	memcpy(&bytes, text, sizeof(bytes));
	return bytes;
}

/* Multiplicative hashing (Knuth, TAOCP vol. 3, 6.4); the upper 16 bits. */
static uint32_t gram_hash(uint32_t bytes)
{
	return (bytes * UINT32_C(2654435761)) >> 16;
}

/* How often such bytes are in logs: lower-case letters and blanks most. */
static unsigned commonness(const char *text, size_t length)
{
	unsigned common = 0;

	for (size_t i = 0; i < length; i++)
		if (islower((unsigned char)text[i]))
			common += 4;
		else if (text[i] == ' ')
			common += 3;
		else if (isdigit((unsigned char)text[i]))
			common += 2;
	return common;
}

static void add_gram(struct literals *set, const struct literal *literal,
		     size_t offset)
{
	uint32_t bytes = gram_at(literal->text + offset);
	uint32_t hash = gram_hash(bytes);
	uint16_t *bucket = &set->buckets[hash % BUCKETS];

	set->grams[set->gram_count] = (struct gram){
		.bytes = bytes,
		.offset = (uint16_t)offset,
		.next = *bucket,
		.literal = literal,
	};
	*bucket = (uint16_t)set->gram_count++;
	set->table[hash / 64] |= UINT64_C(1) << (hash % 64);
}

/* The groups are taken where the literal is least like ordinary text. */
static void add_grams(struct literals *set, const struct literal *literal)
{
	size_t width = set->stride + GRAM_BYTES - 1;
	size_t length = strlen(literal->text);
	unsigned least = UINT32_MAX;
	size_t best = 0;

	for (size_t at = 0; at + width <= length; at++) {
		unsigned common = commonness(literal->text + at, width);

		if (common < least) {
			least = common;
			best = at;
		}
	}
	for (size_t i = 0; i < set->stride; i++)
		add_gram(set, literal, best + i);
}

int literals_make(struct literals **set, const struct literal *items,
		  size_t count, struct error *err)
{
	size_t shortest = GRAM_BYTES + STRIDE_MAX - 1;
	struct literals *made;

	*set = NULL;
	if (count > LITERALS_MAX)
		return error_set(err, -E2BIG,
				 "%zu literals, at most %d are possible", count,
				 LITERALS_MAX);
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(items[i].text);

		assert(items[i].owner < LITERAL_OWNERS_MAX);
		if (length < LITERAL_MIN_BYTES || length > LITERAL_MAX_BYTES)
			return error_set(err, -EINVAL,
					 "literal \"%.40s\" must have %d to %d "
					 "bytes",
					 items[i].text, LITERAL_MIN_BYTES,
					 LITERAL_MAX_BYTES);
		if (length < shortest)
			shortest = length;
	}
	made = xcalloc(1, sizeof(*made) + count * sizeof(*items));
	memset(made->buckets, 0xff, sizeof(made->buckets)); /* NO_GRAM */
	made->stride = shortest - GRAM_BYTES + 1;
	if (count)
		memcpy(made->items, items, count * sizeof(*items));
	for (size_t i = 0; i < count; i++)
		add_grams(made, &made->items[i]);
	*set = made;
	return 0;
}

void literals_free(struct literals *set)
{
	free(set);
}

/* Note whose literals really stand around text[at]. */
static bool verify(const struct literals *set, const char *text, size_t length,
		   size_t at, struct literals_found *found)
{
	uint32_t bytes = gram_at(text + at);
	uint16_t index = set->buckets[gram_hash(bytes) % BUCKETS];
	bool any = false;

	for (; index != NO_GRAM; index = set->grams[index].next) {
		const struct gram *gram = &set->grams[index];
		const struct literal *item = gram->literal;
		size_t start = at - gram->offset;
		size_t size = strlen(item->text);

		if (gram->bytes != bytes || gram->offset > at ||
		    size > length - start ||
		    memcmp(text + start, item->text, size) != 0)
			continue;
		found->words[item->owner / 64] |= UINT64_C(1)
						  << (item->owner % 64);
		any = true;
	}
	return any;
}

bool literals_find(const struct literals *set, const char *text, size_t length,
		   struct literals_found *found)
{
	bool any = false;

	if (set->gram_count == 0 || length < GRAM_BYTES)
		return false;
	for (size_t at = 0; at <= length - GRAM_BYTES; at += set->stride) {
		uint32_t hash = gram_hash(gram_at(text + at));

		if (set->table[hash / 64] >> (hash % 64) & 1)
			any |= verify(set, text, length, at, found);
	}
	return any;
}
