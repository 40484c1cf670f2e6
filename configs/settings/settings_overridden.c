/* Values below a key that got another value later: {a: {b: 1}, a: 2}. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_internal.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Deeper than a value can be, dots are of the key itself. */
#define PARTS_MAX (2 * SETTINGS_DEPTH_MAX)

/* Fewer in most texts. */
#define BYTES_OF_PART 8

/* What some key begins with, up to a "." or "[": a.b of a.b.c and a.b[0]. */
struct overridden_spot {
	const char *path;
	size_t length;
	uint64_t hash;
	size_t at;       /* where it last got a value */
	uint32_t parent; /* a of a.b */
	uint32_t next_of_bucket;
};

/* Spots by their number from 1 on, 0: none. */
struct spots {
	struct overridden_spot *items;
	size_t count, capacity;
	uint32_t *first_of_bucket;
	size_t bucket_count; /* a power of two */
	uint32_t *above;     /* of each setting, the longest */
};

/* A key, read as far as length. */
struct overridden_reading {
	const char *key;
	size_t length;
	uint64_t hash;
};

static bool is_cut(char c)
{
	return c == '.' || c == '[';
}

/* On to the next "." or "["; false: to the end of the key. */
static bool overridden_read_part(struct overridden_reading *reading)
{
	while (reading->key[reading->length]) {
		reading->hash = hash_byte(reading->hash,
					  reading->key[reading->length++]);
		if (is_cut(reading->key[reading->length]))
			return true;
	}
	return false;
}

static uint32_t *overridden_bucket_of(const struct spots *spots, uint64_t hash)
{
	return &spots->first_of_bucket[hash_bucket(hash, spots->bucket_count)];
}

static uint32_t find_spot(const struct spots *spots,
			  const struct overridden_reading *reading)
{
	uint32_t found = *overridden_bucket_of(spots, reading->hash);

	while (found) {
		const struct overridden_spot *spot = &spots->items[found - 1];

		if (spot->hash == reading->hash &&
		    spot->length == reading->length &&
		    memcmp(spot->path, reading->key, spot->length) == 0)
			break;
		found = spot->next_of_bucket;
	}
	return found;
}

static uint32_t add_spot(struct spots *spots,
			 const struct overridden_reading *reading,
			 uint32_t parent)
{
	uint32_t *bucket = overridden_bucket_of(spots, reading->hash);

	spots->items = xgrow(spots->items, spots->count, &spots->capacity,
			     sizeof(*spots->items));
	spots->items[spots->count++] = (struct overridden_spot){
		.path = reading->key,
		.length = reading->length,
		.hash = reading->hash,
		.parent = parent,
		.next_of_bucket = *bucket,
	};
	*bucket = (uint32_t)spots->count;
	return *bucket;
}

/* The longest that the key begins with; those that are new are added. */
static uint32_t add_spots_of(struct spots *spots, const char *key)
{
	struct overridden_reading reading = { .key = key, .hash = HASH_START };
	uint32_t longest = 0;

	for (int i = 0; i < PARTS_MAX && overridden_read_part(&reading); i++) {
		uint32_t spot = find_spot(spots, &reading);

		longest = spot ? spot : add_spot(spots, &reading, longest);
	}
	return longest;
}

/* Has the key this spot and no longer one? */
static bool is_right_below(const struct spots *spots, uint32_t number,
			   const char *key)
{
	const struct overridden_spot *spot = &spots->items[number - 1];

	return strncmp(key, spot->path, spot->length) == 0 &&
	       is_cut(key[spot->length]) &&
	       !strpbrk(key + spot->length + 1, ".[");
}

static void collect(struct spots *spots, const struct settings *settings)
{
	uint32_t above = 0;

	for (size_t i = 0; i < settings->count; i++) {
		const char *key = settings->items[i].key;

		/* Most keys are beside the one before. */
		if (!above || !is_right_below(spots, above, key))
			above = add_spots_of(spots, key);
		spots->above[i] = above;
	}
}

/* The path, which may be a spot, got a value. */
static void put_value(struct spots *spots, const char *path, size_t at)
{
	struct overridden_reading reading = { .key = path, .hash = HASH_START };
	uint32_t found;

	while (overridden_read_part(&reading))
		;
	found = find_spot(spots, &reading);
	if (found && spots->items[found - 1].at < at)
		spots->items[found - 1].at = at;
}

static bool is_gone(const struct spots *spots, uint32_t above, size_t start)
{
	while (above && spots->items[above - 1].at <= start)
		above = spots->items[above - 1].parent;
	return above != 0;
}

static void overridden_mark(const struct spots *spots,
			    struct settings *settings)
{
	for (size_t i = 0; i < settings->count; i++) {
		struct setting *setting = &settings->items[i];

		if (is_gone(spots, spots->above[i], setting->start))
			setting->is_scalar = false;
	}
}

void settings_mark_overridden(struct settings_reader *reader)
{
	struct settings *settings = reader->settings;
	struct spots spots = {
		.bucket_count =
			hash_bucket_count(reader->length / BYTES_OF_PART),
	};

	spots.items = xgrow(NULL, 0, &spots.capacity, sizeof(*spots.items));
	spots.first_of_bucket =
		xcalloc(spots.bucket_count, sizeof(*spots.first_of_bucket));
	spots.above = xcalloc(settings->count, sizeof(*spots.above));
	collect(&spots, settings);
	for (size_t i = 0; spots.count && i < settings->count; i++)
		put_value(&spots, settings->items[i].key,
			  settings->items[i].start);
	for (size_t i = 0; spots.count && i < reader->place_count; i++)
		put_value(&spots, reader->places[i].path, reader->places[i].at);
	overridden_mark(&spots, settings);
	free(spots.items);
	free(spots.first_of_bucket);
	free(spots.above);
}
