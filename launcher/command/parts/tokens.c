/* The program's arguments read as options and key=value. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/parts/command_internal.h"

#include "base/units.h"

#include <ctype.h>
#include <string.h>

const char *argument_brief(char text[BRIEF_MAX], const char *argument)
{
	static const char dots[] = "...";
	size_t length = strlen(argument);
	size_t kept = length < BRIEF_MAX ? length : BRIEF_MAX - sizeof(dots);

	/* Not in the middle of a UTF-8 character. */
	while (kept < length && kept > 0 && (argument[kept] & 0xc0) == 0x80)
		kept--;
	for (size_t i = 0; i < kept; i++)
		text[i] =
			iscntrl((unsigned char)argument[i]) ? '?' : argument[i];
	text[kept] = '\0';
	if (kept < length)
		memcpy(text + kept, dots, sizeof(dots));
	return text;
}

bool count_parse(const char *text, int64_t *value)
{
	return *text && text[strspn(text, "0123456789")] == '\0' &&
	       integer_parse(text, value, NULL) == 0 && *value > 0;
}

bool fraction_parse(const char *text, int64_t *value)
{
	size_t length = strcspn(text, ".");
	char digits[24];

	if (text[length] != '.' || length >= sizeof(digits) ||
	    text[length + 1 + strspn(text + length + 1, "0")] != '\0')
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	return count_parse(digits, value);
}

static bool is_number_start(const char *text)
{
	return isdigit((unsigned char)text[0]) || text[0] == '.';
}

/* "-" alone and -1 are values. */
static bool is_option(const char *text)
{
	return text[0] == '-' && text[1] && !is_number_start(text + 1);
}

/* Bytes of the key before "=", 0 when this is no key=value. */
static size_t key_length(const char *text)
{
	const char *equals = strchr(text, '=');
	size_t sigils, length;

	/* Most words that are no options have none. */
	if (!equals)
		return 0;
	length = (size_t)(equals - text);
	sigils = strspn(text, "+~");
	if (length == sigils ||
	    !(isalpha((unsigned char)text[sigils]) || text[sigils] == '_'))
		return 0;
	for (size_t i = sigils; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("_.-", text[i]))
			return 0;
	return length;
}

/* -b8 */
static bool is_glued(const char *text)
{
	return text[0] == '-' && isalpha((unsigned char)text[1]) &&
	       isdigit((unsigned char)text[2]);
}

static void token_join(struct token *token, size_t name_length, size_t offset)
{
	token->name_length = name_length;
	token->form = KNOB_JOINED;
	token->value_index = token->index;
	token->value_offset = offset;
}

static void option_read(struct token *token, const struct strlist *argv,
			const struct command_view *view)
{
	const char *text = token->name;
	size_t length = (size_t)(strchrnul(text, '=') - text);
	size_t next = token->index + 1;

	token->name_length = length;
	if (text[length] == '=') {
		token_join(token, length, length + 1);
	} else if (is_glued(text)) {
		token_join(token, 2, 2);
	} else if (next < view->end && !is_option(argv->items[next])) {
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

/* SOLVER.IMS_PER_BATCH or OUTPUT_DIR, before its value. */
static bool is_pair_key(const char *text)
{
	return isupper((unsigned char)*text) && strpbrk(text, "._") &&
	       text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._")] ==
		       '\0';
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

/* --name takes the word behind it: batch=8 is no setting there. */
static bool takes_next(const struct command_view *view, const char *text)
{
	return is_option(text) && !strchr(text, '=') && !is_glued(text) &&
	       !is_group(view, text) && !is_switch(view, text);
}

bool token_read(struct token *token, const struct strlist *argv,
		const struct command_view *view, size_t index)
{
	const char *text = argv->items[index];
	const char *before;
	size_t length;

	*token = (struct token){ .index = index,
				 .name = text,
				 .form = KNOB_ABSENT,
				 .value_index = NO_INDEX };
	if (is_option(text)) {
		option_read(token, argv, view);
		if (is_group(view, text))
			token->form = KNOB_ABSENT;
		return true;
	}
	if (view->pairs && is_pair_key(text)) {
		pair_read(token, view);
		return true;
	}
	length = key_length(text);
	if (length == 0)
		return false;
	before = index > view->args ? argv->items[index - 1] : "";
	if (takes_next(view, before))
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
		else if (token_read(token, &command->argv, view, *index))
			return true;
		else
			++*index;
	}
	return false;
}

bool token_is_plain(const char *argument)
{
	return !is_option(argument) && !is_pair_key(argument) &&
	       key_length(argument) == 0;
}

const char *token_value(const struct token *token, const struct strlist *argv)
{
	return token->form == KNOB_ABSENT
		       ? ""
		       : argv->items[token->value_index] + token->value_offset;
}
