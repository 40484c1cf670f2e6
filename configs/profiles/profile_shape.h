/* Checks the shape of a profile's lines and sections. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_PROFILES_PROFILE_SHAPE_H
#define AUTOFIT_CONFIGS_PROFILES_PROFILE_SHAPE_H

#include "base/error.h"
#include "base/profile.h"

#include <stdbool.h>
#include <stddef.h>

/* What stands on both sides of "=". */
enum profile_shape {
	SHAPE_NAMED,  /* a name, any text */
	SHAPE_NUMBER, /* a name, a number */
	SHAPE_POINT,  /* a number, a number */
	SHAPE_BAND,   /* a number or "else", any text */
	SHAPE_KEYS,   /* one of the keys of the kind */
};

/* A key of a kind. */
struct profile_key_rule {
	const char *name; /* NULL ends a list */
	bool is_needed;
	bool is_repeated; /* may stand more than once */
	bool is_joined;   /* lines below it continue it */
};

#define PROFILE_KEYS_MAX 8

struct profile_kind_rule {
	const char *word; /* "table" of [table NAME] */
	bool is_named;
	enum profile_shape shape;
	struct profile_key_rule keys[PROFILE_KEYS_MAX];
};

extern const struct profile_kind_rule profile_kind_rules[PROFILE_KINDS];

/* NULL: the kind has no such key. */
const struct profile_key_rule *
profile_key_rule(const struct profile_kind_rule *rule, const char *key);

/* A plain decimal number up to 1e18. -EINVAL: text is none. */
int profile_number(const char *text, double *number, struct error *err);

/* "table training" as kind and name, which points into text. */
int profile_section_parse(const char *text, enum profile_kind *kind,
			  const char **name, struct error *err);
/* Sets the numbers of a line whose key and text are there. */
int profile_line_parse(const struct profile_kind_rule *rule,
		       struct profile_line *line, struct error *err);

/* The whole of it; err begins with the place of what is wrong. */
int profile_shape_check(const struct profile *profile, struct error *err);

#endif
