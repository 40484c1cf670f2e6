/* Options and constants in the text of a Python script. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source.h"

#include "base/alloc.h"
#include "launcher/command/files/pytext.h"
#include "launcher/command/files/source_commands.h"
#include "launcher/command/files/source_fields.h"
#include "launcher/command/files/source_options.h"
#include "launcher/command/files/source_signature.h"
#include "launcher/command/files/source_submission.h"
#include "launcher/command/files/source_variables.h"
#include "launcher/command/text/names.h"

#include <stdlib.h>
#include <string.h>

/* Spellings of one option; more are passed over. */
#define NAMES_MAX 16

static bool keyword_is_one_of(const char *text, size_t length,
			      const char *const *words)
{
	while (*words && !pytext_word_is(text, length, *words))
		words++;
	return *words != NULL;
}

/* action="append", action=DictAction: a name of the program's own is no word of
 * argparse, and most of them take settings apart. */
static void read_action(struct pytext *cursor, struct source_option *option,
			bool is_text)
{
	static const char *const switches[] = { "store_true",  "store_false",
						"store_const", "count",
						"help",        "version",
						NULL };
	static const char *const lists[] = { "append", "extend", NULL };
	const char *text;
	size_t length;

	if (is_text) {
		pytext_string(cursor, &text, &length);
		option->is_switch = option->is_switch ||
				    keyword_is_one_of(text, length, switches);
		option->takes_settings = option->takes_settings ||
					 keyword_is_one_of(text, length, lists);
	} else if (cursor->at < cursor->end &&
		   pytext_is_word_start(*cursor->at)) {
		option->takes_settings = true;
	}
}

/* nargs="+", nargs=argparse.REMAINDER, multiple=True of click: more words than
 * one; a number of them is no list of settings. */
static bool nargs_is_open(struct pytext *cursor, bool is_text)
{
	static const char *const open[] = { "+", "*", "...", NULL };
	static const char *const closed[] = { "None", "False", NULL };
	const char *text;
	size_t length;

	if (is_text) {
		pytext_string(cursor, &text, &length);
		return keyword_is_one_of(text, length, open);
	}
	if (cursor->at >= cursor->end || !pytext_is_word_start(*cursor->at))
		return false;
	pytext_word(cursor, &text, &length);
	return !keyword_is_one_of(text, length, closed);
}

static void read_keyword(struct pytext *cursor, struct source_option *option,
			 const char *key, size_t length)
{
	bool is_text = cursor->at < cursor->end && pytext_is_quote(*cursor->at);
	const char *text;
	size_t text_length;

	if (pytext_word_is(key, length, "is_flag")) {
		option->is_switch = true;
	} else if (pytext_word_is(key, length, "default")) {
		free(option->text);
		option->text = pytext_string_alone(*cursor);
		option->kind = pytext_value(cursor, true, &option->value);
	} else if (pytext_word_is(key, length, "help") && is_text) {
		free(option->help);
		option->help = pytext_strings(cursor);
	} else if (pytext_word_is(key, length, "dest") && is_text) {
		pytext_string(cursor, &text, &text_length);
		free(option->dest);
		option->dest = xstrndup(text, text_length);
	} else if (pytext_word_is(key, length, "action")) {
		read_action(cursor, option, is_text);
	} else if (pytext_word_is(key, length, "nargs") ||
		   pytext_word_is(key, length, "multiple")) {
		option->takes_settings = option->takes_settings ||
					 nargs_is_open(cursor, is_text);
	}
}

/* One argument of the call: an option string or key=value. */
static void read_argument(struct pytext *cursor, struct source_option *option)
{
	const char *text;
	size_t length;
	char *name;

	if (pytext_is_quote(*cursor->at)) {
		pytext_string(cursor, &text, &length);
		if (length > 0 && *text != '-' && !option->dest &&
		    length < NAME_MAX_BYTES)
			option->dest = xstrndup(text, length);
		if (length < 2 || length >= NAME_MAX_BYTES || *text != '-' ||
		    option->names.count == NAMES_MAX)
			return;
		name = xstrndup(text, length);
		strlist_take(&option->names, name);
		return;
	}
	if (!pytext_is_word_start(*cursor->at))
		return;
	pytext_word(cursor, &text, &length);
	pytext_skip_blanks(cursor, true);
	if (cursor->end - cursor->at < 2 || *cursor->at != '=' ||
	    cursor->at[1] == '=')
		return;
	cursor->at++;
	pytext_skip_blanks(cursor, true);
	read_keyword(cursor, option, text, length);
}

/* The word before the bracket that opens a call. */
static const char *word_before(const struct pytext *cursor)
{
	const char *at = cursor->at;

	while (at > cursor->line_start && !pytext_is_word(at[-1]))
		at--;
	while (at > cursor->line_start && pytext_is_word(at[-1]))
		at--;
	return at;
}

/* The cursor is on the bracket that opens the call. */
static void read_call(struct pytext *cursor, struct source *source,
		      unsigned line)
{
	struct source_option option = {
		.line = line,
		.indent = strspn(cursor->line_start, " \t"),
	};
	const char *word = word_before(cursor);

	cursor->at++;
	for (;;) {
		pytext_skip_blanks(cursor, true);
		if (cursor->at >= cursor->end || *cursor->at == ')')
			break;
		if (*cursor->at == ',') {
			cursor->at++;
			continue;
		}
		read_argument(cursor, &option);
		pytext_skip_argument(cursor);
		if (cursor->at < cursor->end && *cursor->at != ',')
			break;
	}
	/* A call that the end of the text cuts off is not known. */
	if (cursor->at >= cursor->end) {
		source_option_release(&option);
		return;
	}
	cursor->at++;
	source_commands_place(&option, source, cursor->end, word);
	if (option.names.count == 0)
		source_positional_add(source, &option);
	source_option_add(source, &option);
}

/* Behind "default=", where that stands before a value. */
static void skip_keyword(struct pytext *cursor, const char *keyword)
{
	struct pytext ahead;
	const char *text;
	size_t length;

	pytext_skip_blanks(cursor, true);
	ahead = *cursor;
	if (ahead.at >= ahead.end || !pytext_is_word_start(*ahead.at))
		return;
	pytext_word(&ahead, &text, &length);
	if (!pytext_word_is(text, length, keyword) || *ahead.at != '=')
		return;
	*cursor = ahead;
	cursor->at++;
	pytext_skip_blanks(cursor, true);
}

/* ("batch_size", 8, "help"): absl. The cursor is on the bracket. */
static void read_define(struct pytext *cursor, struct source *source,
			unsigned line)
{
	struct source_option option = { .line = line };
	struct pytext ahead = *cursor;
	const char *name;
	size_t length;

	if (!source_quoted(&ahead, &name, &length) ||
	    length > NAME_MAX_BYTES - 3 || ahead.at >= ahead.end ||
	    *ahead.at != ',')
		return;
	ahead.at++;
	skip_keyword(&ahead, "default");
	option.kind = pytext_value(&ahead, true, &option.value);
	if (ahead.at < ahead.end && *ahead.at == ',') {
		ahead.at++;
		skip_keyword(&ahead, "help");
		if (ahead.at < ahead.end && pytext_is_quote(*ahead.at))
			option.help = pytext_strings(&ahead);
	}
	strlist_addf(&option.names, "--%.*s", (int)length, name);
	/* One dash is as good as two. */
	strlist_addf(&option.names, "-%.*s", (int)length, name);
	source_option_add(source, &option);
}

/* ("eval", False, "help"): a switch of absl. */
static void read_define_switch(struct pytext *cursor, struct source *source,
			       unsigned line)
{
	size_t count = source->option_count;

	read_define(cursor, source, line);
	if (source->option_count > count)
		source->options[count].is_switch = true;
}

/* Takes what the constant owns over. */
static void add_constant(struct source *source,
			 const struct source_constant *constant)
{
	if (source->constant_count == SOURCE_CONSTANTS_MAX) {
		free(constant->name);
		free(constant->help);
		return;
	}
	source->constants =
		xgrow(source->constants, source->constant_count,
		      &source->constant_capacity, sizeof(*source->constants));
	source->constants[source->constant_count++] = *constant;
}

/* word: type = 8 and word = 8, as code or as an argument. */
static void read_constant(const struct pytext *cursor, struct source *source,
			  const char *word, size_t length)
{
	struct pytext ahead = *cursor;
	struct source_constant constant = { .line = cursor->line };

	pytext_skip_blanks(&ahead, false);
	if (ahead.at < ahead.end && *ahead.at == ':') {
		constant.field =
			cursor->depth == 0 && word != cursor->line_start;
		if (!pytext_skip_type(&ahead))
			return;
	}
	if (length >= NAME_MAX_BYTES || ahead.end - ahead.at < 2 ||
	    *ahead.at != '=' || ahead.at[1] == '=')
		return;
	ahead.at++;
	pytext_skip_blanks(&ahead, false);
	constant.global = cursor->depth == 0 && word == cursor->line_start;
	constant.kind = pytext_default(&ahead, cursor->depth > 0,
				       &constant.value, &constant.help);
	if (constant.field && !constant.help)
		constant.help = pytext_comment(&ahead);
	if (constant.kind != SOURCE_INTEGER && !constant.global) {
		free(constant.help);
		return;
	}
	constant.name = xstrndup(word, length);
	add_constant(source, &constant);
}

/* "name": 8 in a dictionary. */
static void read_entry(const struct pytext *cursor, struct source *source,
		       const char *name, size_t length)
{
	struct pytext ahead = *cursor;
	struct source_constant constant = { .line = cursor->line };

	pytext_skip_blanks(&ahead, false);
	if (cursor->depth == 0 || length == 0 || length >= NAME_MAX_BYTES ||
	    ahead.at >= ahead.end || *ahead.at != ':')
		return;
	ahead.at++;
	pytext_skip_blanks(&ahead, false);
	constant.kind = pytext_value(&ahead, true, &constant.value);
	if (constant.kind != SOURCE_INTEGER)
		return;
	constant.name = xstrndup(name, length);
	add_constant(source, &constant);
}

/* What begins with a word and goes on with a bracket. */
typedef void read_bracket(struct pytext *cursor, struct source *source,
			  unsigned line);

static const struct bracket_row {
	const char *word;
	const char *brackets;
	read_bracket *read;
} bracket_rows[] = {
	{ "add_argument", "(", read_call },
	{ "add_option", "(", read_call },
	{ "option", "(", read_call },
	{ "argument", "(", read_call },
	{ "DEFINE_integer", "(", read_define },
	{ "DEFINE_bool", "(", read_define_switch },
	{ "DEFINE_boolean", "(", read_define_switch },
	{ "set_defaults", "(", source_options_set },
	{ "getenv", "(", source_variable_read },
	{ "environ", "[", source_variable_read },
	{ "get", "(", source_variable_read },
	{ "int", "(", source_variable_read },
};

static void read_code_word(struct pytext *cursor, struct source *source)
{
	const char *word;
	size_t length;
	unsigned line = cursor->line;

	pytext_word(cursor, &word, &length);
	for (size_t i = 0; i < sizeof(bracket_rows) / sizeof(*bracket_rows);
	     i++) {
		const struct bracket_row *row = &bracket_rows[i];

		if (*word != *row->word ||
		    !pytext_word_is(word, length, row->word) ||
		    !source_variable_may_be(word, length, cursor->line_start))
			continue;
		pytext_skip_blanks(cursor, false);
		if (cursor->at < cursor->end && *cursor->at &&
		    strchr(row->brackets, *cursor->at))
			row->read(cursor, source, line);
		return;
	}
	read_constant(cursor, source, word, length);
}

static void read_code(struct pytext *cursor, struct source *source)
{
	char c = *cursor->at;
	const char *text;
	size_t length;

	if (c == '#') {
		pytext_skip_comment(cursor);
	} else if (pytext_is_quote(c)) {
		pytext_string(cursor, &text, &length);
		read_entry(cursor, source, text, length);
	} else if (pytext_is_word_start(c)) {
		read_code_word(cursor, source);
	} else {
		if (c == '(' || c == '[' || c == '{')
			cursor->depth++;
		else if ((c == ')' || c == ']' || c == '}') &&
			 cursor->depth > 0)
			cursor->depth--;
		pytext_step(cursor);
	}
}

void source_read(struct source *source, const char *text)
{
	source_read_command(source, text, NULL);
}

void source_read_command(struct source *source, const char *text,
			 const char *command)
{
	struct pytext cursor = { .at = text, .line_start = text, .line = 1 };

	*source = (struct source){ 0 };
	if (!text)
		return;
	if (command)
		source->command = xstrdup(command);
	source->text = text;
	cursor.end = text + strnlen(text, SOURCE_BYTES_MAX);
	source_commands_read(source, text, cursor.end);
	while (cursor.at < cursor.end)
		read_code(&cursor, source);
	source_fields_read(source, text, cursor.end);
	source_signatures_read(source, text, cursor.end);
	source->submits_by =
		source_submission_find(text, cursor.end, &source->submits_line);
}

static void constant_release(struct source_constant *constant)
{
	free(constant->name);
	free(constant->help);
}

void source_begin_at(struct source *source, unsigned line)
{
	size_t constants = 0, variables = 0;

	for (size_t i = 0; i < source->constant_count; i++) {
		struct source_constant *constant = &source->constants[i];

		if (constant->line < line) {
			constant_release(constant);
			continue;
		}
		constant->line -= line - 1;
		source->constants[constants++] = *constant;
	}
	source->constant_count = constants;
	for (size_t i = 0; i < source->variable_count; i++) {
		struct source_variable *variable = &source->variables[i];

		if (variable->line < line) {
			free(variable->name);
			continue;
		}
		variable->line -= line - 1;
		source->variables[variables++] = *variable;
	}
	source->variable_count = variables;
}

void source_release(struct source *source)
{
	for (size_t i = 0; i < source->option_count; i++)
		source_option_release(&source->options[i]);
	for (size_t i = 0; i < source->constant_count; i++)
		constant_release(&source->constants[i]);
	for (size_t i = 0; i < source->variable_count; i++)
		free(source->variables[i].name);
	strlist_release(&source->positionals);
	strlist_release(&source->commands);
	free(source->command);
	free(source->options);
	free(source->constants);
	free(source->variables);
	*source = (struct source){ 0 };
}

/* Does a name of it begin with what was typed, or is that? "--data" is an
 * option beside --data.batch_size. */
static bool begins_so(const struct source_option *option, const char *typed,
		      size_t length)
{
	for (size_t i = 0; i < option->names.count; i++)
		if (name_starts(option->names.items[i], typed, length) &&
		    option->names.items[i][length] != '.')
			return true;
	return false;
}

const struct source_option *source_resolve(const struct source *source,
					   const char *typed, size_t length)
{
	bool is_long = length >= 3 && typed[0] == '-' && typed[1] == '-';
	const struct source_option *found = NULL;
	size_t beginnings = 0;

	for (size_t i = 0; i < source->option_count; i++) {
		const struct source_option *option = &source->options[i];

		if (!begins_so(option, typed, length))
			continue;
		for (size_t k = 0; k < option->names.count; k++)
			if (name_equal(option->names.items[k],
				       strlen(option->names.items[k]), typed,
				       length))
				return option;
		found = option;
		beginnings++;
	}
	return is_long && beginnings == 1 ? found : NULL;
}

const struct source_constant *source_global(const struct source *source,
					    const char *name)
{
	for (size_t i = 0; i < source->constant_count; i++) {
		const struct source_constant *constant = &source->constants[i];

		if (constant->global &&
		    name_equal(constant->name, strlen(constant->name), name,
			       strlen(name)))
			return constant;
	}
	return NULL;
}
