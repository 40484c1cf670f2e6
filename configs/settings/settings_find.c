/* The values in a config file that a name means. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_internal.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/name.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Items by their number from 1 on, 0: none. Of a power of two buckets, each
 * item of one has the next. */
struct settings_names {
	uint32_t *first; /* by hash */
	uint32_t *next;  /* by item */
	size_t bucket_count;
};

/* Over "[12]", if that is there. */
static const char *skip_index(const char *key)
{
	const char *end = key;

	if (*end++ != '[' || !name_is_digit(*end))
		return key;
	while (name_is_digit(*end))
		end++;
	return *end == ']' ? end + 1 : key;
}

static const char *without_dashes(const char *key)
{
	return key + strspn(key, "-");
}

static const char *last_part(const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot ? dot + 1 : without_dashes(key);
}

/* Alike for a key and every name that means it: of its last part, without its
 * indices. */
static uint64_t hash_name(const char *key)
{
	uint64_t hash = HASH_START;

	key = last_part(key);
	while (*key) {
		const char *next = skip_index(key);

		if (next == key)
			hash = hash_byte(hash, name_joint(*key++));
		else
			key = next;
	}
	return hash;
}

static uint32_t *settings_find_bucket_of(const struct settings_names *names,
					 const char *key)
{
	return &names->first[hash_bucket(hash_name(key), names->bucket_count)];
}

/* From the last on: those of a bucket are then in the order of the file. */
void settings_index_names(struct settings *settings)
{
	struct settings_names *names = xcalloc(1, sizeof(*names));

	names->bucket_count = hash_bucket_count(settings->count);
	names->first = xcalloc(names->bucket_count, sizeof(*names->first));
	names->next = xcalloc(settings->count, sizeof(*names->next));
	for (size_t i = settings->count; i > 0; i--) {
		uint32_t *first = settings_find_bucket_of(
			names, settings->items[i - 1].key);

		names->next[i - 1] = *first;
		*first = (uint32_t)i;
	}
	settings->names = names;
}

void settings_release_names(struct settings *settings)
{
	if (!settings->names)
		return;
	free(settings->names->first);
	free(settings->names->next);
	free(settings->names);
}

/* A name that has an index itself means this element only. */
static bool settings_find_is_named(const char *key, const char *name,
				   bool has_index)
{
	for (;;) {
		const char *next;

		while (!has_index && (next = skip_index(key)) != key)
			key = next;
		if (name_joint(*key) != name_joint(*name))
			return false;
		if (*key == '\0')
			return true;
		key++;
		name++;
	}
}

size_t settings_find_all(const struct settings *settings, const char *name,
			 const struct setting **found, size_t max)
{
	const struct settings_names *names = settings->names;
	bool is_whole, has_index;
	size_t count = 0;

	name = without_dashes(name);
	if (!names || !*name)
		return 0;
	is_whole = strchr(name, '.') != NULL;
	has_index = strchr(name, '[') != NULL;
	for (uint32_t i = *settings_find_bucket_of(names, name); i;
	     i = names->next[i - 1]) {
		const struct setting *setting = &settings->items[i - 1];
		const char *key = is_whole ? without_dashes(setting->key)
					   : last_part(setting->key);

		if (!settings_find_is_named(key, name, has_index))
			continue;
		if (count < max)
			found[count] = setting;
		count++;
	}
	return count;
}
