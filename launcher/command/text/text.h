/* Text from outside made harmless for terminals and JSON. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_TEXT_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_TEXT_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text with U+FFFD for every byte that is not UTF-8. */
void text_add_utf8(struct strbuf *out, const char *text);
bool text_is_utf8(const char *text);

/*
 * One line for a terminal: control characters, those that turn the direction
 * of writing, and bytes that are not UTF-8 become \xNN or \u{N}; with ascii
 * everything beyond it does. NULL adds nothing.
 */
void text_add_safe(struct strbuf *out, const char *text, bool ascii);

/* Columns of a terminal: one for each character. */
size_t text_columns(const char *text);

/* The bytes of the first characters that fill at most columns. */
size_t text_cut(const char *text, size_t columns);

/*
 * How many letters differ between two names (Levenshtein); SIZE_MAX where one
 * is longer than TEXT_NAME_MAX.
 */
#define TEXT_NAME_MAX 32
size_t text_distance(const char *a, const char *b);

/*
 * Words of text, broken at columns and indented by indent on new lines; blanks
 * at the beginning stay, a word that is too long stays whole.
 */
void text_add_wrapped(struct strbuf *out, const char *text, size_t indent,
		      size_t columns);

/*
 * Each line of text so, with a line feed behind it. One that begins with
 * blanks, but fewer than indent, stays as it is: commands are copied from
 * there.
 */
void text_add_lines(struct strbuf *out, const char *text, size_t indent,
		    size_t columns);

#endif
