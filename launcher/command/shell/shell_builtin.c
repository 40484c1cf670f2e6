/* What commands of a script do to its variables and arguments. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_builtin.h"

#include "launcher/command/shell/shell_command.h"
#include "launcher/command/shell/shell_condition.h"
#include "launcher/command/shell/shell_flow.h"
#include "launcher/command/shell/shell_found.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static const char *builtin_text_of(const struct shell_reader *reader,
				   size_t index)
{
	return index < reader->fields.count ? reader->fields.items[index].text
					    : "";
}

static bool is_name(const char *text)
{
	size_t length = strlen(text);

	return length && shell_name_length(text, length) == length;
}

/* Its value is another one from here on, which is not known. */
static void forget(struct shell_reader *reader, const char *name)
{
	struct shell_variable *variable =
		shell_variable(&reader->scope, name, strlen(name));

	shell_variable_set(&reader->scope, variable, SHELL_UNKNOWN, NULL);
}

/* read, mapfile, getopts, let: every name may get a value. */
static void do_read(struct shell_reader *reader)
{
	for (size_t i = reader->inner + 1; i < reader->fields.count; i++) {
		const char *text = builtin_text_of(reader, i);
		char *name =
			xstrndup(text, shell_name_length(text, strlen(text)));

		if (*name)
			forget(reader, name);
		free(name);
	}
}

static void do_printf(struct shell_reader *reader)
{
	const char *name = builtin_text_of(reader, reader->inner + 2);

	if (strcmp(builtin_text_of(reader, reader->inner + 1), "-v") == 0 &&
	    is_name(name))
		forget(reader, name);
}

/* Those options of declare leave the value what is written. */
static bool is_plain_option(const char *option)
{
	return option[strspn(option, "-+xgrapt")] == '\0';
}

/* export, declare, local, readonly */
static void do_declare(struct shell_reader *reader)
{
	const char *text = reader->lexer.text;
	const char *name = builtin_text_of(reader, reader->inner);
	bool exports = strcmp(name, "export") == 0;
	bool is_plain = true;

	if (!exports && strcmp(name, "readonly") != 0)
		shell_function_local(reader);

	for (size_t i = reader->assignments + 1; i < reader->count; i++) {
		struct shell_span word = reader->words[i];
		size_t length = word.end - word.start;
		struct shell_assignment assignment;
		struct shell_variable *variable;
		char *option;

		if (text[word.start] == '-' || text[word.start] == '+') {
			option = xstrndup(text + word.start, length);
			is_plain = is_plain && is_plain_option(option);
			exports = exports || strchr(option, 'x');
			free(option);
			continue;
		}
		if (shell_assignment_read(text, word, &assignment))
			variable = shell_assign(
				&reader->scope, word,
				is_plain ? shell_manner(reader, word)
					 : SHELL_MAYBE);
		else if (shell_name_length(text + word.start, length) == length)
			variable = shell_variable(&reader->scope,
						  text + word.start, length);
		else
			continue;
		variable->is_exported = variable->is_exported || exports;
	}
}

static void do_unset(struct shell_reader *reader)
{
	for (size_t i = reader->inner + 1; i < reader->fields.count; i++) {
		const char *name = builtin_text_of(reader, i);
		struct shell_variable *variable;

		if (!is_name(name))
			continue;
		variable = shell_variable(&reader->scope, name, strlen(name));
		shell_variable_set(&reader->scope, variable,
				   shell_maybe(reader) ? SHELL_UNKNOWN
						       : SHELL_UNSET,
				   NULL);
		variable->is_exported = false;
	}
}

static void do_shift(struct shell_reader *reader)
{
	struct shell_scope *scope = &reader->scope;
	const char *text = builtin_text_of(reader, reader->inner + 1);
	size_t count = 1;

	if (text[0] >= '0' && text[0] <= '9' && text[1] == '\0')
		count = (size_t)(text[0] - '0');
	else if (*text)
		scope->arguments_unknown = true;
	if (shell_maybe(reader))
		scope->arguments_unknown = true;
	if (scope->first + count > scope->argv->count) {
		scope->argument_missing = true;
		count = scope->argv->count - scope->first;
	}
	scope->first += count;
}

/* set -euo pipefail; all else sets the arguments. */
static void do_set(struct shell_reader *reader)
{
	for (size_t i = reader->inner + 1; i < reader->fields.count; i++) {
		const char *text = builtin_text_of(reader, i);

		if ((text[0] != '-' && text[0] != '+') ||
		    strcmp(text, "--") == 0) {
			reader->scope.arguments_unknown = true;
			return;
		}
		if (text[strlen(text) - 1] == 'o')
			i++;
	}
}

static bool holds_one_of(const char *text, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(text, *parts))
			return true;
	return false;
}

/* They change PATH and such, and no variable that a script reads itself. */
static const char *const environments[] = {
	"activate", "conda",   "mamba",  "bashrc",    "profile", "modules",
	"lmod",     "setvars", "direnv", "ssh-agent", "pyenv",   NULL,
};

/* More is no list of a few variables. */
#define SOURCED_BYTES_MAX ((size_t)16 * 1024)

/* What is done with each assignment. */
typedef void sourced_take(struct shell_reader *reader, struct shell_span word,
			  bool is_exported);

static bool is_export(const char *text, struct shell_span word)
{
	return word.end - word.start == 6 &&
	       memcmp(text + word.start, "export", 6) == 0;
}

/* Each assignment in turn (take may be NULL); false: there is more. */
static bool sourced_visit(struct shell_reader *reader,
			  const struct strbuf *text, sourced_take *take)
{
	struct shell_lexer lexer = { .text = strbuf_text(text),
				     .length = text->length,
				     .is_posix = reader->lexer.is_posix };
	struct shell_assignment assignment;
	bool begins = true, exports = false;
	struct shell_token token;

	while (shell_next(&lexer, &token) != SHELL_END) {
		bool ends = token.kind == SHELL_NEWLINE ||
			    token.kind == SHELL_SEMICOLON;

		if (ends || (begins && is_export(lexer.text, token.span))) {
			exports = !ends;
			begins = ends;
			continue;
		}
		if (token.kind != SHELL_WORD || lexer.met & SHELL_MET_COMMAND ||
		    !shell_assignment_read(lexer.text, token.span, &assignment))
			return false;
		if (take)
			take(reader, token.span, exports);
		begins = false;
	}
	return true;
}

static void sourced_assign(struct shell_reader *reader, struct shell_span word,
			   bool is_exported)
{
	struct shell_variable *variable =
		shell_assign(&reader->scope, word, SHELL_ALWAYS);

	variable->is_exported = variable->is_exported || is_exported;
	/* In the script the line that reads the file says it. */
	variable->assigned = reader->words[0];
	for (size_t i = 0; i < variable->value.count; i++) {
		variable->value.items[i].piece_count = 0;
		variable->value.items[i].word.literal_end = 0;
	}
}

/*
 * Sets the variables of a text in which nothing stands but NAME=value, with
 * export before it or not. False: there is more in it, and nothing is set. No
 * value has a place in the script itself.
 */
static bool sourced_read(struct shell_reader *reader, const struct strbuf *text)
{
	struct shell_lexer lexer = { .text = strbuf_text(text),
				     .length = text->length };
	struct shell_lexer *script = reader->scope.lexer;

	if (text->length > SOURCED_BYTES_MAX ||
	    !sourced_visit(reader, text, NULL))
		return false;
	reader->scope.lexer = &lexer;
	(void)sourced_visit(reader, text, sourced_assign);
	reader->scope.lexer = script;
	return true;
}

/* A file that holds assignments alone sets them, and nothing else. A posix
 * shell looks for a name without a slash in PATH alone. */
static bool reads_assignments(struct shell_reader *reader)
{
	const struct shell_field *path =
		&reader->fields.items[reader->inner + 1];
	struct named_file *file;
	char *seen;

	if (reader->fields.count != reader->inner + 2 || path->word.is_opaque ||
	    shell_maybe(reader) || reader->is_pipe || reader->is_one_command ||
	    (reader->lexer.is_posix && !strchr(path->text, '/')))
		return false;
	seen = shell_path(reader->folder, path->text);
	file = seen ? named_files_get(reader->texts, seen) : NULL;
	free(seen);
	return file && !file->error && sourced_read(reader, &file->text);
}

/* source, eval: any variable may be another one after it. */
static void do_source(struct shell_reader *reader)
{
	/* The arguments behind the file do not matter. */
	bool is_environment =
		reader->fields.count > reader->inner + 1 &&
		holds_one_of(builtin_text_of(reader, reader->inner + 1),
			     environments);

	if (!is_environment && !reads_assignments(reader))
		reader->scope.age++;
}

static void do_eval(struct shell_reader *reader)
{
	unsigned age = reader->scope.age;

	do_source(reader);
	reader->rank = SHELL_NOTHING;
	if (age == reader->scope.age)
		return;
	/* It may even be what trains. */
	reader->fields.items[reader->inner].word.is_opaque = true;
	reader->rank = SHELL_PROGRAM;
}

char *shell_path(const char *folder, const char *path)
{
	if (*path == '/' || !folder)
		return xstrdup(path);
	return *folder ? xasprintf("%s/%s", folder, path) : NULL;
}

static void do_cd(struct shell_reader *reader)
{
	size_t at = reader->inner + 1;
	const char *to;
	char *folder;

	if (strcmp(builtin_text_of(reader, at), "--") == 0)
		at++;
	to = builtin_text_of(reader, at);
	if (reader->is_one_command) {
		shell_fail(reader, 0,
			   "the text after %s holds cd: the files that the "
			   "command names cannot be found from here: start "
			   "autofit in that folder, and leave cd out",
			   reader->label);
		return;
	}
	if (reader->fields.count != at + 1 || *to == '\0' || *to == '-' ||
	    reader->fields.items[at].word.is_opaque || shell_maybe(reader) ||
	    strcmp(builtin_text_of(reader, reader->inner), "cd") != 0)
		folder = NULL;
	else
		folder = shell_path(reader->folder, to);
	free(reader->folder);
	reader->folder = folder ? folder : xstrdup("");
	if (!reader->scope.has_moved) {
		struct shell_variable *here =
			shell_variable(&reader->scope, "PWD", 3);

		shell_variable_set(&reader->scope, here, SHELL_UNKNOWN, NULL);
	}
	reader->scope.has_moved = true;
}

static void do_exit(struct shell_reader *reader);

static void do_return(struct shell_reader *reader)
{
	if (!shell_function_return(reader))
		do_exit(reader);
}

static void do_break(struct shell_reader *reader)
{
	shell_loop_leave(reader, false);
}

static void do_continue(struct shell_reader *reader)
{
	shell_loop_leave(reader, true);
}

/* Nothing behind it runs. */
static void do_exit(struct shell_reader *reader)
{
	if (!shell_maybe(reader) && !reader->is_pipe)
		reader->is_over = true;
}

static void do_wait(struct shell_reader *reader)
{
	reader->found.is_waited_for = true;
}

/* "$NAME", ${NAME:-}: the value itself; ${NAME+x}: whether there is one. */
static bool is_whole_value(const struct shell_part *part)
{
	size_t length = part->word.end - part->word.start;

	if (part->has_index)
		return false;
	return !part->operation || (part->operation == '-' && length == 0) ||
	       (part->operation == '+' && length > 0);
}

/* The one variable that is all of the word. */
static bool one_variable(const struct shell_reader *reader,
			 struct shell_span word, struct shell_span *name)
{
	const char *text = reader->lexer.text;
	struct shell_parts parts;
	struct shell_part part;
	size_t count = 0;

	shell_parts_begin(&parts, text, word, false);
	while (shell_part_next(&parts, &part) != SHELL_PART_END) {
		if (part.kind == SHELL_PART_TEXT && part.start == part.end)
			continue;
		if (part.kind != SHELL_PART_PARAMETER || ++count > 1 ||
		    !shell_name_begins(text[part.name.start]) ||
		    !is_whole_value(&part))
			return false;
		*name = part.name;
	}
	return count == 1;
}

static bool builtin_is_word(const struct shell_reader *reader, size_t index,
			    const char *text)
{
	const struct shell_span *word = &reader->words[index];
	size_t length = strlen(text);

	return word->end - word->start == length &&
	       memcmp(reader->lexer.text + word->start, text, length) == 0;
}

/* The words of [ ... ] as a test of one variable. */
static struct shell_test shell_test_read(const struct shell_reader *reader)
{
	struct shell_test test = { .is_one = false };
	size_t at = reader->assignments + 1;
	size_t end = reader->count;

	if (end > at && (builtin_is_word(reader, end - 1, "]") ||
			 builtin_is_word(reader, end - 1, "]]")))
		end--;
	test.is_empty = true;
	if (at < end && builtin_is_word(reader, at, "!")) {
		test.is_empty = false;
		at++;
	}
	if (end != at + 2)
		return test;
	if (builtin_is_word(reader, at, "-n"))
		test.is_empty = !test.is_empty;
	else if (!builtin_is_word(reader, at, "-z"))
		return test;
	test.is_one = one_variable(reader, reader->words[at + 1], &test.name);
	return test;
}

static void do_test(struct shell_reader *reader)
{
	reader->was_test = true;
	reader->test = shell_test_read(reader);
	reader->truth = shell_truth_read(reader);
}

struct builtin {
	const char *name;
	void (*run)(struct shell_reader *reader);
};

static const struct builtin builtins[] = {
	{ "[", do_test },
	{ "[[", do_test },
	{ "test", do_test },
	{ "export", do_declare },
	{ "declare", do_declare },
	{ "typeset", do_declare },
	{ "local", do_declare },
	{ "readonly", do_declare },
	{ "unset", do_unset },
	{ "read", do_read },
	{ "mapfile", do_read },
	{ "readarray", do_read },
	{ "getopts", do_read },
	{ "let", do_read },
	{ "printf", do_printf },
	{ "shift", do_shift },
	{ "set", do_set },
	{ "source", do_source },
	{ ".", do_source },
	{ "eval", do_eval },
	{ "cd", do_cd },
	{ "pushd", do_cd },
	{ "popd", do_cd },
	{ "exit", do_exit },
	{ "return", do_return },
	{ "break", do_break },
	{ "continue", do_continue },
	{ "wait", do_wait },
};

void shell_builtin(struct shell_reader *reader, const char *name)
{
	for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++)
		if (strcmp(builtins[i].name, name) == 0)
			builtins[i].run(reader);
}
