/* User names and passwords in URLs. Pure. */
/* SPDX-License-Identifier: MIT */
#include "configs/secrets/secrets_url.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* How far the @ of an odd password is looked for. */
#define ODD_BYTES_MAX 256

/* Does the byte end a URL that stands in other text? */
static bool ends_text(char c)
{
	return c == '\0' || isspace((unsigned char)c) || strchr("\"'<>", c);
}

static bool ends_authority(char c)
{
	return ends_text(c) || strchr("/?#", c);
}

/* "user:p/w@host": a password with what should have been escaped. */
static bool is_odd_password(const char *text, struct secrets_span authority)
{
	const char *start = text + authority.start;
	const char *colon = memchr(start, ':', authority.end - authority.start);

	/* host:8080/a@b */
	return colon && colon + 1 < text + authority.end &&
	       !isdigit((unsigned char)colon[1]) && *start != '[';
}

/* From behind "://" at a place to the @; empty: there is none. */
static struct secrets_span user_info(const char *text, size_t start)
{
	struct secrets_span authority = { start, start };
	struct secrets_span info = { start, start };
	size_t i;

	while (text[authority.end] && !ends_authority(text[authority.end]))
		authority.end++;
	for (i = start; i < authority.end; i++)
		if (text[i] == '@')
			info.end = i;
	if (info.end > start || !is_odd_password(text, authority))
		return info;
	for (; i < start + ODD_BYTES_MAX && !ends_text(text[i]); i++)
		if (text[i] == '@')
			info.end = i;
	return info;
}

int secrets_user_info(const char *text, size_t from, struct secrets_span *info)
{
	const char *mark = text + from;

	while ((mark = strstr(mark, "://"))) {
		size_t start = (size_t)(mark - text) + 3;

		mark += 3;
		if (start == 3 || !isalnum((unsigned char)text[start - 4]))
			continue;
		*info = user_info(text, start);
		if (info->end > info->start)
			return 1;
	}
	return 0;
}
