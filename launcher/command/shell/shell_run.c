/* What one command of shell text means for all that follow. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_run.h"

#include "launcher/command/shell/shell_builtin.h"
#include "launcher/command/shell/shell_condition.h"
#include "launcher/command/shell/shell_flow.h"
#include "launcher/command/shell/shell_found.h"
#include "launcher/command/shell/shell_rank.h"

#include <string.h>

/* exec and command say how, not what. */
static void skip_exec(struct shell_reader *reader)
{
	const struct shell_fields *fields = &reader->fields;
	size_t at = reader->inner;

	while (at < fields->count) {
		const char *text = fields->items[at].text;
		bool is_exec = strcmp(text, "exec") == 0;

		if (!is_exec && strcmp(text, "command") != 0)
			break;
		for (at++; at < fields->count; at++) {
			text = fields->items[at].text;
			if (*text != '-')
				break;
			/* command -v only looks. */
			if (!is_exec && strpbrk(text, "vV"))
				at = fields->count;
			if (is_exec && strcmp(text, "-a") == 0)
				at++;
		}
	}
	reader->inner = at;
}

/* The program says what the words mean. */
static void run_program(struct shell_reader *reader)
{
	const char *name = reader->fields.items[reader->inner].text;
	bool is_exec = reader->inner > 0;

	if (shell_function_call(reader))
		return;
	/* It may be any function. */
	if (reader->fields.items[reader->inner].word.is_opaque &&
	    reader->function_count)
		reader->scope.age++;
	reader->rank = shell_rank(&reader->fields, reader->inner);
	if (reader->fields.items[reader->inner].word.is_opaque)
		reader->rank = SHELL_PROGRAM;
	else
		shell_builtin(reader, name);
	if (reader->is_over && reader->outcome != COMMAND_OK)
		return;
	shell_consider(reader);
	if (is_exec && !shell_maybe(reader) && !reader->is_one_command)
		reader->is_over = true;
}

/* Options and NAME=value of these are no words like others. */
static bool is_declaration(const struct shell_reader *reader)
{
	static const char *const names[] = { "export", "declare", "typeset",
					     "local", "readonly" };
	const struct shell_span *word = &reader->words[reader->assignments];
	size_t length = word->end - word->start;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == length &&
		    memcmp(reader->lexer.text + word->start, names[i],
			   length) == 0)
			return true;
	return false;
}

/* $CMD of "$CMD", which eval splits all the same. */
static struct shell_span without_quotes(const char *text,
					struct shell_span word)
{
	size_t length = word.end - word.start;

	if (length > 2 && text[word.start] == '"' &&
	    memchr(text + word.start + 1, '"', length - 1) ==
		    text + word.end - 1) {
		word.start++;
		word.end--;
	}
	return word;
}

/* A shell that reads these words again makes the same ones of them. */
static bool is_read_the_same(const struct shell_fields *fields)
{
	for (size_t i = 0; i < fields->count; i++)
		if (!fields->items[i].word.is_opaque &&
		    strpbrk(fields->items[i].text, " \t\n\"'$`\\;&|<>()*?[#~{"))
			return false;
	return fields->count && !fields->items[0].word.is_opaque &&
	       !strchr(fields->items[0].text, '=');
}

/* eval $CMD, where that is as good as $CMD and trains. */
static bool expand_eval(struct shell_reader *reader)
{
	const char *text = reader->lexer.text;
	size_t first = reader->assignments;

	if (reader->words[first].end - reader->words[first].start != 4 ||
	    memcmp(text + reader->words[first].start, "eval", 4) != 0)
		return false;
	for (size_t i = first + 1; i < reader->count; i++)
		shell_expand(&reader->scope,
			     without_quotes(text, reader->words[i]),
			     SHELL_WORDS, &reader->fields);
	if (is_read_the_same(&reader->fields) &&
	    shell_rank(&reader->fields, 0) == SHELL_TRAINING)
		return true;
	shell_fields_release(&reader->fields);
	return false;
}

static void expand_words(struct shell_reader *reader)
{
	bool is_declaring = is_declaration(reader);

	if (expand_eval(reader))
		return;
	for (size_t i = reader->assignments; i < reader->count; i++) {
		shell_expand(&reader->scope, reader->words[i], SHELL_WORDS,
			     &reader->fields);
		if (is_declaring)
			break;
	}
}

static void assign_words(struct shell_reader *reader)
{
	for (size_t i = 0; i < reader->count; i++) {
		struct shell_span word = reader->words[i];
		struct shell_variable *variable = shell_assign(
			&reader->scope, word, shell_manner(reader, word));

		for (size_t k = 0; k < reader->depth; k++)
			if (reader->levels[k].is_function)
				variable->is_fickle = true;
	}
}

/* What if asks for, when it is one test. */
static void note_condition(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);

	if (reader->is_negated)
		reader->test.is_one = false;
	if (reader->is_negated && reader->truth != SHELL_UNDECIDED)
		reader->truth =
			reader->truth == SHELL_TRUE ? SHELL_FALSE : SHELL_TRUE;
	shell_condition_add(reader, reader->truth);
	reader->is_negated = reader->is_compound = false;
	if (!level || !level->is_condition)
		return;
	level->test.is_one = false;
	if (level->commands++ == 0 && reader->was_test)
		level->test = reader->test;
}

/* The words of one command are there. */
void shell_run_command(struct shell_reader *reader)
{
	struct shell_assignment assignment;

	reader->was_test = false;
	reader->truth = SHELL_UNDECIDED;
	reader->assignments = 0;
	if (shell_is_dead(reader)) {
		reader->is_negated = reader->is_compound = false;
		return;
	}
	reader->scope.is_certain = !shell_maybe(reader) && !reader->is_pipe;
	while (reader->assignments < reader->count &&
	       shell_assignment_read(reader->lexer.text,
				     reader->words[reader->assignments],
				     &assignment))
		reader->assignments++;
	shell_fields_release(&reader->fields);
	reader->inner = 0;
	if (reader->assignments == reader->count) {
		if (shell_is_alone(reader))
			assign_words(reader);
	} else {
		expand_words(reader);
		skip_exec(reader);
		if (reader->inner < reader->fields.count)
			run_program(reader);
	}
	note_condition(reader);
	if (reader->scope.is_exhausted)
		shell_fail(reader, reader->words[0].line,
			   "the script becomes too much text "
			   "here: " SHELL_INSTEAD);
}
