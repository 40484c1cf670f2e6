/* {micro}, {accum}, {steps}, {out} in a text. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/text/placeholder.h"

#include "base/strbuf.h"

#include <string.h>

static const struct {
	const char *name;
	enum knob_kind kind;
} placeholder_names[] = {
	{ "micro", KNOB_MICRO },      { "accum", KNOB_ACCUM },
	{ "effective", KNOB_GLOBAL }, { "steps", KNOB_STEPS },
	{ "out", KNOB_OUTPUT },
};

const char *placeholder_name(enum knob_kind kind)
{
	size_t i = 0;

	while (placeholder_names[i].kind != kind)
		i++;
	return placeholder_names[i].name;
}

/* A value is no longer than this: it names a number or a folder. */
#define VALUE_MAX ((size_t)4096)

static size_t value_length(const char *value)
{
	size_t length = 0;

	while (length < VALUE_MAX && value[length] && value[length] != '}')
		length++;
	return length;
}

/* Is there one at the brace? */
static bool placeholder_at(const char *brace, struct placeholder *found)
{
	for (size_t i = 0;
	     i < sizeof(placeholder_names) / sizeof(*placeholder_names); i++) {
		const char *name = placeholder_names[i].name;
		const char *end = brace + 1 + strlen(name);

		if (strncmp(brace + 1, name, strlen(name)) != 0)
			continue;
		*found = (struct placeholder){
			.kind = placeholder_names[i].kind,
			.name = name,
			.start = brace,
		};
		if (*end == ':') {
			found->value = end + 1;
			found->value_length = value_length(end + 1);
			end += 1 + found->value_length;
		}
		found->length = (size_t)(end - brace) + 1;
		if (*end == '}')
			return true;
	}
	return false;
}

bool placeholder_next(const char *text, struct placeholder *found)
{
	for (text = strchr(text, '{'); text; text = strchr(text + 1, '{'))
		if (placeholder_at(text, found))
			return true;
	return false;
}

bool placeholders_in(const char *text)
{
	struct placeholder found;

	while (placeholder_next(text, &found)) {
		if (found.kind <= KNOB_GLOBAL)
			return true;
		text = found.start + found.length;
	}
	return false;
}

static char *without_values(const char *text, bool fills)
{
	struct strbuf out = STRBUF_INIT;
	struct placeholder found;

	for (; placeholder_next(text, &found);
	     text = found.start + found.length) {
		strbuf_add(&out, text, (size_t)(found.start - text));
		if (fills && found.value)
			strbuf_add(&out, found.value, found.value_length);
		else
			strbuf_addf(&out, "{%s}", found.name);
	}
	strbuf_add(&out, text, strlen(text));
	return strbuf_detach(&out);
}

void placeholders_present(const struct strlist *words, struct strlist *out)
{
	for (size_t i = 0; i < words->count; i++)
		strlist_take(out, without_values(words->items[i], true));
}

char *placeholders_strip(const char *text)
{
	return without_values(text, false);
}
