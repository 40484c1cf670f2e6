/* Which command of shell text is the one, and the words around it. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_found.h"

#include "base/alloc.h"
#include "launcher/command/shell/shell_rank.h"

#include <stdlib.h>
#include <string.h>

const char *shell_maybe(const struct shell_reader *reader)
{
	for (size_t i = 0; i < reader->depth; i++) {
		const struct shell_level *level = &reader->levels[i];

		if (level->is_function)
			return "in a function";
		if (level->branch == SHELL_TAKEN && !level->is_maybe)
			continue;
		if (level->kind == SHELL_LOOP)
			return "in a loop";
		if (level->kind == SHELL_CASE || level->is_maybe ||
		    (level->kind == SHELL_IF && !level->is_condition))
			return "under a condition";
	}
	return reader->is_maybe ? "under a condition" : NULL;
}

/* What stands here runs exactly when the variable of the assignment is empty.
 */
static bool when_empty(const struct shell_reader *reader,
		       const struct shell_test *test, struct shell_span word)
{
	const char *text = reader->lexer.text;
	size_t length = test->name.end - test->name.start;
	struct shell_assignment assignment;

	return test->is_one && test->is_empty &&
	       shell_assignment_read(text, word, &assignment) &&
	       assignment.name.end - assignment.name.start == length &&
	       !assignment.appends &&
	       memcmp(text + assignment.name.start, text + test->name.start,
		      length) == 0;
}

enum shell_manner shell_manner(const struct shell_reader *reader,
			       struct shell_span word)
{
	size_t maybe = 0;

	for (size_t i = 0; i < reader->depth; i++) {
		const struct shell_level *level = &reader->levels[i];

		/* What a ( ) assigns is gone behind it. */
		if (level->is_function || level->is_pipe ||
		    level->kind == SHELL_SUBSHELL)
			return SHELL_MAYBE;
		maybe += level->is_maybe;
		if (level->kind != SHELL_BRACE && !level->is_condition &&
		    level->branch != SHELL_TAKEN)
			maybe++;
	}
	if (reader->is_pipe)
		return SHELL_MAYBE;
	if (maybe <= 1 && !reader->is_maybe && reader->depth &&
	    when_empty(reader, &reader->levels[reader->depth - 1].test, word))
		return SHELL_IF_EMPTY;
	if (maybe == 0 && !reader->is_maybe)
		return SHELL_ALWAYS;
	if (maybe == 0 && when_empty(reader, &reader->list_test, word))
		return SHELL_IF_EMPTY;
	return SHELL_MAYBE;
}

/* The field of another word, with NAME= before it. */
static void add_assignment(struct shell_fields *out, const char *name,
			   const struct shell_field *value, struct word *word)
{
	word->is_opaque = value->word.is_opaque;
	if (value->word.variable) {
		word->variable = xstrdup(value->word.variable);
		word->variable_offset =
			value->word.variable_offset + strlen(name) + 1;
	}
	shell_fields_add(out, xasprintf("%s=%s", name, value->text), word);
}

/* NAME=value of all that the text itself exports. */
static void add_exports(const struct shell_reader *reader,
			struct shell_fields *out)
{
	const struct shell_scope *scope = &reader->scope;

	for (size_t i = 0; i < scope->count; i++) {
		const struct shell_variable *variable = &scope->variables[i];
		const struct shell_span *at = &variable->assigned;
		enum shell_state state = shell_variable_state(scope, variable);
		struct word word = { .origin = scope->origin,
				     .argument = scope->text_argument,
				     .start = at->start,
				     .end = at->end,
				     .line = at->line };

		if (!variable->is_exported || at->end == 0)
			continue;
		if (state == SHELL_TEXT) {
			add_assignment(out, variable->name,
				       &variable->value.items[0], &word);
		} else if (state != SHELL_UNSET) {
			word.is_opaque = true;
			shell_fields_add(
				out,
				xstrndup(reader->lexer.text + at->start,
					 at->end - at->start),
				&word);
		}
	}
}

/* NAME=$1: it is the program's arguments that are changed, not this. */
static void keep_in_text(const struct shell_scope *scope, struct word *word)
{
	if (word->origin != WORD_ARGUMENT)
		return;
	word->origin = scope->origin;
	word->argument = scope->text_argument;
	word->variable_offset = 0;
	word->is_numbered = false;
}

/* The words of the command just read, and NAME=value before them. */
static void found_take(struct shell_reader *reader)
{
	struct shell_found *found = &reader->found;
	struct shell_fields *fields = &reader->fields;
	size_t append_at = fields->is_closed ? NO_INDEX : fields->append_at;

	shell_fields_release(&found->fields);
	add_exports(reader, &found->fields);
	for (size_t i = 0; i < reader->assignments; i++) {
		size_t count = found->fields.count;

		shell_expand(&reader->scope, reader->words[i], SHELL_VALUE,
			     &found->fields);
		for (size_t k = count; k < found->fields.count; k++)
			keep_in_text(&reader->scope,
				     &found->fields.items[k].word);
	}
	found->inner = found->fields.count + reader->inner;
	found->fields.append_at = append_at == NO_INDEX
					  ? NO_INDEX
					  : found->fields.count + append_at;
	found->is_opaque = fields->items[reader->inner].word.is_opaque;
	shell_fields_move(&found->fields, fields);
	free(found->folder);
	found->folder = reader->folder ? xstrdup(reader->folder) : NULL;
}

bool shell_is_alone(struct shell_reader *reader)
{
	if (reader->is_one_command && reader->found.count &&
	    reader->found.rank != SHELL_NOTHING)
		shell_fail(reader, 0,
			   "the text after %s holds several commands: put the "
			   "one that trains after --, without %s, or write "
			   "{micro} where the micro-batch belongs in it",
			   reader->label, reader->label);
	return !reader->is_over;
}

static void consider_one(struct shell_reader *reader)
{
	struct shell_found *found = &reader->found;

	found->rank = reader->rank;
	found->count = 1;
	found_take(reader);
}

void shell_consider(struct shell_reader *reader)
{
	struct shell_found *found = &reader->found;
	unsigned line = reader->words[0].line;
	bool says_size;
	int likelier;

	if (reader->is_one_command) {
		if (shell_is_alone(reader))
			consider_one(reader);
		return;
	}
	if (reader->rank == SHELL_NOTHING)
		return;
	/* Of a preparation and a training both may be Python. */
	says_size = shell_says_size(&reader->fields, reader->inner);
	likelier = (int)reader->rank - (int)found->rank;
	if (likelier == 0)
		likelier = (int)says_size - (int)found->says_size;
	if (likelier < 0)
		return;
	if (found->count && likelier == 0) {
		if (found->count++ == 1)
			found->lines[1] = line;
		return;
	}
	found->rank = reader->rank;
	found->says_size = says_size;
	found->count = 1;
	found->lines[0] = line;
	found->maybe = shell_maybe(reader);
	found->in_background = false;
	found->is_waited_for = false;
	reader->founds++;
	found_take(reader);
}

static void decide_line(struct shell_reader *reader)
{
	const struct shell_found *found = &reader->found;
	unsigned line = found->lines[0];

	if (found->count == 0)
		shell_fail(
			reader, 0,
			"%s: no line of it starts a training: " SHELL_INSTEAD,
			reader->label);
	else if (found->count > 1 && line == found->lines[1])
		shell_fail(reader, line,
			   "two programs are started here, and which of them "
			   "trains cannot be told: " SHELL_INSIDE);
	else if (found->count > 1)
		shell_fail(reader, 0,
			   "%s: lines %u and %u both start a program, and "
			   "which of them trains cannot be told: " SHELL_INSIDE,
			   reader->label, line, found->lines[1]);
	else if (found->maybe)
		shell_fail(reader, line,
			   "the training is started %s, so it may run not at "
			   "all or many times: " SHELL_INSIDE,
			   found->maybe);
	else if (found->in_background && !found->is_waited_for)
		shell_fail(reader, line,
			   "the training is started in the background (&) and "
			   "nothing waits for it: " SHELL_INSIDE);
	else if (found->is_opaque)
		shell_fail(reader, line,
			   "which program is started here cannot be told from "
			   "the script: " SHELL_INSTEAD);
}

void shell_decide(struct shell_reader *reader)
{
	if (!reader->is_one_command)
		decide_line(reader);
	else if (reader->found.count == 0)
		shell_fail(
			reader, 0,
			"the text after %s starts no command: " SHELL_INSTEAD,
			reader->label);
	else if (reader->found.is_opaque)
		shell_fail(reader, 0,
			   "which program the text after %s starts cannot be "
			   "told: " SHELL_INSTEAD,
			   reader->label);
}
