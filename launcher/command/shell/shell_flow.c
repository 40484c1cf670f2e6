/* What of a script runs, where that is known: branches, loops, functions. Pure.
 */
/* SPDX-License-Identifier: MIT */
/*
 * A function that is called without arguments, or with all of the script's by
 * "$@", is as if its body stood there. With other arguments it may do anything:
 * then its body is read as one that may run or not.
 */
#include "launcher/command/shell/shell_flow.h"

#include "launcher/command/shell/shell_found.h"
#include "launcher/command/shell/shell_rank.h"
#include "launcher/command/text/option_class.h"

#include "base/alloc.h"

#include <stdint.h>
#include <stdio.h>
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
	char number[24];

	const struct shell_field *left = &reader->fields.items[at];
	const struct shell_field *right = &reader->fields.items[at + 2];
	const char *operator= reader->fields.items[at + 1].text;
	bool is_plain = !strpbrk(right->text, "*?[\\");

	for (size_t i = reader->assignments; i < reader->count; i++)
		if (names_size(reader, reader->words[i]))
			return SHELL_UNDECIDED;
	if (word_counts_arguments(reader, at, number) && field_is_fixed(right))
		return truth_of_numbers(
			number, reader->fields.items[at + 1].text, right->text);
	if (!field_is_fixed(left) || !field_is_fixed(right) ||
	    reader->fields.items[at + 1].word.is_opaque)
		return SHELL_UNDECIDED;
	return *operator== '-'
		       ? truth_of_numbers(left->text, operator, right->text)
		       : truth_of_words(left->text, operator, right->text,
					is_plain);
}

/* -n "$1": whether there is one is known, whatever it becomes. */
static enum shell_truth truth_of_argument(const struct shell_reader *reader,
					  size_t at)
{
	const struct shell_field *field = &reader->fields.items[at + 1];
	const char *operator= reader->fields.items[at].text;
	const char *text = reader->lexer.text;
	struct shell_span word;
	bool is_empty = strcmp(operator, "-z") == 0;

	if ((!is_empty && strcmp(operator, "-n") != 0) ||
	    reader->fields.count != reader->count - reader->assignments ||
	    field->word.is_opaque || reader->scope.arguments_unknown)
		return SHELL_UNDECIDED;
	word = reader->words[reader->assignments + at + 1];
	if (word.end - word.start != 4 ||
	    memcmp(text + word.start, "\"$", 2) != 0 ||
	    text[word.start + 2] < '1' || text[word.start + 2] > '9')
		return SHELL_UNDECIDED;
	return truth_of((*field->text == '\0') == is_empty);
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
	if (end == at + 2)
		truth = truth_of_argument(reader, at);
	else if (end == at + 3)
		truth = truth_of_three(reader, at);
	else
		return SHELL_UNDECIDED;
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
	level->subject_varies = level->has_subject && !field_is_fixed(field);
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
	if (level->subject_varies && strspn(pattern, "-0123456789") >= length)
		level->truth = SHELL_UNDECIDED;
	else if (strlen(level->subject) == length &&
		 memcmp(level->subject, pattern, length) == 0)
		level->truth = SHELL_TRUE;
}

void shell_pattern_end(struct shell_level *level)
{
	branch_enter(level, level->truth);
}

void shell_loop_begin(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);

	level->is_while = true;
	level->asks = true;
	level->back = reader->lexer;
}

/* The loop itself runs, and once. */
static bool loop_is_certain(struct shell_reader *reader)
{
	bool is_certain;

	reader->depth--;
	is_certain = !shell_maybe(reader);
	reader->depth++;
	return is_certain && !shell_top(reader)->is_maybe &&
	       !shell_top(reader)->is_pipe;
}

void shell_loop_do(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);

	if (!level->is_while || !level->asks)
		return;
	level->asks = false;
	level->is_certain = level->truth == SHELL_TRUE &&
			    level->rounds++ < SHELL_ROUNDS_MAX &&
			    loop_is_certain(reader);
	if (level->is_certain)
		level->branch = SHELL_TAKEN;
	else if (level->truth == SHELL_FALSE)
		level->branch = SHELL_DEAD;
	shell_end_list(reader);
}

bool shell_loop_done(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);

	if (!level->is_certain || level->is_left)
		return false;
	reader->called_bytes += reader->lexer.at - level->back.at;
	if (reader->called_bytes > SHELL_CALLED_BYTES_MAX) {
		shell_fail_met(reader, "so long a loop");
		return false;
	}
	reader->lexer = level->back;
	reader->has_token = false;
	level->asks = true;
	level->asked = 0;
	level->truth = SHELL_UNDECIDED;
	level->branch = SHELL_PERHAPS;
	level->is_certain = false;
	shell_end_list(reader);
	return true;
}

void shell_loop_leave(struct shell_reader *reader, bool goes_on)
{
	size_t i = reader->depth;

	while (i > 0 && reader->levels[i - 1].kind != SHELL_LOOP)
		i--;
	if (i == 0 || !reader->levels[i - 1].is_certain)
		return;
	reader->levels[i - 1].is_left = !goes_on;
	if (!shell_maybe(reader)) {
		reader->levels[i - 1].branch = SHELL_DEAD;
		return;
	}
	/* From here on it may have come to anything, and the rest may run. */
	reader->levels[i - 1].is_left = true;
	reader->levels[i - 1].branch = SHELL_PERHAPS;
	reader->scope.arguments_unknown = true;
	reader->scope.age++;
}

bool shell_is_dead(const struct shell_reader *reader)
{
	for (size_t i = 0; i < reader->depth; i++)
		if (reader->levels[i].branch == SHELL_DEAD)
			return true;
	return false;
}

static struct shell_function *function_find(const struct shell_reader *reader,
					    const char *name, size_t length)
{
	for (size_t i = 0; i < reader->function_count; i++) {
		struct shell_function *function = &reader->functions[i];

		if (function->name.end - function->name.start == length &&
		    memcmp(reader->lexer.text + function->name.start, name,
			   length) == 0)
			return function;
	}
	return NULL;
}

void shell_function_define(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);
	struct shell_span name = reader->function;
	struct shell_function *function = function_find(
		reader, reader->lexer.text + name.start, name.end - name.start);

	level->is_function = false;
	if (level->kind != SHELL_BRACE || shell_maybe(reader) ||
	    shell_is_dead(reader) ||
	    reader->function_count == SHELL_FUNCTIONS_MAX ||
	    (function && function->is_active)) {
		level->is_function = true;
		return;
	}
	if (!function) {
		reader->functions = xgrow(
			reader->functions, reader->function_count,
			&reader->function_capacity, sizeof(*reader->functions));
		function = &reader->functions[reader->function_count++];
	}
	*function =
		(struct shell_function){ .name = name, .body = reader->lexer };
	level->is_definition = true;
	level->definition = (size_t)(function - reader->functions);
	level->branch = SHELL_DEAD;
}

/* $1, $@, ${2:-8}, $#: in a function these are its own. */
static bool has_arguments(const char *at, const char *end)
{
	while ((at = memchr(at, '$', (size_t)(end - at)))) {
		at++;
		at += at < end && *at == '{';
		at += at < end && *at == '#';
		if (at < end && (strchr("@*#", *at) ||
				 (*at >= '0' && *at <= '9') || at[-1] == '#'))
			return true;
	}
	return false;
}

/* The end of the body is where its level ended at the definition. */
static bool is_as_if_there(const struct shell_reader *reader,
			   const struct shell_function *function)
{
	const char *text = reader->lexer.text;
	const struct shell_span *last = &reader->words[reader->count - 1];

	if (reader->count == 1)
		return !has_arguments(text + function->body.at,
				      text + function->end);
	return reader->count == 2 && last->end - last->start == 4 &&
	       memcmp(text + last->start, "\"$@\"", 4) == 0;
}

bool shell_function_call(struct shell_reader *reader)
{
	const struct shell_field *name = &reader->fields.items[reader->inner];
	struct shell_function *function;
	struct shell_level *level;

	if (reader->inner || name->word.is_opaque || !reader->function_count ||
	    reader->lexer.heredoc_count)
		return false;
	function = function_find(reader, name->text, strlen(name->text));
	/* python() { command python "$@"; } is the program after all. */
	if (!function || function->is_active ||
	    shell_rank(&reader->fields, 0) == SHELL_TRAINING)
		return false;
	reader->called_bytes += function->end - function->body.at;
	if (reader->called_bytes > SHELL_CALLED_BYTES_MAX) {
		shell_fail_met(reader, "so much that is called");
		return true;
	}
	reader->is_function =
		reader->assignments || !is_as_if_there(reader, function);
	shell_push(reader, SHELL_BRACE);
	if (reader->is_over)
		return true;
	level = shell_top(reader);
	level->called = (size_t)(function - reader->functions) + 1;
	level->back = reader->lexer;
	level->back_token = reader->token;
	level->back_has_token = reader->has_token;
	level->first = reader->scope.first;
	level->arguments_unknown = reader->scope.arguments_unknown;
	reader->scope.arguments_unknown |= level->is_function;
	function->is_active = true;
	reader->lexer = function->body;
	reader->has_token = false;
	return true;
}

void shell_function_end(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);
	struct shell_function *function;

	if (!level->called) {
		/* Of the definition that was passed over. */
		if (level->is_definition)
			reader->functions[level->definition].end =
				reader->token.span.start;
		return;
	}
	function = &reader->functions[level->called - 1];
	function->is_active = false;
	reader->lexer = level->back;
	reader->token = level->back_token;
	reader->has_token = level->back_has_token;
	/* What it shifted were its own. */
	reader->scope.first = level->first;
	reader->scope.arguments_unknown = level->arguments_unknown;
	/* Who left it before its end has not set all of this, nor what is
	 * local. */
	if (level->is_left)
		reader->scope.age++;
}

/* The body that is read now, of a function that was called; NULL. */
static struct shell_level *body_level(struct shell_reader *reader)
{
	for (size_t i = reader->depth; i > 0; i--)
		if (reader->levels[i - 1].called)
			return &reader->levels[i - 1];
	return NULL;
}

void shell_function_local(struct shell_reader *reader)
{
	struct shell_level *level = body_level(reader);

	if (level)
		level->is_left = true;
}

bool shell_function_return(struct shell_reader *reader)
{
	struct shell_level *level = body_level(reader);

	if (level) {
		/* Behind it nothing of the body runs, or what does was not
		 * left. */
		if (!shell_maybe(reader) && !reader->is_pipe)
			level->branch = SHELL_DEAD;
		else
			level->is_left = true;
		return true;
	}
	return false;
}
