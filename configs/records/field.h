/* One row per member of a struct: how records and journals write it down. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_RECORDS_FIELD_H
#define AUTOFIT_CONFIGS_RECORDS_FIELD_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_kind {
	FIELD_INTEGER, /* int64_t, not below smallest */
	FIELD_INT,     /* int, not below smallest */
	FIELD_BYTES,   /* uint64_t */
	FIELD_SECONDS, /* double, 0 to FIELD_SECONDS_MAX */
	FIELD_BOOL,
	FIELD_VERDICT,
	FIELD_PHASE,
	FIELD_COVERAGE,
	FIELD_STEPS_SOURCE,
	FIELD_TEXT,  /* char *; NULL only when optional */
	FIELD_CHARS, /* char[most] */
	FIELD_LIST,  /* struct strlist of at most most items */
};

#define FIELD_SECONDS_MAX 1e9
/* Tables have at most this many rows: a row is a bit in a reader's mask. */
#define FIELDS_MAX 64

struct field {
	const char *name; /* NULL ends a table */
	enum field_kind kind;
	uint32_t offset; /* in the struct */
	int32_t smallest;
	uint32_t most;
	bool optional;
};

/* Is it text of any length, which needs escaping, or one short word? */
bool field_is_text(const struct field *field);

/* Appends a field that is words; what is no time (NaN, negative) becomes 0. */
void field_format(const struct field *field, const void *object,
		  struct strbuf *out);

/* Parses a field that is words: -EINVAL with "name: ..." when text is none. */
int field_parse(const struct field *field, void *object, const char *text,
		struct error *err);

/* A time within its bounds, or 0. */
double field_seconds(double seconds);

/* The row of that name, or NULL; index is its place in the table. */
const struct field *field_find(const struct field *fields, const char *name,
			       size_t *index);

#endif
