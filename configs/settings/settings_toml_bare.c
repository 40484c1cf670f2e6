/* Values of TOML without quotes: numbers, truth, dates. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_internal.h"

#include <string.h>

/* Digits with single underscores between them; the length, 0: none. */
static size_t digits_of(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length && (name_is_digit(text[i]) ||
			      (text[i] == '_' && i > 0 && text[i - 1] != '_' &&
			       i + 1 < length && name_is_digit(text[i + 1]))))
		i++;
	return i;
}

static bool is_prefixed_number(const char *text, size_t length)
{
	if (length < 3 || text[0] != '0' || !strchr("xob", text[1]))
		return false;
	for (size_t i = 2; i < length; i++)
		if (!settings_is_word(text[i]))
			return false;
	return true;
}

/* A number, but not a date. */
static bool bare_is_number(const char *text, size_t length)
{
	size_t sign = length && (*text == '-' || *text == '+');
	size_t at = sign + digits_of(text + sign, length - sign);

	if (length - sign == 3 && (memcmp(text + sign, "inf", 3) == 0 ||
				   memcmp(text + sign, "nan", 3) == 0))
		return true;
	if (at == sign || (at > sign + 1 && text[sign] == '0'))
		return false;
	if (at < length && text[at] == '.') {
		size_t digits = digits_of(text + at + 1, length - at - 1);

		if (!digits)
			return false;
		at += 1 + digits;
	}
	if (at < length && (text[at] == 'e' || text[at] == 'E')) {
		size_t from = at + 1;

		from += from < length &&
			(text[from] == '-' || text[from] == '+');
		at = from + digits_of(text + from, length - from);
		if (at == from)
			return false;
	}
	return at == length;
}

/* 1979-05-27T07:32:00Z, 07:32:00 and their like. */
bool settings_is_toml_date(const char *text, size_t length)
{
	if (length < 5 || !name_is_digit(text[0]) ||
	    (text[4] != '-' && text[2] != ':'))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!name_is_digit(text[i]) && !strchr("-:.+TtZz ", text[i]))
			return false;
	return true;
}

static bool bare_is_word(const char *text, size_t length, const char *word)
{
	return length == strlen(word) && memcmp(text, word, length) == 0;
}

bool settings_is_toml_scalar(const char *text, size_t length)
{
	return bare_is_number(text, length) ||
	       is_prefixed_number(text, length) ||
	       bare_is_word(text, length, "true") ||
	       bare_is_word(text, length, "false");
}
