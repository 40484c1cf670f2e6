/* The program's arguments read as options and key=value. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/parts/token.h"

#include "base/units.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/names.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

static void token_join(struct token *token, size_t name_length, size_t offset)
{
	assert(name_length >= 1 && offset >= name_length);
	token->name_length = name_length;
	token->form = KNOB_JOINED;
	token->value_index = token->index;
	token->value_offset = offset;
}

static void token_option_read(struct token *token, const struct strlist *argv,
			      const struct command_view *view)
{
	const char *text = token->name;
	size_t length = (size_t)(strchrnul(text, '=') - text);
	size_t next = token->index + 1;

	token->name_length = length;
	if (text[length] == '=') {
		token_join(token, length, length + 1);
	} else if (argument_is_glued(text)) {
		token_join(token, 2, 2);
	} else if (next < view->end && !argument_is_option(argv->items[next])) {
		token->form = KNOB_SEPARATE;
		token->value_index = next;
	}
}

/* The option whose words are key=value, each of them a setting. */
static bool is_group(const struct command_view *view, const char *text)
{
	return view->group &&
	       name_equal(text, strlen(text), view->group, strlen(view->group));
}

static void pair_read(struct token *token, const struct command_view *view)
{
	token->bare = true;
	token->name_length = strlen(token->name);
	if (token->index + 1 >= view->end)
		return;
	token->form = KNOB_SEPARATE;
	token->value_index = token->index + 1;
}

/* An option that the preset knows to have no value. */
static bool is_switch(const struct command_view *view, const char *text)
{
	for (size_t i = 0; view->dropped && i < view->dropped->count; i++)
		if (name_equal(view->dropped->items[i],
			       strlen(view->dropped->items[i]), text,
			       strlen(text)))
			return true;
	return false;
}

static bool takes_settings(const struct command_view *view, const char *text)
{
	return strlist_find(&view->setting_options, text) <
	       view->setting_options.count;
}

/* train.batch_size 64: small letters are a key only before a number. */
static bool is_dotted_pair(const struct command_view *view,
			   const struct strlist *argv, size_t index)
{
	const char *text = argv->items[index];
	const char *value;

	if (index + 1 >= view->end)
		return false;
	value = argv->items[index + 1];
	return isalpha((unsigned char)*text) && strchr(text, '.') &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._")] ==
		       '\0' &&
	       *value && value[strspn(value, "0123456789")] == '\0';
}

/* --name takes the word behind it: batch=8 is no setting there. */
static bool takes_next(const struct command_view *view, const char *text)
{
	return argument_is_option(text) && !strchr(text, '=') &&
	       !argument_is_glued(text) && !is_group(view, text) &&
	       !is_switch(view, text) && !takes_settings(view, text);
}

bool token_read(struct token *token, const struct strlist *argv,
		const struct command_view *view, size_t index)
{
	const char *text = argv->items[index];
	const char *before;
	size_t length;

	assert(index < view->end && view->end <= argv->count);
	*token = (struct token){ .index = index,
				 .name = text,
				 .form = KNOB_ABSENT,
				 .value_index = NO_INDEX };
	if (argument_is_option(text)) {
		token_option_read(token, argv, view);
		if (is_group(view, text) ||
		    (token->form == KNOB_SEPARATE &&
		     takes_settings(view, text) &&
		     argument_key_length(argv->items[token->value_index])))
			token->form = KNOB_ABSENT;
		return true;
	}
	if (view->pairs &&
	    (argument_is_pair_key(text) ||
	     strlist_find(&view->pair_keys, text) < view->pair_keys.count)) {
		pair_read(token, view);
		return true;
	}
	before = index > view->args ? argv->items[index - 1] : "";
	if (takes_next(view, before))
		return false;
	if (view->pairs && is_dotted_pair(view, argv, index)) {
		pair_read(token, view);
		return true;
	}
	length = argument_key_length(text);
	if (length == 0)
		return false;
	token->bare = true;
	token_join(token, length, length + 1);
	return true;
}

bool token_next(struct token *token, const struct command *command,
		size_t *index)
{
	const struct command_view *view = &command->view;

	while (*index < view->end) {
		if (*index >= view->plain_start && *index < view->plain_end)
			*index = view->plain_end;
		else if (token_read(token, command_argv(command), view, *index))
			return true;
		else
			++*index;
	}
	return false;
}

const char *token_value(const struct token *token, const struct strlist *argv)
{
	assert(token->form == KNOB_ABSENT ||
	       (token->value_index < argv->count &&
		token->value_offset <=
			strlen(argv->items[token->value_index])));
	return token->form == KNOB_ABSENT
		       ? ""
		       : argv->items[token->value_index] + token->value_offset;
}

static bool token_is(const struct token *token, const char *name)
{
	return name_matches(name, token->name, token->name_length,
			    token->bare) ||
	       (*name != '-' && token->bare &&
		name_equal(name, strlen(name), token->name,
			   token->name_length));
}

bool token_find(const struct command *command, const char *name,
		struct token *found)
{
	struct token token;
	bool any = false;

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++) {
		if (!token_is(&token, name))
			continue;
		*found = token;
		any = true;
	}
	return any;
}

bool knob_is_taken(const struct command *command, size_t index)
{
	for (size_t i = 0; i < KNOB_KINDS; i++) {
		const struct knob *knob = &command->knobs[i];

		if ((knob->form == KNOB_SEPARATE || knob->form == KNOB_JOINED ||
		     knob->form == KNOB_SOURCE) &&
		    knob->index == index)
			return true;
	}
	return false;
}

bool option_sounds_like_config(const char *option, size_t length)
{
	char name[NAME_MAX_BYTES];

	return name_normalise(name, option, length) &&
	       (strstr(name, "config") || strstr(name, "cfg") ||
		strstr(name, "deepspeed") || strstr(name, "hparams") ||
		strstr(name, "yaml") || strstr(name, "toml"));
}

bool option_is_knob(const struct command *command,
		    const struct source_option *option)
{
	for (int kind = 0; kind <= KNOB_GLOBAL; kind++) {
		const struct knob *knob = &command->knobs[kind];

		if (knob->form != KNOB_ABSENT && knob->name &&
		    strlist_find(&option->names, knob->name) <
			    option->names.count)
			return true;
	}
	return false;
}
