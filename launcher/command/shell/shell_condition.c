/* Which branch of an if or a case a script takes, where that is known. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_condition.h"

#include "launcher/command/text/argument.h"
#include "launcher/command/text/option_class.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool condition_is_number(const char *text)
{
	text += *text == '-';
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* The name of a size stands in what is written: "${BATCH_SIZE}". */
static bool names_size(const struct shell_reader *reader,
		       struct shell_span word)
{
	return option_class_of(reader->lexer.text + word.start,
			       word.end - word.start) != OPTION_OTHER;
}

/* It stays what it is, whatever sizes are tried. */
static bool field_is_fixed(const struct shell_field *field)
{
	if (field->word.is_opaque)
		return false;
	return !condition_is_number(field->text) ||
	       (field->word.origin != WORD_ARGUMENT && !field->word.variable);
}

static enum shell_truth truth_of(bool holds)
{
	return holds ? SHELL_TRUE : SHELL_FALSE;
}

/* a = b; what is a pattern in [[ ]] is not looked at. */
static enum shell_truth truth_of_words(const char *left, const char *operator,
				       const char * right, bool is_plain)
{
	bool differs = strcmp(operator, "!=") == 0;

	if (!is_plain || (!differs && strcmp(operator, "=") != 0 &&
			  strcmp(operator, "==") != 0))
		return SHELL_UNDECIDED;
	return truth_of((strcmp(left, right) == 0) != differs);
}

static enum shell_truth truth_of_numbers(const char *left, const char *operator,
					 const char * right)
{
	static const struct {
		const char *operator;
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
		if (strcmp(operator, rows[i].operator) == 0)
			return truth_of(a < b    ? rows[i].less
					: a == b ? rows[i].equal
						 : rows[i].greater);
	return SHELL_UNDECIDED;
}

/* The words between the brackets are three. */
static enum shell_truth truth_of_three(const struct shell_reader *reader,
				       size_t at)
{
	const struct shell_field *left = &reader->fields.items[at];
	const struct shell_field *right = &reader->fields.items[at + 2];
	const char *operator= reader->fields.items[at + 1].text;
	bool is_plain = !strpbrk(right->text, "*?[\\");

	for (size_t i = reader->assignments; i < reader->count; i++)
		if (names_size(reader, reader->words[i]))
			return SHELL_UNDECIDED;
	if (!field_is_fixed(left) || !field_is_fixed(right) ||
	    reader->fields.items[at + 1].word.is_opaque)
		return SHELL_UNDECIDED;
	return *operator== '-'
		       ? truth_of_numbers(left->text, operator, right->text)
		       : truth_of_words(left->text, operator, right->text,
					is_plain);
}

enum shell_truth shell_truth_read(const struct shell_reader *reader)
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
	if (end != at + 3)
		return SHELL_UNDECIDED;
	truth = truth_of_three(reader, at);
	return is_negated && truth != SHELL_UNDECIDED
		       ? truth_of(truth == SHELL_FALSE)
		       : truth;
}

/* a && b; what stands behind anything else is not followed. */
static enum shell_truth truth_joined(const struct shell_reader *reader,
				     enum shell_truth before,
				     enum shell_truth truth)
{
	if (reader->joined_by != SHELL_AND || reader->is_pipe)
		return SHELL_UNDECIDED;
	if (before == SHELL_FALSE || truth == SHELL_FALSE)
		return SHELL_FALSE;
	return before == SHELL_TRUE && truth == SHELL_TRUE ? SHELL_TRUE
							   : SHELL_UNDECIDED;
}

void shell_condition_add(struct shell_reader *reader, enum shell_truth truth)
{
	struct shell_level *level = shell_top(reader);

	if (!level || level->kind != SHELL_IF || !level->asks)
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

	level->has_subject = word->count == 1 && field_is_fixed(field) &&
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
	char quote = length > 1 ? *pattern : '\0';

	if ((quote == '"' || quote == '\'') && pattern[length - 1] == quote) {
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

bool shell_is_dead(const struct shell_reader *reader)
{
	for (size_t i = 0; i < reader->depth; i++)
		if (reader->levels[i].branch == SHELL_DEAD)
			return true;
	return false;
}
