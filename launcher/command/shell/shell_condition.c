/* What conditions of a script come to, and which branch runs. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_condition.h"

#include "launcher/command/shell/shell_found.h"
#include "launcher/command/text/names.h"
#include "launcher/command/text/option_class.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer patterns are not looked at. */
#define PATTERN_BYTES_MAX 256

static bool condition_is_number(const char *text)
{
	text += *text == '-';
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* The name of a size stands in what is written: "${BATCH_SIZE}"; or that of
 * something which only probes have: AUTOFIT_PROBE. */
static bool names_size(const struct shell_reader *reader,
		       struct shell_span word)
{
	const char *text = reader->lexer.text + word.start;
	size_t length = word.end - word.start;

	return memmem(text, length, "AUTOFIT_", 8) ||
	       option_class_of(text, length) != OPTION_OTHER;
}

static enum shell_truth truth_of(bool holds)
{
	return holds ? SHELL_TRUE : SHELL_FALSE;
}

/* a = b, a != *b* */
static enum shell_truth truth_of_words(const char *left, const char *relation,
				       const char *right)
{
	bool differs = strcmp(relation, "!=") == 0;

	if (!differs && strcmp(relation, "=") != 0 &&
	    strcmp(relation, "==") != 0)
		return SHELL_UNDECIDED;
	return truth_of(glob_matches(right, left) != differs);
}

/* *","* behind == of [[ ]], without its quotes. False: it is no pattern, or one
 * in which something else than a star outside of quotes is special. */
static bool pattern_read(const struct shell_reader *reader, size_t at,
			 char out[PATTERN_BYTES_MAX])
{
	struct shell_span word;
	const char *written;
	size_t length = 0;
	char quote = '\0';

	if (strcmp(reader->fields.items[reader->inner].text, "[[") != 0 ||
	    reader->fields.count != reader->count - reader->assignments)
		return false;
	word = reader->words[reader->assignments + at];
	written = reader->lexer.text + word.start;
	if (word.end - word.start >= PATTERN_BYTES_MAX)
		return false;
	for (size_t i = 0; i < word.end - word.start; i++) {
		char c = written[i];

		if (strchr("$`\\?[({~", c) || (quote && c == '*'))
			return false;
		if (quote ? c == quote : c == '"' || c == '\'')
			quote = (char)(quote ? '\0' : c);
		else
			out[length++] = c;
	}
	out[length] = '\0';
	return true;
}

static enum shell_truth truth_of_numbers(const char *left, const char *relation,
					 const char *right)
{
	static const struct {
		const char *relation;
		bool less, equal, greater;
	} rows[] = {
		{ "-eq", false, true, false }, { "-ne", true, false, true },
		{ "-lt", true, false, false }, { "-le", true, true, false },
		{ "-gt", false, false, true }, { "-ge", false, true, true },
	};
	int64_t a, b;

	if (!condition_is_number(left) || !condition_is_number(right) ||
	    strlen(left) > 9 || strlen(right) > 9)
		return SHELL_UNDECIDED;
	a = strtoll(left, NULL, 10);
	b = strtoll(right, NULL, 10);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(relation, rows[i].relation) == 0)
			return truth_of(a < b    ? rows[i].less
					: a == b ? rows[i].equal
						 : rows[i].greater);
	return SHELL_UNDECIDED;
}

/* "$#", of arguments that are known; false: it is another word. */
static bool word_counts_arguments(const struct shell_reader *reader, size_t at,
				  char number[24])
{
	const struct shell_scope *scope = &reader->scope;
	const char *text = reader->lexer.text;
	struct shell_span word;

	if (reader->fields.count != reader->count - reader->assignments ||
	    scope->arguments_unknown)
		return false;
	word = reader->words[reader->assignments + at];
	if (!(word.end - word.start == 2 &&
	      memcmp(text + word.start, "$#", 2) == 0) &&
	    !(word.end - word.start == 4 &&
	      memcmp(text + word.start, "\"$#\"", 4) == 0))
		return false;
	(void)snprintf(number, 24, "%zu", scope->argv->count - scope->first);
	return true;
}

/* The words between the brackets are three. */
static enum shell_truth truth_of_three(const struct shell_reader *reader,
				       size_t at)
{
	char number[24], pattern[PATTERN_BYTES_MAX];
	const struct shell_field *left = &reader->fields.items[at];
	const struct shell_field *right = &reader->fields.items[at + 2];
	const char *relation = reader->fields.items[at + 1].text;

	for (size_t i = reader->assignments; i < reader->count; i++)
		if (names_size(reader, reader->words[i]))
			return SHELL_UNDECIDED;
	if (word_counts_arguments(reader, at, number) && !right->word.is_opaque)
		return truth_of_numbers(number, relation, right->text);
	if (left->word.is_opaque || reader->fields.items[at + 1].word.is_opaque)
		return SHELL_UNDECIDED;
	if (*relation != '-' && pattern_read(reader, at + 2, pattern))
		return truth_of_words(left->text, relation, pattern);
	if (right->word.is_opaque)
		return SHELL_UNDECIDED;
	if (*relation == '-')
		return truth_of_numbers(left->text, relation, right->text);
	return strpbrk(right->text, "*?[\\")
		       ? SHELL_UNDECIDED
		       : truth_of_words(left->text, relation, right->text);
}

/* "$1", as it is written. */
static bool is_one_argument(const struct shell_reader *reader,
			    struct shell_span word)
{
	const char *text = reader->lexer.text + word.start;

	return word.end - word.start == 4 && memcmp(text, "\"$", 2) == 0 &&
	       text[2] >= '1' && text[2] <= '9';
}

/*
 * The variable that is tested is empty. Where the environment could say
 * another value, none will be set there from here on; but what stands under
 * -z is most often the value it has by default, and then one may be set.
 */
static bool stays_empty(struct shell_reader *reader)
{
	const struct shell_test *test = &reader->test;
	struct shell_variable *variable;

	if (!test->is_one)
		return false;
	variable = shell_variable(&reader->scope,
				  reader->lexer.text + test->name.start,
				  test->name.end - test->name.start);
	if (shell_variable_is_free(variable) &&
	    (test->is_empty || shell_maybe(reader)))
		return false;
	shell_variable_fix(variable);
	return true;
}

/* -n "$1", -z "$MODE": a size that is there is so, whatever it becomes. */
static enum shell_truth truth_of_length(struct shell_reader *reader, size_t at)
{
	const struct shell_field *field = &reader->fields.items[at + 1];
	const char *relation = reader->fields.items[at].text;
	bool is_empty = strcmp(relation, "-z") == 0;
	struct shell_span word;

	if ((!is_empty && strcmp(relation, "-n") != 0) ||
	    reader->fields.count != reader->count - reader->assignments ||
	    field->word.is_opaque)
		return SHELL_UNDECIDED;
	word = reader->words[reader->assignments + at + 1];
	if (names_size(reader, word) ||
	    (is_one_argument(reader, word)
		     ? reader->scope.arguments_unknown
		     : *field->text == '\0' && !stays_empty(reader)))
		return SHELL_UNDECIDED;
	return truth_of((*field->text == '\0') == is_empty);
}

enum shell_truth shell_truth_read(struct shell_reader *reader)
{
	const struct shell_fields *fields = &reader->fields;
	size_t at = reader->inner + 1, end = fields->count;
	const char *name = fields->items[reader->inner].text;
	enum shell_truth truth;
	bool is_negated = false;

	if (reader->is_compound)
		return SHELL_UNDECIDED;
	if (strcmp(name, "[") == 0 && end > at &&
	    strcmp(fields->items[end - 1].text, "]") == 0)
		end--;
	if (at < end && strcmp(fields->items[at].text, "!") == 0) {
		is_negated = true;
		at++;
	}
	if (end == at + 2)
		truth = truth_of_length(reader, at);
	else if (end == at + 3)
		truth = truth_of_three(reader, at);
	else
		return SHELL_UNDECIDED;
	return is_negated && truth != SHELL_UNDECIDED
		       ? truth_of(truth == SHELL_FALSE)
		       : truth;
}

/* a && b, a || b; what stands behind anything else is not followed. */
static enum shell_truth truth_joined(const struct shell_reader *reader,
				     enum shell_truth before,
				     enum shell_truth truth)
{
	bool is_or = reader->joined_by == SHELL_OR;
	enum shell_truth decisive = truth_of(is_or);

	if ((!is_or && reader->joined_by != SHELL_AND) || reader->is_pipe)
		return SHELL_UNDECIDED;
	if (before == decisive || truth == decisive)
		return decisive;
	return before == SHELL_UNDECIDED ? before : truth;
}

void shell_condition_add(struct shell_reader *reader, enum shell_truth truth)
{
	struct shell_level *level = shell_top(reader);

	if (!level || !level->asks)
		return;
	level->truth = level->asked++ == 0
			       ? truth
			       : truth_joined(reader, level->truth, truth);
}

/* One more branch, whose condition came to that. */
static void branch_enter(struct shell_level *level, enum shell_truth truth)
{
	level->asks = false;
	if (level->is_decided || truth == SHELL_FALSE)
		level->branch = SHELL_DEAD;
	else if (truth == SHELL_TRUE && !level->is_open)
		level->branch = SHELL_TAKEN;
	else
		level->branch = SHELL_PERHAPS;
	level->is_decided |= truth == SHELL_TRUE;
	level->is_open |= truth == SHELL_UNDECIDED;
}

void shell_branch_then(struct shell_level *level)
{
	branch_enter(level, level->truth);
}

void shell_branch_elif(struct shell_level *level)
{
	level->asks = true;
	level->asked = 0;
	level->truth = SHELL_UNDECIDED;
	level->branch = level->is_decided ? SHELL_DEAD : SHELL_PERHAPS;
}

void shell_branch_else(struct shell_level *level)
{
	branch_enter(level, SHELL_TRUE);
}

void shell_case_begin(const struct shell_reader *reader,
		      struct shell_span written,
		      const struct shell_fields *word,
		      struct shell_level *level)
{
	const struct shell_field *field = &word->items[0];

	level->has_subject = word->count == 1 && !field->word.is_opaque &&
			     !names_size(reader, written) &&
			     strlen(field->text) < sizeof(level->subject);
	if (level->has_subject)
		memcpy(level->subject, field->text, strlen(field->text) + 1);
}

void shell_pattern_begin(struct shell_level *level)
{
	level->truth = level->has_subject ? SHELL_FALSE : SHELL_UNDECIDED;
}

/* A pattern as it is written: only whole words and * are known. */
void shell_pattern_add(struct shell_level *level, const char *pattern,
		       size_t length)
{
	if (length > 1 && (*pattern == '"' || *pattern == '\'') &&
	    pattern[length - 1] == *pattern) {
		pattern++;
		length -= 2;
	}
	if (!level->has_subject || level->truth == SHELL_TRUE)
		return;
	if (length == 1 && *pattern == '*')
		level->truth = SHELL_TRUE;
	for (size_t i = 0; i < length; i++)
		if (strchr("*?[\\$`\"'{(+@!", pattern[i])) {
			if (level->truth == SHELL_FALSE)
				level->truth = SHELL_UNDECIDED;
			return;
		}
	if (strlen(level->subject) == length &&
	    memcmp(level->subject, pattern, length) == 0)
		level->truth = SHELL_TRUE;
}

void shell_pattern_end(struct shell_level *level)
{
	branch_enter(level, level->truth);
}
