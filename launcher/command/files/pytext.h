/* The smallest pieces of Python text: strings, words, values. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_PYTEXT_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_PYTEXT_H

#include "launcher/command/files/source.h"

/* Where the reading is; at == end when all is read. */
struct pytext {
	const char *at, *end, *line_start;
	unsigned line;
	int depth; /* of brackets */
};

bool pytext_is_word_start(char c);
bool pytext_is_word(char c); /* a digit too */
bool pytext_is_quote(char c);
bool pytext_word_is(const char *text, size_t length, const char *word);

/* One byte further. */
void pytext_step(struct pytext *cursor);
void pytext_skip_comment(struct pytext *cursor);
/* Blanks on the line; with newlines and comments too inside brackets. */
void pytext_skip_blanks(struct pytext *cursor, bool lines);
/* The text between the quotes at the cursor, which is left behind them. */
void pytext_string(struct pytext *cursor, const char **text, size_t *length);
void pytext_word(struct pytext *cursor, const char **text, size_t *length);
/* 8, 5 * 8, "8", None, or something else, perhaps only begun. */
enum source_value pytext_value(struct pytext *cursor, bool in_brackets,
			       int64_t *value);
/* ": int", ": Optional[int]", ': "int | None"': over it; is it a number's? */
bool pytext_skip_type(struct pytext *cursor);
/*
 * The same, or what stands in field(default=8), Field(8), Option(8): in help,
 * which the caller frees, its words for people, else NULL.
 */
enum source_value pytext_default(struct pytext *cursor, bool in_brackets,
				 int64_t *value, char **help);
/* The words behind the "#" that comes next in this line; NULL: there is none.
 * The caller frees. */
char *pytext_comment(const struct pytext *cursor);
/* The strings at the cursor, one after the other, as one. The caller frees. */
char *pytext_strings(struct pytext *cursor);
/* The string that is all of the argument at the cursor; NULL: it is none. The
 * caller frees. */
char *pytext_string_alone(struct pytext cursor);
/* To the next ',' or closing bracket of this call. */
void pytext_skip_argument(struct pytext *cursor);

#endif
