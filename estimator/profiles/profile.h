/* Works out a run's memory by the rules of a published guide. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_ESTIMATOR_PROFILES_PROFILE_H
#define AUTOFIT_ESTIMATOR_PROFILES_PROFILE_H

#include "base/error.h"
#include "base/profile.h"

#include <stdbool.h>
#include <stddef.h>

#define PROFILE_LABEL_MAX 48
#define PROFILE_ITEMS_MAX 16

/*
 * What the caller knows of a run; 0 and NULL: not said, the guide's own
 * default counts. A guide that has no use for one ignores it.
 */
struct profile_inputs {
	double params;   /* parameters of the model */
	double model_gb; /* its weights, in the guide's unit */
	double hidden, layers, vocab, positions;
	double bytes; /* of one weight: 2, 4 */
	double batch, sequence;
	double gpu_gb; /* of one GPU, in the unit the guide says it in */
	double gpus;
	const char *optimizer; /* "adamw"; as the guide names them */
	const char *method;    /* an estimate of the guide; NULL: the first */
};

enum profile_item_kind {
	PROFILE_PART,  /* of the memory, in profile->unit */
	PROFILE_TOTAL, /* of it */
	PROFILE_COUNT, /* a number that is no memory: a batch, steps */
};

struct profile_item {
	enum profile_item_kind kind;
	char label[PROFILE_LABEL_MAX];
	double low, high; /* equal where the guide gives no range */
};

struct profile_result {
	struct profile_item items[PROFILE_ITEMS_MAX];
	size_t count;
	double low, high;    /* the total, in profile->unit */
	const char *method;  /* which of its estimates */
	const char *verdict; /* the guide's words for it; NULL: none */
};

/*
 * -EINVAL: no such method or optimizer, and err names those there are;
 * -ENODATA: err names the input that the guide cannot do without; -ERANGE: an
 * input is absurd or outside of what the guide covers. Allocates nothing.
 */
int profile_estimate(const struct profile *profile,
		     const struct profile_inputs *inputs,
		     struct profile_result *result, struct error *err);

/* The values that names stand for while a row or a rule is computed. */
struct profile_scope {
	const struct profile *profile;
	double inputs[PROFILE_NAMES_MAX]; /* as in [inputs]; NAN: not known */
	double rules[PROFILE_NAMES_MAX];  /* NAN: an input of it is not known */
	size_t rule_count; /* of them, that are computed already */
	bool is_looked_up[PROFILE_NAMES_MAX]; /* rules that need an anchor */
};

/* NULL inputs: the guide's defaults. */
int profile_scope_init(struct profile_scope *scope,
		       const struct profile *profile,
		       const struct profile_inputs *inputs, struct error *err);
/* "params=7e9 batch=8": these instead. */
int profile_scope_set(struct profile_scope *scope, const char *text,
		      struct error *err);

/* Where a figure comes from. */
enum profile_source {
	PROFILE_LITERAL,   /* stands in the table */
	PROFILE_LOOKED_UP, /* from anchors */
	PROFILE_COMPUTED,  /* by a rule */
};

struct profile_figure {
	double value;
	enum profile_source source;
};

/* A piece of a line, not terminated. */
struct profile_text {
	const char *text;
	size_t length;
};

/* The value of an expression. */
int profile_value(const struct profile_scope *scope,
		  struct profile_text expression, struct profile_figure *figure,
		  struct error *err);

/* The text that the bands called name have for value. */
int profile_band(const struct profile *profile, struct profile_text name,
		 double value, const char **text, struct error *err);

/* The fields that "|" divides, without blanks around them; how many. */
size_t profile_fields(const char *line,
		      struct profile_text fields[PROFILE_COLUMNS_MAX]);

/* NULL: there is none; name NULL: any. */
const struct profile_section *profile_section(const struct profile *profile,
					      enum profile_kind kind,
					      const char *name);
/* The text of the last line with that key, or NULL. */
const char *profile_key(const struct profile_section *section, const char *key);

#endif
