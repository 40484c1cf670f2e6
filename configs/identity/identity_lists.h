/* The words for two lists of values under one label of an identity. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_IDENTITY_IDENTITY_LISTS_H
#define AUTOFIT_CONFIGS_IDENTITY_IDENTITY_LISTS_H

#include "configs/identity/difference.h"

#include <stdbool.h>
#include <stddef.h>

/* A part of somebody else's text, escaped. */
struct piece {
	const char *text;
	size_t length;
};

/* As strcmp. */
int piece_compare(const struct piece *a, const struct piece *b);

struct identity_entry {
	bool is_place;
	struct piece label, value;
	size_t order; /* in its text */
};

struct identity_entries {
	struct identity_entry *items;
	size_t count;
};

struct identity_lists {
	struct piece label;
	const struct identity_entry *recorded, *now; /* NULL: none */
	size_t recorded_count, now_count;
};

/* One entry of the difference for each value that differs, at least one. */
void identity_lists_say(const struct identity_lists *lists,
			struct difference *difference);

#endif
