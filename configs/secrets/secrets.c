/* Tokens and passwords, found by the names they go under, and masked. Pure. */
/* SPDX-License-Identifier: MIT */
#include "configs/secrets/secrets.h"

#include "base/alloc.h"
#include "configs/secrets/secrets_url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A user's name alone before the @ is no secret; a token there is longer. */
#define TOKEN_BYTES_MIN 20

/* A text, with a mark for every byte that is hidden. */
struct masking {
	const char *text;
	size_t length;
	bool *hidden;
	/* Up to here there are only names and = : what follows is one value. */
	size_t head;
};

/* What such a name may have that tells nothing. */
static const char *const plain_values[] = {
	"true",    "false",    "yes",      "no",       "on",        "off",
	"none",    "null",     "0",        "1",        "default",   "auto",
	"enabled", "disabled", "required", "optional", "anonymous", NULL,
};

/* A kind of authorization, before what authorizes. */
static const char *const schemes[] = { "bearer", "basic", "token", NULL };

static bool is_one_of(const char *const *list, const char *text, size_t length)
{
	for (; *list; list++)
		if (strlen(*list) == length &&
		    strncasecmp(*list, text, length) == 0)
			return true;
	return false;
}

static bool secrets_is_name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static bool secrets_is_blank(char c)
{
	return isspace((unsigned char)c);
}

static bool secrets_is_quote(char c)
{
	return c == '"' || c == '\'';
}

static struct masking masking_begin(const char *text)
{
	size_t length = strlen(text);

	return (struct masking){
		.text = text,
		.length = length,
		.hidden = xcalloc(length + 1, sizeof(bool)),
	};
}

static void masking_end(struct masking *masking)
{
	free(masking->hidden);
}

static void secrets_hide(struct masking *masking, size_t start, size_t end)
{
	memset(masking->hidden + start, true, end - start);
}

static void hide_value(struct masking *masking, size_t start, size_t end)
{
	if (start < end &&
	    !is_one_of(plain_values, masking->text + start, end - start))
		secrets_hide(masking, start, end);
}

static size_t secrets_skip_blanks(const struct masking *masking, size_t at)
{
	while (at < masking->length && secrets_is_blank(masking->text[at]))
		at++;
	return at;
}

/* One word of many: to its other quote, or to what divides words. */
static struct secrets_span secrets_word_at(const struct masking *masking,
					   size_t start)
{
	const char *text = masking->text;
	char quote = text[start];
	size_t end = start;

	if (secrets_is_quote(quote)) {
		end = ++start;
		while (end < masking->length && text[end] != quote)
			end++;
		return (struct secrets_span){ start, end };
	}
	while (end < masking->length && !secrets_is_blank(text[end]) &&
	       !strchr(",;&|\"')}]", text[end]))
		end++;
	return (struct secrets_span){ start, end };
}

/* As secrets_word_at; of "Bearer x" both. */
static struct secrets_span secrets_value_at(const struct masking *masking,
					    size_t start)
{
	struct secrets_span value =
		secrets_word_at(masking, secrets_skip_blanks(masking, start));
	size_t next = secrets_skip_blanks(masking, value.end);

	if (next > value.end && is_one_of(schemes, masking->text + value.start,
					  value.end - value.start))
		value.end = secrets_word_at(masking, next).end;
	return value;
}

/* The name before the = or : at a place, without quotes around it. */
static struct secrets_span name_before(const struct masking *masking, size_t at)
{
	struct secrets_span name = { at, at };

	while (name.end && secrets_is_blank(masking->text[name.end - 1]))
		name.end--;
	if (name.end && secrets_is_quote(masking->text[name.end - 1]))
		name.end--;
	name.start = name.end;
	while (name.start &&
	       secrets_is_name_byte(masking->text[name.start - 1]))
		name.start--;
	return name;
}

/* "key": value and key: value; not host:port. */
static bool is_key_colon(const struct masking *masking, size_t at)
{
	return masking->text[at] == ':' && at > 0 &&
	       (secrets_is_quote(masking->text[at - 1]) ||
		secrets_is_blank(masking->text[at + 1]));
}

static bool name_is_secret(const struct masking *masking,
			   struct secrets_span name, size_t value)
{
	return secret_is_named(masking->text + name.start,
			       name.end - name.start, masking->text + value);
}

/* NAME=value, NAME: value, "NAME": "value", wherever they stand. */
static void hide_assigned(struct masking *masking)
{
	for (size_t i = 0; i < masking->length; i++) {
		struct secrets_span value;

		if ((masking->text[i] != '=' && !is_key_colon(masking, i)) ||
		    !name_is_secret(masking, name_before(masking, i), i + 1))
			continue;
		if (i <= masking->head) {
			hide_value(masking,
				   masking->text[i] == ':'
					   ? secrets_skip_blanks(masking, i + 1)
					   : i + 1,
				   masking->length);
			return;
		}
		value = secrets_value_at(masking, i + 1);
		hide_value(masking, value.start, value.end);
	}
}

/* The option at a place of a text of many words; empty: there is none. */
static struct secrets_span option_at(const struct masking *masking, size_t at)
{
	struct secrets_span name = { at, at };

	if (masking->text[at] != '-' ||
	    (at > 0 && secrets_is_name_byte(masking->text[at - 1])))
		return name;
	while (name.end < masking->length &&
	       secrets_is_name_byte(masking->text[name.end]))
		name.end++;
	return name;
}

/* --name value within one text, as of sh -c. */
static void hide_options(struct masking *masking)
{
	for (size_t i = 0; i < masking->length; i++) {
		struct secrets_span name = option_at(masking, i);
		size_t next = secrets_skip_blanks(masking, name.end);
		struct secrets_span value;

		if (name.end == i)
			continue;
		i = name.end - 1;
		if (next == name.end || next == masking->length ||
		    strncmp(masking->text + next, "--", 2) == 0 ||
		    !name_is_secret(masking, name, next))
			continue;
		value = secrets_word_at(masking, next);
		hide_value(masking, value.start, value.end);
	}
}

static void hide_urls(struct masking *masking)
{
	struct secrets_span info = { 0, 0 };

	while (secrets_user_info(masking->text, info.end, &info))
		secrets_hide(masking, info.start, info.end);
}

/* -c, -lc: the next argument is a script. */
static bool is_script_flag(const char *argument)
{
	size_t length = strlen(argument);

	return length > 1 && length < 5 && argument[0] == '-' &&
	       argument[1] != '-' && argument[length - 1] == 'c';
}

/* Is it an option whose secret is the next argument? */
static bool awaits_secret(const char *argument, const char *value)
{
	return argument[0] == '-' && !strchr(argument, '=') &&
	       !strpbrk(argument, " \t\n") &&
	       secret_is_named(argument, strlen(argument), value);
}

static size_t secrets_head_of(const char *text)
{
	size_t head = 0;

	while (text[head] && (secrets_is_name_byte(text[head]) ||
			      strchr("=+~/@", text[head])))
		head++;
	return head;
}

/* What is hidden of an argument by its name; URLs are not looked at. */
static void hide_named(struct masking *masking, const char *before)
{
	bool has_words = strpbrk(masking->text, " \t\n");

	if (before && awaits_secret(before, masking->text) &&
	    strncmp(masking->text, "--", 2) != 0) {
		hide_value(masking, 0, masking->length);
		return;
	}
	if (!before || !is_script_flag(before) || !has_words)
		masking->head = secrets_head_of(masking->text);
	hide_assigned(masking);
	if (has_words)
		hide_options(masking);
}

static void secrets_add_masked(struct strbuf *out,
			       const struct masking *masking)
{
	size_t i = 0;

	while (i < masking->length) {
		bool hidden = masking->hidden[i];
		size_t start = i;

		while (i < masking->length && masking->hidden[i] == hidden)
			i++;
		if (hidden)
			strbuf_adds(out, SECRET_MASK);
		else
			strbuf_add(out, masking->text + start, i - start);
	}
}

void secrets_mask_argv(struct strlist *out, const struct strlist *argv)
{
	for (size_t i = 0; i < argv->count; i++) {
		struct masking masking = masking_begin(argv->items[i]);
		struct strbuf text = STRBUF_INIT;

		hide_named(&masking, i ? argv->items[i - 1] : NULL);
		hide_urls(&masking);
		secrets_add_masked(&text, &masking);
		strlist_add(out, strbuf_text(&text));
		strbuf_release(&text);
		masking_end(&masking);
	}
}

static void hide_known(struct masking *masking, const char *value)
{
	size_t length = strlen(value);
	const char *at = masking->text;

	while (length && (at = strstr(at, value))) {
		size_t start = (size_t)(at - masking->text);

		secrets_hide(masking, start, start + length);
		at += length;
	}
}

void secrets_mask_text(struct strbuf *out, const char *text,
		       const struct strlist *values)
{
	struct masking masking = masking_begin(text);

	hide_urls(&masking);
	for (size_t i = 0; values && i < values->count; i++)
		hide_known(&masking, values->items[i]);
	secrets_add_masked(out, &masking);
	masking_end(&masking);
}

static void secrets_add_value(struct strlist *values, const char *text,
			      size_t length)
{
	char *value;

	if (length < SECRET_BYTES_MIN ||
	    is_one_of(plain_values, text, length) ||
	    strncmp(text, SECRET_MASK, length) == 0)
		return;
	value = xstrndup(text, length);
	if (strlist_find(values, value) == values->count)
		strlist_take(values, value);
	else
		free(value);
}

static void add_hidden(struct strlist *values, const struct masking *masking)
{
	size_t i = 0;

	while (i < masking->length) {
		size_t start = i;

		while (i < masking->length && masking->hidden[i])
			i++;
		secrets_add_value(values, masking->text + start, i - start);
		i += i == start;
	}
}

static void add_of_urls(struct strlist *values, const char *text)
{
	struct secrets_span info = { 0, 0 };

	while (secrets_user_info(text, info.end, &info)) {
		const char *start = text + info.start;
		size_t length = info.end - info.start;
		const char *colon = memchr(start, ':', length);

		if (colon)
			secrets_add_value(values, colon + 1,
					  length - (size_t)(colon + 1 - start));
		else if (length >= TOKEN_BYTES_MIN)
			secrets_add_value(values, start, length);
	}
}

void secrets_values(struct strlist *values, const struct strlist *argv,
		    const struct strlist *environment)
{
	for (size_t i = 0; i < argv->count; i++) {
		struct masking masking = masking_begin(argv->items[i]);

		hide_named(&masking, i ? argv->items[i - 1] : NULL);
		add_hidden(values, &masking);
		add_of_urls(values, argv->items[i]);
		masking_end(&masking);
	}
	for (size_t i = 0; i < environment->count; i++) {
		const char *item = environment->items[i];
		const char *equals = strchr(item, '=');

		if (equals &&
		    secret_is_named(item, (size_t)(equals - item), equals + 1))
			secrets_add_value(values, equals + 1,
					  strlen(equals + 1));
		add_of_urls(values, item);
	}
}
