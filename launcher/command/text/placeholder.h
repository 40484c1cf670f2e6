/* {micro}, {accum}, {steps}, {out} in a text. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_PLACEHOLDER_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_PLACEHOLDER_H

#include "base/strlist.h"
#include "launcher/command/text/knob_kind.h"

#include <stdbool.h>
#include <stddef.h>

/* One of them; value is NULL for {micro}, "8" for {micro:8}. */
struct placeholder {
	enum knob_kind kind;
	const char *name;
	const char *start;
	size_t length; /* with its braces */
	const char *value;
	size_t value_length;
};

/* The first in the text; false: there is none. */
bool placeholder_next(const char *text, struct placeholder *found);

/* "micro" of {micro}. */
const char *placeholder_name(enum knob_kind kind);

/* One of micro, accum, effective stands in the text. */
bool placeholders_in(const char *text);

/* Appends the words with present values: {micro:8} as 8. What names no value
 * stays as it is. */
void placeholders_present(const struct strlist *words, struct strlist *out);

/* A copy without the values: {micro:8} as {micro}. The caller frees. */
char *placeholders_strip(const char *text);

#endif
