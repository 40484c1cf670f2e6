/* On what $(( )) and $( ) depend: the numbers in them. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_expand.h"

#include <ctype.h>
#include <string.h>

/* A name, or the digit of an argument, that something refers to. */
struct reference {
	const char *name;
	size_t length; /* 0: none */
	size_t width;  /* with $, { and } */
};

static size_t name_length(const char *text, size_t length)
{
	return length && isdigit((unsigned char)*text)
		       ? 1
		       : shell_name_length(text, length);
}

/* $NAME, ${NAME}, $1; in $(( )) also NAME. */
static struct reference read_reference(const char *text, size_t length,
				       bool is_arithmetic)
{
	bool has_dollar = length > 1 && *text == '$';
	bool has_brace = has_dollar && text[1] == '{';
	size_t before = has_dollar + has_brace;
	struct reference reference = { .name = text + before };

	if (!has_dollar && !(is_arithmetic && shell_name_begins(*text)))
		return reference;
	reference.length = name_length(text + before, length - before);
	reference.width = before + reference.length + has_brace;
	if (has_brace &&
	    (reference.width > length || text[reference.width - 1] != '}'))
		reference.length = 0;
	return reference;
}

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* What stands there as $1; NULL: it is not known. */
static const char *argument(const struct shell_scope *scope, char digit)
{
	size_t index = scope->first + (size_t)(digit - '1');

	if (digit == '0' || scope->arguments_unknown ||
	    index >= scope->argv->count)
		return NULL;
	return scope->argv->items[index];
}

/* Its number, or what it is computed from; NULL: it is neither. */
static const char *known_text(struct shell_scope *scope,
			      const struct reference *reference)
{
	const struct shell_variable *variable;
	const struct shell_field *field;
	const char *text;

	if (isdigit((unsigned char)*reference->name)) {
		text = argument(scope, *reference->name);
		return text && is_number(text) ? text : NULL;
	}
	variable = shell_variable(scope, reference->name, reference->length);
	if (shell_variable_state(scope, variable) != SHELL_TEXT)
		return NULL;
	field = &variable->value.items[0];
	return field->word.is_opaque || is_number(field->text) ? field->text
							       : NULL;
}

void builder_look_inside(struct builder *b, size_t start, size_t end)
{
	const char *text = b->scope->lexer->text;
	bool is_arithmetic =
		end - start > 3 && memcmp(text + start, "$((", 3) == 0;

	while (start < end && !b->scope->is_exhausted) {
		struct reference reference = read_reference(
			text + start, end - start, is_arithmetic);
		const char *known = reference.length
					    ? known_text(b->scope, &reference)
					    : NULL;
		size_t width = reference.length ? reference.width : 1;

		if (known)
			builder_add_unknown(b, known, strlen(known));
		else
			builder_add_unknown(b, text + start, width);
		start += width;
	}
}
