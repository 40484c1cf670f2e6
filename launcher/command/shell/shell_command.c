/* Takes the shell of a command apart: which text it runs, which words. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_command.h"

#include "base/alloc.h"
#include "launcher/command/shell/shell_read.h"
#include "launcher/command/shell/words/shell_word.h"
#include "launcher/command/text/argument.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WAY_OUT "put the training command itself after --"

/* What the shell is asked to run. */
struct invocation {
	const struct strlist *argv;
	size_t at;         /* the argument looked at; then text or script */
	const char *shell; /* "bash"; NULL: the script itself is started */
	bool is_text;      /* -c */
	struct error *err;
};

static const char *shell_name(const char *program)
{
	static const char *const names[] = { "bash", "sh",   "dash", "zsh",
					     "ksh",  "mksh", "ash" };
	const char *name = basename(program);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i], name) == 0)
			return names[i];
	return NULL;
}

static enum command_outcome
shell_command_not_understood(const struct invocation *invocation)
{
	char shown[BRIEF_MAX];

	(void)error_set(
		invocation->err, -EINVAL,
		"%s: the option %s is not understood: " WAY_OUT,
		invocation->shell,
		argument_brief(shown, invocation->argv->items[invocation->at]));
	return COMMAND_NOT_RECOGNISED;
}

static enum command_outcome from_stdin(const struct invocation *invocation)
{
	(void)error_set(invocation->err, -EINVAL,
			"%s reads its script from standard input, which only "
			"one probe could do: write it to a file",
			invocation->shell);
	return COMMAND_REFUSED;
}

/* --norc; false: not known. */
static bool read_long_option(struct invocation *invocation)
{
	static const char *const switches[] = { "norc",      "noprofile",
						"posix",     "login",
						"noediting", "restricted",
						"verbose" };
	static const char *const values[] = { "rcfile", "init-file" };
	const char *name = invocation->argv->items[invocation->at] + 2;

	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++) {
		if (strcmp(switches[i], name) == 0) {
			invocation->at++;
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		if (strcmp(values[i], name) == 0) {
			invocation->at += 2;
			return true;
		}
	}
	return false;
}

/* -euo pipefail, -lc; o and O take the next argument each. */
static enum command_outcome read_letters(struct invocation *invocation)
{
	const char *text = invocation->argv->items[invocation->at];
	size_t values = 0;

	for (const char *letter = text + 1; *letter; letter++) {
		if (*letter == 's' && *text == '-')
			return from_stdin(invocation);
		/* n and D only look at the script. */
		if (!shell_name_begins(*letter) || strchr("nD_", *letter))
			return shell_command_not_understood(invocation);
		if (*letter == 'c' && *text == '-')
			invocation->is_text = true;
		if (*letter == 'o' || *letter == 'O')
			values++;
	}
	invocation->at += 1 + values;
	return COMMAND_OK;
}

static enum command_outcome read_options(struct invocation *invocation)
{
	const struct strlist *argv = invocation->argv;
	enum command_outcome outcome = COMMAND_OK;

	invocation->at++;
	while (outcome == COMMAND_OK && invocation->at < argv->count) {
		const char *text = argv->items[invocation->at];

		if (*text != '-' && *text != '+')
			break;
		if (strcmp(text, "-") == 0 || strcmp(text, "--") == 0) {
			invocation->at++;
			break;
		}
		if (text[0] != '-' || text[1] != '-')
			outcome = read_letters(invocation);
		else if (!read_long_option(invocation))
			outcome = shell_command_not_understood(invocation);
	}
	return outcome;
}

/* invocation->at: the shell, or the script; then its text or its script. */
static enum command_outcome find_text(struct invocation *invocation)
{
	enum command_outcome outcome;

	invocation->shell = shell_name(invocation->argv->items[invocation->at]);
	if (!invocation->shell)
		return COMMAND_OK;
	outcome = read_options(invocation);
	if (outcome != COMMAND_OK)
		return outcome;
	if (invocation->at < invocation->argv->count) {
		const char *path = invocation->argv->items[invocation->at];

		return !invocation->is_text && argument_is_pipe(path)
			       ? from_stdin(invocation)
			       : COMMAND_OK;
	}
	if (!invocation->is_text)
		return from_stdin(invocation);
	(void)error_set(invocation->err, -EINVAL,
			"%s -c names no text: there is nothing to start",
			invocation->shell);
	return COMMAND_UNREADABLE;
}

/* The file of the script; NULL: the outcome says why. */
static const struct strbuf *script_text(const struct invocation *invocation,
					struct named_files *texts,
					enum command_outcome *outcome)
{
	const char *path = invocation->argv->items[invocation->at];
	const struct named_file *file = named_files_get(texts, path);
	char shown[BRIEF_MAX];

	if (file && !file->error)
		return &file->text;
	if (file) {
		*outcome = COMMAND_UNREADABLE;
		(void)error_set_errno(invocation->err, -file->error,
				      "cannot read the script %s",
				      argument_brief(shown, path));
	} else {
		*outcome = COMMAND_NOT_RECOGNISED;
		(void)error_set(invocation->err, -E2BIG,
				"the command names more than %d files to read",
				NAMED_FILES_MAX);
	}
	return NULL;
}

/* "#!/usr/bin/env -S python3 -u": the program a script asks for. */
static char *interpreter(const struct strbuf *text)
{
	const char *bytes = strbuf_text(text);
	size_t length = strcspn(bytes, "\r\n");
	char *line;
	char *word;
	char *rest = NULL;
	char *name = NULL;

	if (strncmp(bytes, "#!", 2) != 0)
		return NULL;
	line = xstrndup(bytes + 2, length - 2);
	for (word = strtok_r(line, " \t", &rest); word;
	     word = strtok_r(NULL, " \t", &rest)) {
		if (*word == '-')
			continue;
		free(name);
		name = xstrdup(basename(word));
		if (strcmp(name, "env") != 0)
			break;
	}
	free(line);
	return name;
}

/* Started by itself, it names its own shell. */
static enum command_outcome check_interpreter(struct invocation *invocation,
					      const struct strbuf *text)
{
	char *name = interpreter(text);
	char program[BRIEF_MAX];
	char shown[BRIEF_MAX];

	invocation->shell = name ? shell_name(name) : "sh";
	if (!invocation->shell)
		(void)error_set(
			invocation->err, -EINVAL,
			"%s is a script of %s, not of a shell: " WAY_OUT,
			argument_brief(shown,
				       invocation->argv->items[invocation->at]),
			argument_brief(program, name));
	free(name);
	return invocation->shell ? COMMAND_OK : COMMAND_NOT_RECOGNISED;
}

static void prepare(struct shell_reader *reader,
		    const struct invocation *invocation)
{
	const char *shell = invocation->shell;
	size_t at = invocation->at;
	struct shell_scope *scope = &reader->scope;

	reader->is_one_command = invocation->is_text;
	reader->err = invocation->err;
	reader->lexer.is_posix = strcmp(shell, "sh") == 0 ||
				 strcmp(shell, "dash") == 0 ||
				 strcmp(shell, "ash") == 0;
	scope->is_zsh = strcmp(shell, "zsh") == 0;
	scope->argv = invocation->argv;
	scope->origin = invocation->is_text ? WORD_SHELL_TEXT : WORD_SCRIPT;
	scope->text_argument = invocation->is_text ? at : NO_INDEX;
	/* Behind the text the name stands that is $0. */
	scope->first = at + (invocation->is_text ? 2 : 1);
	if (scope->first > scope->argv->count)
		scope->first = scope->argv->count;
	if (invocation->is_text)
		return;
	scope->script = scope->argv->items[at];
}

/* How an argument already stands among the words. */
enum use { UNUSED, BY_NUMBER, IN_LIST };

/* What changes one of them would change the other one too. */
static void note_use(struct shell_expansion *expansion, struct word *word,
		     enum use *uses)
{
	enum use *use = &uses[word->argument];

	if (*use == UNUSED) {
		*use = word->is_numbered ? BY_NUMBER : IN_LIST;
		return;
	}
	if (*use == IN_LIST && !word->is_numbered && expansion->script)
		expansion->append_at = NO_INDEX;
	word->origin = expansion->script ? WORD_SCRIPT : WORD_SHELL_TEXT;
	word->argument = expansion->text;
	word->variable_offset = 0;
	word->is_numbered = false;
	word->is_opaque = true;
}

/* "${LIST[@]}" is written anew as a whole, so all of it must be known. */
static void spread_doubt(struct shell_expansion *expansion)
{
	struct word *words = expansion->words;
	size_t count = expansion->argv.count;

	for (size_t i = 0; i < count;) {
		size_t end = i + 1;
		bool is_opaque = words[i].is_opaque;

		while (end < count && words[i].end > 0 &&
		       words[end].start == words[i].start)
			is_opaque = words[end++].is_opaque || is_opaque;
		for (; i < end; i++)
			if (words[i].origin == WORD_SHELL_TEXT)
				words[i].is_opaque = is_opaque;
	}
}

static void take_words(struct shell_expansion *expansion,
		       const struct invocation *invocation,
		       struct shell_reader *reader)
{
	const struct strlist *argv = invocation->argv;
	struct shell_fields *fields = &reader->found.fields;
	size_t before = invocation->at + (invocation->is_text ? 0 : 1);
	enum use *uses = xcalloc(argv->count, sizeof(*uses));

	expansion->words =
		xcalloc(before + fields->count, sizeof(*expansion->words));
	for (size_t i = 0; i < before; i++) {
		strlist_add(&expansion->argv, argv->items[i]);
		expansion->words[i].argument = i;
	}
	for (size_t i = 0; i < fields->count; i++) {
		struct word *word = &expansion->words[before + i];

		strlist_take(&expansion->argv, fields->items[i].text);
		free(fields->items[i].pieces);
		*word = fields->items[i].word;
		if (word->origin == WORD_ARGUMENT)
			note_use(expansion, word, uses);
		if (word->origin != WORD_SCRIPT)
			word->line = 0;
	}
	fields->count = 0;
	spread_doubt(expansion);
	free(uses);
}

static void shell_command_take(struct shell_expansion *expansion,
			       const struct invocation *invocation,
			       struct shell_reader *reader)
{
	const struct shell_scope *scope = &reader->scope;
	size_t before = invocation->at + (invocation->is_text ? 0 : 1);
	size_t append_at = reader->found.fields.append_at;

	expansion->text = scope->text_argument;
	expansion->script = scope->script ? xstrdup(scope->script) : NULL;
	expansion->inner = before + reader->found.inner;
	expansion->folder = reader->found.folder;
	reader->found.folder = NULL;
	/* One argument more would be $1, or one too many. */
	if (invocation->is_text)
		append_at = reader->found.fields.count;
	else if (scope->argument_missing || scope->arguments_counted)
		append_at = NO_INDEX;
	expansion->append_at =
		append_at == NO_INDEX ? NO_INDEX : before + append_at;
	take_words(expansion, invocation, reader);
}

static enum command_outcome read_text(struct shell_expansion *expansion,
				      const struct invocation *invocation,
				      const struct shell_call *call,
				      struct named_files *texts,
				      const struct strbuf *script)
{
	const char *text = invocation->argv->items[invocation->at];
	struct shell_reader reader = { .is_over = false };
	char *words = xasprintf("%s -c", invocation->shell);
	enum command_outcome outcome;
	char label[BRIEF_MAX];

	prepare(&reader, invocation);
	reader.texts = texts;
	reader.scope.environment = call->environment;
	reader.scope.looks_inside = call->looks_inside;
	reader.label = argument_brief(label, script ? text : words);
	reader.lexer.text = script ? strbuf_text(script) : text;
	reader.lexer.length = script ? script->length : strlen(text);
	outcome = shell_read(&reader);
	if (outcome == COMMAND_OK)
		shell_command_take(expansion, invocation, &reader);
	shell_reader_release(&reader);
	free(words);
	return outcome;
}

enum command_outcome shell_command_expand(struct shell_expansion *expansion,
					  const struct shell_call *call,
					  struct named_files *texts,
					  struct error *err)
{
	struct invocation invocation = { .argv = call->argv,
					 .at = call->at,
					 .err = err };
	enum command_outcome outcome = find_text(&invocation);
	const struct strbuf *script = NULL;

	*expansion = (struct shell_expansion){ .text = NO_INDEX };
	if (outcome == COMMAND_OK && !invocation.is_text)
		script = script_text(&invocation, texts, &outcome);
	if (script && !invocation.shell)
		outcome = check_interpreter(&invocation, script);
	if (outcome != COMMAND_OK)
		return outcome;
	return read_text(expansion, &invocation, call, texts, script);
}

void shell_expansion_release(struct shell_expansion *expansion)
{
	for (size_t i = 0; expansion->words && i < expansion->argv.count; i++)
		free(expansion->words[i].variable);
	free(expansion->words);
	free(expansion->script);
	free(expansion->folder);
	strlist_release(&expansion->argv);
	*expansion = (struct shell_expansion){ .inner = 0 };
}
