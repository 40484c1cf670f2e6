/* Python source as tokens, one ahead. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_SETTINGS_SETTINGS_PYTHON_H
#define AUTOFIT_CONFIGS_SETTINGS_SETTINGS_PYTHON_H

#include "configs/settings/settings_internal.h"

enum python_kind {
	PYTHON_END,
	PYTHON_NEWLINE, /* the end of a logical line */
	PYTHON_NAME,
	PYTHON_NUMBER,
	PYTHON_STRING,
	PYTHON_OPEN, /* ( [ { */
	PYTHON_CLOSE,
	PYTHON_OPERATOR,
};

struct python_token {
	enum python_kind kind;
	size_t start, end;
	size_t body_start, body_end; /* of a string, between its quotes */
	bool is_plain; /* a string whose bytes are its value, on one line */
};

/* It may be copied, to come back to where it was. */
struct python_place {
	struct python_token token; /* the next */
	size_t at;                 /* behind it */
	size_t last_end;           /* of the token before it */
	unsigned brackets;         /* around it */
};

struct python {
	struct settings_reader *reader;
	struct python_place place;
	size_t first; /* byte of the text, behind its mark of UTF-8 */
	/* No certain statement: in a block but a class's, or after "if x:". */
	bool is_doubtful;
	/* The body of a class at the edge: its name, length 0: none, and how
	 * far its statements are indented, 0: not known yet. */
	size_t class_start, class_length, class_indent;
	/* Items before this byte may have been replaced, all of them. */
	size_t doubt_before;
};

/* The next token, from the place's `at` on. */
int python_advance(struct python *python);
bool python_is(const struct python *python, const char *operator);
bool python_is_name(const struct python *python, const char *name);

/* At the end of a value that began between so many brackets. */
bool python_is_value_end(const struct python *python, unsigned brackets);
/* To the end of such a value. */
int python_skip_value(struct python *python, unsigned brackets);

/*
 * Reads the value that begins here, at the present path: a literal, a dict or
 * a list of values; anything else is one value that is no scalar.
 */
int python_read_value(struct python *python);

#endif
