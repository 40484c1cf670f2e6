/* Identity texts: what a repeat of a command must share with its record. Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_IDENTITY_IDENTITY_TEXT_H
#define AUTOFIT_CONFIGS_IDENTITY_IDENTITY_TEXT_H

#include "base/strbuf.h"

#include <stdbool.h>

/*
 * The first line names the version; then one entry per line: class, label and
 * value, both percent-escaped, with a blank between. Entries of one label may
 * repeat; their order counts.
 */
enum identity_class {
	/* Device, budget, world, E, what is asked for: differs, so a hint. */
	IDENTITY_PLACE,
	/* Arguments, files, versions, variables: differs, so near. */
	IDENTITY_PART,
};

/* How much of a record holds for a command. Ordered: more is better. */
enum record_grade {
	RECORD_NONE,
	RECORD_HINT,  /* a starting point only */
	RECORD_NEAR,  /* one check probe at its split */
	RECORD_EXACT, /* used without a probe */
};

/* "exact", "near", "hint"; NULL for RECORD_NONE. */
const char *record_grade_name(enum record_grade grade);

/* Appends the first line to an empty buffer. */
void identity_begin(struct strbuf *out);
/*
 * A label is a noun for the user: "torch", "device", "variable X". Two kinds
 * are told in their own way: the values of "argument", or of a label that ends
 * so, are the words of a command line in their order; the value of "file PATH"
 * is a stamp of stamps.h and is not shown. Secrets are masked by the caller.
 */
void identity_add(struct strbuf *out, enum identity_class class,
		  const char *label, const char *value);

/*
 * EXACT: the texts are the same. NEAR: all entries of IDENTITY_PLACE are.
 * HINT: else, or when either text is none of this version. difference (may be
 * NULL) receives for the user what differs, IDENTITY_PLACE first, at most
 * three entries and how many more: "argument --seq-len 512, was 256; train.py
 * changed; torch 2.1, was 2.0, and 2 more". Values are shortened, control
 * bytes become '?'.
 */
enum record_grade identity_grade(const char *recorded, const char *now,
				 struct strbuf *difference);

/*
 * Whether both texts have the same entries of these labels (NULL ends the
 * list); whatever else differs. Difference as above, of these only.
 */
bool identity_agrees_on(const char *recorded, const char *now,
			const char *const labels[], struct strbuf *difference);

#endif
