/* Variables of the environment that a Python script reads. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_variables.h"

#include "base/alloc.h"
#include "launcher/command/text/names.h"

#include <string.h>

bool source_quoted(struct pytext *cursor, const char **name, size_t *length)
{
	cursor->at++;
	pytext_skip_blanks(cursor, true);
	if (cursor->at >= cursor->end || !pytext_is_quote(*cursor->at))
		return false;
	pytext_string(cursor, name, length);
	pytext_skip_blanks(cursor, true);
	return *length > 0;
}

bool source_variable_may_be(const char *word, size_t length,
			    const char *line_start)
{
	static const struct {
		const char *word, *before;
	} rows[] = {
		{ "get", "environ." },
		{ "int", "env." },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t bytes = strlen(rows[i].before);

		if (pytext_word_is(word, length, rows[i].word))
			return (size_t)(word - line_start) >= bytes &&
			       memcmp(word - bytes, rows[i].before, bytes) == 0;
	}
	return true;
}

static void add_variable(struct source *source,
			 const struct source_variable *variable)
{
	if (source->variable_count == SOURCE_VARIABLES_MAX)
		return;
	source->variables =
		xgrow(source->variables, source->variable_count,
		      &source->variable_capacity, sizeof(*source->variables));
	source->variables[source->variable_count++] = *variable;
}

/* 8 or default=8, behind the comma. */
static void read_second(struct pytext *cursor, struct source_variable *variable)
{
	struct pytext ahead;
	const char *word;
	size_t length;

	cursor->at++;
	pytext_skip_blanks(cursor, true);
	ahead = *cursor;
	pytext_word(&ahead, &word, &length);
	pytext_skip_blanks(&ahead, true);
	if (pytext_word_is(word, length, "default") && ahead.at < ahead.end &&
	    *ahead.at == '=') {
		ahead.at++;
		pytext_skip_blanks(&ahead, true);
		*cursor = ahead;
	}
	variable->kind = pytext_value(cursor, true, &variable->value);
}

/* Behind the variable in the line: "or 8", "if ... else 8". */
static void read_otherwise(const struct pytext *cursor,
			   struct source_variable *variable)
{
	static const char *const words[] = { " or ", " else " };
	size_t length = strcspn(cursor->at, "\n#");

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const char *found =
			memmem(cursor->at, length, words[i], strlen(words[i]));
		struct pytext ahead = *cursor;

		if (!found)
			continue;
		ahead.at = found + strlen(words[i]);
		variable->kind = pytext_value(&ahead, false, &variable->value);
		return;
	}
}

void source_variable_read(struct pytext *cursor, struct source *source,
			  unsigned line)
{
	struct source_variable variable = { .line = line };
	struct pytext ahead = *cursor;
	bool is_call = *ahead.at == '(';
	const char *name;
	size_t length;

	if (!source_quoted(&ahead, &name, &length) || length >= NAME_MAX_BYTES)
		return;
	if (is_call && ahead.at < ahead.end && *ahead.at == ',')
		read_second(&ahead, &variable);
	else if (ahead.at < ahead.end)
		read_otherwise(&ahead, &variable);
	if (!is_call && ahead.at < ahead.end && *ahead.at == ']') {
		ahead.at++;
		pytext_skip_blanks(&ahead, false);
		if (ahead.end - ahead.at >= 2 && *ahead.at == '=' &&
		    ahead.at[1] != '=')
			return;
	}
	variable.name = xstrndup(name, length);
	add_variable(source, &variable);
}
