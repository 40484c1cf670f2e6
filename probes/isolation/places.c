/* Where a probe writes for real, and where never, by path. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/places.h"

#include "base/alloc.h"
#include "probes/isolation/mounts.h"

#include <stdlib.h>
#include <string.h>

static void places_add(struct places *places, const struct strlist *paths,
		       bool shared)
{
	for (size_t i = 0; paths && i < paths->count; i++)
		places->items[places->count++] = (struct place){
			.path = paths->items[i],
			.shared = shared,
		};
}

/* A path stands before those below it; of two equal ones guarded is first. */
static int places_compare(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : (int)x->shared - (int)y->shared;
}

void places_make(struct places *places, const struct strlist *shared,
		 const struct strlist *guarded)
{
	size_t count =
		(shared ? shared->count : 0) + (guarded ? guarded->count : 0);
	size_t kept = 0;

	places->count = 0;
	places->items = xcalloc(count, sizeof(*places->items));
	places_add(places, guarded, false);
	places_add(places, shared, true);
	qsort(places->items, places->count, sizeof(*places->items),
	      places_compare);
	for (size_t i = 0; i < places->count; i++) {
		const struct place *place = &places->items[i];

		/* The last of equal ones is kept, which is the shared one. */
		if (i + 1 == places->count ||
		    strcmp(place->path, place[1].path) != 0)
			places->items[kept++] = *place;
	}
	places->count = kept;
}

void places_release(struct places *places)
{
	free(places->items);
	places->items = NULL;
	places->count = 0;
}

const struct place *places_at(const struct places *places, const char *path)
{
	const struct place *found = NULL;

	for (size_t i = 0; i < places->count; i++)
		if (path_is_within(path, places->items[i].path))
			found = &places->items[i];
	return found;
}

const struct place *places_above(const struct places *places, const char *path)
{
	const struct place *found = NULL;

	for (size_t i = 0; i < places->count; i++)
		if (path_is_within(path, places->items[i].path) &&
		    strcmp(path, places->items[i].path) != 0)
			found = &places->items[i];
	return found;
}

bool places_has_guarded_below(const struct places *places, const char *path)
{
	for (size_t i = 0; i < places->count; i++)
		if (!places->items[i].shared &&
		    path_is_within(places->items[i].path, path) &&
		    strcmp(places->items[i].path, path) != 0)
			return true;
	return false;
}
