/* if, for, case and their kin: where in a script its commands stand. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_reserved.h"

#include "launcher/command/shell/shell_condition.h"
#include "launcher/command/shell/shell_flow.h"
#include "launcher/command/shell/shell_run.h"

#include <string.h>

/* [[ ... ]], which has operators of its own. */
static void read_condition(struct shell_reader *reader)
{
	bool is_plain = true;

	reader->count = 0;
	reader->continues = false;
	shell_add_word(reader);
	while (shell_reader_next(reader) != SHELL_ERROR &&
	       !shell_token_is(reader, "]]")) {
		if (reader->token.kind == SHELL_END ||
		    reader->token.kind == SHELL_HEREDOC)
			shell_fail_met(reader, "[[");
		else if (reader->token.kind == SHELL_WORD)
			shell_add_word(reader);
		else
			is_plain = false;
	}
	/* As ! before it: it is no test of one variable. */
	if (!is_plain)
		reader->is_negated = reader->is_compound = true;
	if (!reader->is_over)
		shell_run_command(reader);
}

/* From (( or for (( on; the lexer is on the second parenthesis. */
void shell_read_arithmetic(struct shell_reader *reader)
{
	struct shell_lexer *lexer = &reader->lexer;
	const char *text = lexer->text;
	size_t start = --lexer->at;

	/* The next token says why. */
	if (!shell_skip_balanced(lexer))
		return;
	reader->continues = false;
	reader->was_test = true;
	reader->test.is_one = false;
	if (memmem(text + start, lexer->at - start, "$#", 2))
		reader->scope.arguments_counted = true;
	/* Whatever is named in it may be assigned. */
	for (size_t i = start; i < lexer->at;) {
		size_t length = shell_name_length(text + i, lexer->at - i);
		size_t end = i + length;

		while (end < lexer->at && text[end] == ' ')
			end++;
		if (length && text[i - 1] != '$' && text[i - 1] != '{' &&
		    end + 1 < lexer->at && strchr("=+-*/%", text[end]) &&
		    (text[end + 1] == '='
			     ? text[end] != '='
			     : text[end] == '=' || text[end] == text[end + 1]))
			shell_variable_set(&reader->scope,
					   shell_variable(&reader->scope,
							  text + i, length),
					   SHELL_UNKNOWN, NULL);
		i = length ? i + length : i + 1;
	}
}

bool shell_is_doubled(const struct shell_reader *reader)
{
	return reader->token.kind == SHELL_OPEN &&
	       reader->lexer.at < reader->lexer.length &&
	       reader->lexer.text[reader->lexer.at] == '(';
}

/* for NAME in the one word that is written there, which runs once; else what
 * the name stands for is not known. */
static void for_each(struct shell_reader *reader, struct shell_span name,
		     struct shell_fields *words)
{
	bool is_once = words->count == 1 && words->append_at == NO_INDEX &&
		       !words->items[0].word.is_opaque &&
		       !words->items[0].word.variable &&
		       shell_loop_once(reader);

	shell_variable_set(
		&reader->scope,
		shell_variable(&reader->scope, reader->lexer.text + name.start,
			       name.end - name.start),
		is_once ? SHELL_TEXT : SHELL_UNKNOWN, is_once ? words : NULL);
	if (!is_once)
		shell_fields_release(words);
}

/* for NAME in words; also select. */
static void read_for(struct shell_reader *reader)
{
	struct shell_fields words = SHELL_FIELDS_INIT;
	bool asks = shell_token_is(reader, "select");
	bool lists_words = false;
	struct shell_span name;

	shell_push(reader, SHELL_LOOP);
	(void)shell_reader_next(reader);
	if (shell_is_doubled(reader)) {
		shell_read_arithmetic(reader);
		return;
	}
	if (reader->token.kind != SHELL_WORD) {
		shell_fail_met(reader, "for");
		return;
	}
	name = reader->token.span;
	while (shell_reader_next(reader) == SHELL_WORD &&
	       !shell_token_is(reader, "do")) {
		/* "in" is the first of them. */
		if (lists_words)
			shell_expand(&reader->scope, reader->token.span,
				     SHELL_WORDS, &words);
		lists_words = true;
	}
	if (!lists_words || words.append_at != NO_INDEX)
		reader->scope.arguments_counted = true;
	if (asks)
		words.append_at = 0;
	for_each(reader, name, &words);
	reader->has_token = !reader->is_over;
}

static void read_case(struct shell_reader *reader)
{
	struct shell_fields fields = SHELL_FIELDS_INIT;
	struct shell_span written = { 0, 0, 0 };

	if (shell_reader_next(reader) == SHELL_WORD) {
		written = reader->token.span;
		shell_expand(&reader->scope, written, SHELL_WORDS, &fields);
	}
	while (shell_reader_next(reader) == SHELL_NEWLINE)
		;
	if (shell_token_is(reader, "in"))
		shell_push(reader, SHELL_CASE);
	else
		shell_fail_met(reader, "case");
	if (!reader->is_over)
		shell_case_begin(reader, written, &fields, shell_top(reader));
	shell_fields_release(&fields);
}

static void on_then(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);

	if (!level || level->kind != SHELL_IF) {
		shell_fail_met(reader, "then");
		return;
	}
	if (!level->is_condition)
		level->test.is_one = false;
	level->is_condition = false;
	shell_branch_then(level);
	shell_end_list(reader);
}

static void on_else(struct shell_reader *reader)
{
	struct shell_level *level = shell_top(reader);

	if (!level || level->kind != SHELL_IF) {
		shell_fail_met(reader, "else");
		return;
	}
	if (shell_token_is(reader, "elif")) {
		level->test.is_one = false;
		shell_branch_elif(level);
	} else {
		shell_branch_else(level);
	}
	level->test.is_empty = !level->test.is_empty;
	shell_end_list(reader);
}

static void on_do(struct shell_reader *reader)
{
	if (!shell_top(reader) || shell_top(reader)->kind != SHELL_LOOP)
		shell_fail_met(reader, "do");
	else
		shell_loop_do(reader);
}

static void on_not(struct shell_reader *reader)
{
	reader->is_negated = true;
}

static void on_function(struct shell_reader *reader)
{
	if (shell_reader_next(reader) != SHELL_WORD) {
		shell_fail_met(reader, "function");
		return;
	}
	reader->function = reader->token.span;
	if (shell_reader_next(reader) == SHELL_OPEN) {
		if (shell_reader_next(reader) != SHELL_CLOSE)
			shell_fail_met(reader, "function");
	} else {
		reader->has_token = !reader->is_over;
	}
	reader->is_function = true;
}

/* done, and }: unless it is read once more. */
static void nest_done(struct shell_reader *reader, enum shell_level_kind kind)
{
	if (!shell_top(reader) || shell_top(reader)->kind != kind ||
	    !shell_loop_done(reader))
		shell_pop(reader, kind);
}

static void nest_close(struct shell_reader *reader, enum shell_level_kind kind)
{
	if (shell_top(reader) && shell_top(reader)->kind == kind)
		shell_function_end(reader);
	shell_pop(reader, kind);
}

/* What a reserved word does: begins a level, ends one, or something else. */
struct reserved {
	const char *word;
	void (*run)(struct shell_reader *reader);
	void (*nest)(struct shell_reader *reader, enum shell_level_kind kind);
	enum shell_level_kind kind;
};

static const struct reserved reserved_words[] = {
	{ .word = "if", .nest = shell_push, .kind = SHELL_IF },
	{ .word = "fi", .nest = shell_pop, .kind = SHELL_IF },
	{ .word = "while", .nest = shell_push, .kind = SHELL_LOOP },
	{ .word = "until", .nest = shell_push, .kind = SHELL_LOOP },
	{ .word = "done", .nest = nest_done, .kind = SHELL_LOOP },
	{ .word = "esac", .nest = shell_pop, .kind = SHELL_CASE },
	{ .word = "{", .nest = shell_push, .kind = SHELL_BRACE },
	{ .word = "}", .nest = nest_close, .kind = SHELL_BRACE },
	{ .word = "then", .run = on_then },
	{ .word = "elif", .run = on_else },
	{ .word = "else", .run = on_else },
	{ .word = "for", .run = read_for },
	{ .word = "select", .run = read_for },
	{ .word = "do", .run = on_do },
	{ .word = "case", .run = read_case },
	{ .word = "!", .run = on_not },
	{ .word = "function", .run = on_function },
	{ .word = "[[", .run = read_condition },
};

/* a | b) before the commands of a case. */
void shell_read_pattern(struct shell_reader *reader)
{
	if (reader->token.kind == SHELL_NEWLINE)
		return;
	if (shell_token_is(reader, "esac")) {
		shell_pop(reader, SHELL_CASE);
		return;
	}
	shell_pattern_begin(shell_top(reader));
	while (reader->token.kind == SHELL_WORD ||
	       reader->token.kind == SHELL_OPEN ||
	       reader->token.kind == SHELL_PIPE) {
		const struct shell_span *span = &reader->token.span;

		if (reader->token.kind == SHELL_WORD)
			shell_pattern_add(shell_top(reader),
					  reader->lexer.text + span->start,
					  span->end - span->start);
		if (shell_reader_next(reader) == SHELL_ERROR)
			return;
	}
	if (reader->token.kind != SHELL_CLOSE) {
		shell_fail_met(reader, "a pattern of case");
		return;
	}
	shell_top(reader)->wants_pattern = false;
	shell_pattern_end(shell_top(reader));
}

static void nest_level(struct shell_reader *reader,
		       const struct reserved *reserved)
{
	bool defines = reader->is_function && reserved->nest == shell_push;

	reserved->nest(reader, reserved->kind);
	if (defines && !reader->is_over)
		shell_function_define(reader);
	if (!reader->is_over && strcmp(reserved->word, "while") == 0)
		shell_loop_begin(reader);
}

bool shell_read_reserved(struct shell_reader *reader)
{
	for (size_t i = 0; i < sizeof(reserved_words) / sizeof(*reserved_words);
	     i++) {
		const struct reserved *reserved = &reserved_words[i];

		if (!shell_token_is(reader, reserved->word))
			continue;
		if (reader->is_one_command)
			shell_fail_met(reader, reserved->word);
		else if (reserved->nest)
			nest_level(reader, reserved);
		else
			reserved->run(reader);
		return true;
	}
	return false;
}
