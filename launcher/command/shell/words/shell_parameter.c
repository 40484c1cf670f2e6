/* What $NAME, ${NAME:-word} and "$@" become in a word. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/words/shell_expand.h"

#include "base/alloc.h"
#include "base/span.h"
#include "launcher/command/text/device_count.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* ${A:-${B:-...}} */
#define DEPTH_MAX 8

/* The word between quotes that would be there without any value. */
static void begin_none(struct builder *b, bool is_quoted)
{
	if (is_quoted && b->text.length == 0)
		b->begun = false;
}

static void parameter_add_list(struct builder *b,
			       const struct shell_fields *fields,
			       bool is_quoted)
{
	for (size_t i = 0; i < fields->count; i++) {
		if (i > 0)
			builder_flush(b);
		builder_add_value(b, &fields->items[i], is_quoted);
	}
	if (fields->count == 0)
		begin_none(b, is_quoted);
	if (fields->append_at == NO_INDEX)
		return;
	b->has_arguments = true;
	b->ends_in_arguments =
		fields->append_at == fields->count && !fields->is_closed;
}

/* "$@" and "${@:2}" */
static void parameter_add_arguments(struct builder *b,
				    const struct shell_part *part)
{
	struct shell_scope *scope = b->scope;
	const struct strlist *argv = scope->argv;
	const char *digits = scope->lexer->text + part->word.start;
	size_t from = 1;
	size_t first;

	if (part->operation == 's') {
		/* From $0 it is not what was asked for. */
		if (part->word.end - part->word.start != 1 || *digits < '1' ||
		    *digits > '9')
			scope->arguments_unknown = true;
		else
			from = (size_t)(*digits - '0');
	}
	first = scope->first + from - 1;
	if (first > argv->count) {
		scope->argument_missing = true;
		first = argv->count;
	}
	if (scope->arguments_unknown) {
		builder_add_opaque(b, part->start, part->end);
		return;
	}
	for (size_t i = first; i < argv->count; i++) {
		struct shell_field field = { .text = argv->items[i],
					     .word = { .origin = WORD_ARGUMENT,
						       .argument = i } };

		if (i > first)
			builder_flush(b);
		builder_add_value(b, &field, part->is_quoted);
	}
	if (first == argv->count)
		begin_none(b, part->is_quoted);
	b->has_arguments = b->ends_in_arguments = true;
}

/* "$*" and "${LIST[*]}": one word of several. */
static void add_joined(struct builder *b, const struct shell_part *part,
		       const struct shell_fields *fields)
{
	if (b->context == SHELL_WORDS)
		builder_add_opaque(b, part->start, part->end);
	else if (fields)
		parameter_add_list(b, fields, true);
	else
		parameter_add_arguments(b, part);
}

/* What a parameter stands for. */
struct value {
	enum shell_state state;
	struct shell_variable *variable; /* NULL: an argument */
	const struct shell_fields *fields;
	struct shell_field item; /* of an argument */
	struct shell_fields one;
};

static void look_up_argument(struct shell_scope *scope, const char *digits,
			     size_t length, struct value *value)
{
	size_t number = 0;
	size_t index;

	/* No more than that can be given. */
	for (size_t i = 0; i < length && number < 100000; i++)
		number = number * 10 + (size_t)(digits[i] - '0');
	value->state = SHELL_UNKNOWN;
	if (scope->arguments_unknown || number == 0)
		return;
	index = scope->first + number - 1;
	value->state = SHELL_UNSET;
	if (index >= scope->argv->count) {
		scope->argument_missing = true;
		return;
	}
	value->state = SHELL_TEXT;
	value->item = (struct shell_field){ .text = scope->argv->items[index],
					    .word = { .origin = WORD_ARGUMENT,
						      .argument = index,
						      .is_numbered = true } };
	value->one = (struct shell_fields){ .items = &value->item,
					    .count = 1,
					    .append_at = NO_INDEX };
	value->fields = &value->one;
}

static void parameter_look_up(struct builder *b, const struct shell_part *part,
			      struct value *value)
{
	struct shell_scope *scope = b->scope;
	const char *name = scope->lexer->text + part->name.start;
	size_t length = part->name.end - part->name.start;

	*value = (struct value){ .state = SHELL_UNKNOWN };
	if (*name == '@' || *name == '*') {
		if (!scope->arguments_unknown)
			value->state = scope->first < scope->argv->count
					       ? SHELL_LIST
					       : SHELL_UNSET;
		return;
	}
	if (!shell_name_begins(*name)) {
		look_up_argument(scope, name, length, value);
		return;
	}
	value->variable = shell_variable(scope, name, length);
	value->state = shell_variable_state(scope, value->variable);
	value->fields = &value->variable->value;
}

/* The word after :- := :+ and such. */
static void parameter_add_word(struct builder *b, const struct shell_part *part,
			       const struct shell_variable *variable)
{
	size_t count = b->out->count;
	size_t offset = b->text.length;

	if (b->depth == DEPTH_MAX) {
		builder_add_opaque(b, part->start, part->end);
		return;
	}
	b->depth++;
	builder_expand_parts(b, part->word, part->is_quoted);
	b->depth--;
	if (part->operation == '+' || !variable || !variable->is_given)
		return;
	b->tail = (struct tail){ .is_set = b->out->count == count,
				 .variable = variable->name,
				 .argument = NO_INDEX,
				 .offset = offset,
				 .end = b->text.length };
}

/* ${NAME:=word}: the variable has that value from here on. */
static void set_default(struct builder *b, const struct shell_part *part,
			struct shell_variable *variable)
{
	struct shell_fields value = SHELL_FIELDS_INIT;
	struct builder inner = { .scope = b->scope,
				 .out = &value,
				 .context = SHELL_VALUE,
				 .word = b->word,
				 .depth = b->depth };

	parameter_add_word(&inner, part, variable);
	inner.begun = true;
	builder_flush(&inner);
	strbuf_release(&inner.text);
	if (value.count == 1 && b->scope->is_certain) {
		shell_variable_set(b->scope, variable, SHELL_TEXT, &value);
		builder_add_value(b, &variable->value.items[0],
				  part->is_quoted);
	} else {
		shell_fields_release(&value);
		shell_variable_set(b->scope, variable, SHELL_UNKNOWN, NULL);
		builder_add_opaque(b, part->start, part->end);
	}
}

static void add_element(struct builder *b, const struct shell_part *part,
			const struct value *value)
{
	const char *index = b->scope->lexer->text + part->index.start;
	size_t length = part->index.end - part->index.start;
	size_t place = 0;

	if (length == 1 && (*index == '@' || *index == '*')) {
		if (*index == '*' && part->is_quoted)
			add_joined(b, part, value->fields);
		else
			parameter_add_list(b, value->fields, part->is_quoted);
		return;
	}
	for (size_t i = 0; i < length && place < 100000; i++)
		place = index[i] >= '0' && index[i] <= '9'
				? place * 10 + (size_t)(index[i] - '0')
				: NO_INDEX;
	if (length && place < value->fields->count && !b->scope->is_zsh)
		builder_add_value(b, &value->fields->items[place],
				  part->is_quoted);
	else
		builder_add_opaque(b, part->start, part->end);
}

static void add_set(struct builder *b, const struct shell_part *part,
		    const struct value *value)
{
	bool is_split = value->state == SHELL_SPLIT;

	/* ${@:-word} */
	if (!value->fields)
		builder_add_opaque(b, part->start, part->end);
	else if (part->has_index)
		add_element(b, part, value);
	else if (is_split && part->is_quoted)
		add_joined(b, part, value->fields);
	else if (is_split || (b->scope->is_zsh && value->state == SHELL_LIST))
		parameter_add_list(b, value->fields, part->is_quoted);
	else if (value->fields->count)
		builder_add_value(b, &value->fields->items[0], part->is_quoted);
}

/* The value is "" for :- and such. */
static bool parameter_is_empty(const struct value *value)
{
	return value->state != SHELL_LIST && value->fields &&
	       (value->fields->count == 0 ||
		(value->state == SHELL_TEXT &&
		 *value->fields->items[0].text == '\0'));
}

/* The value is not known, and an operation asks for it. */
static bool is_vague(const struct value *value)
{
	return value->state == SHELL_UNKNOWN ||
	       (value->state == SHELL_TEXT && value->fields &&
		value->fields->items[0].word.is_opaque);
}

/* There is something for an operation to take. */
static bool is_there(const struct shell_part *part, const struct value *value)
{
	bool is_list = value->state == SHELL_LIST && value->fields;

	if (value->state == SHELL_UNSET || value->state == SHELL_UNKNOWN)
		return false;
	return !(part->has_colon && parameter_is_empty(value)) &&
	       !(is_list && value->fields->count == 0);
}

static void add_operation(struct builder *b, const struct shell_part *part,
			  struct value *value)
{
	struct shell_variable *variable = value->variable;
	bool is_set = is_there(part, value);
	bool is_default = part->operation == '-' || part->operation == '=';
	/* Nothing at all is known of the environment: as written. */
	bool is_unread = variable && variable->is_given &&
			 !variable->is_fickle && !b->scope->environment &&
			 b->scope->age == 0;
	bool is_without = !is_set && part->operation != '+';
	bool is_unknown = is_vague(value) && !(is_unread && is_default);

	/* ${NAME?} ends the script, and ${1:=word} is no parameter. */
	if (is_without &&
	    (!is_default || (part->operation == '=' && !variable)))
		is_unknown = true;
	if (is_unknown)
		builder_add_opaque(b, part->start, part->end);
	else if (part->operation == '+' && is_set)
		parameter_add_word(b, part, NULL);
	else if (is_set)
		add_set(b, part, value);
	else if (is_without && part->operation == '=')
		set_default(b, part, variable);
	else if (is_without)
		parameter_add_word(b, part, variable);
}

/* It is empty, and yet the environment may say something else. */
static void add_unset(struct builder *b, const struct shell_part *part,
		      const struct value *value)
{
	const struct shell_variable *variable = value->variable;

	if (part->is_quoted)
		b->begun = true;
	if (part->has_index)
		begin_none(b, part->is_quoted);
	else if (variable && variable->is_given)
		b->tail = (struct tail){ .is_set = true,
					 .variable = variable->name,
					 .argument = NO_INDEX,
					 .offset = b->text.length,
					 .end = b->text.length };
}

void builder_add_parameter(struct builder *b, const struct shell_part *part)
{
	char name = b->scope->lexer->text[part->name.start];
	bool is_all = name == '@' || name == '*';
	struct value value;

	if (is_all && (!part->operation || part->operation == 's')) {
		if (name == '*' && part->is_quoted)
			add_joined(b, part, NULL);
		else
			parameter_add_arguments(b, part);
		return;
	}
	parameter_look_up(b, part, &value);
	if (part->operation)
		add_operation(b, part, &value);
	else if (value.state == SHELL_UNKNOWN)
		builder_add_opaque(b, part->start, part->end);
	else if (value.state == SHELL_UNSET)
		add_unset(b, part, &value);
	else
		add_set(b, part, &value);
}

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

/* $NAME, ${NAME}, $1; in $(( )) and $[ ] also NAME. */
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

static bool parameter_is_number(const char *text)
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
		return text && parameter_is_number(text) ? text : NULL;
	}
	variable = shell_variable(scope, reference->name, reference->length);
	if (shell_variable_state(scope, variable) != SHELL_TEXT)
		return NULL;
	field = &variable->value.items[0];
	return field->word.is_opaque || parameter_is_number(field->text)
		       ? field->text
		       : NULL;
}

const char *builder_known_text(void *scope, const char *text, size_t length,
			       size_t *width)
{
	struct reference reference = read_reference(text, length, true);

	*width = reference.length ? reference.width : 0;
	return reference.length ? known_text(scope, &reference) : NULL;
}

void builder_look_inside(struct builder *b, size_t start, size_t end)
{
	const char *text = b->scope->lexer->text;
	bool is_arithmetic =
		end - start > 3 && (memcmp(text + start, "$((", 3) == 0 ||
				    memcmp(text + start, "$[", 2) == 0);

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

/* Entries of the variable that $(echo $GPUS | awk -F, '{print NF}') splits. */
char *builder_list_length(struct shell_scope *scope, size_t start, size_t end)
{
	const char *text = scope->lexer->text + start;
	struct span name;
	const struct shell_variable *variable;
	const struct shell_field *field;
	int64_t count = 1;

	if (!text_counts_list(text, end - start, &name))
		return NULL;
	variable = shell_variable(scope, name.at, name.length);
	if (shell_variable_state(scope, variable) != SHELL_TEXT)
		return NULL;
	field = &variable->value.items[0];
	if (field->word.is_opaque || !*field->text)
		return NULL;
	for (const char *at = field->text; *at; at++)
		count += *at == ',';
	return xasprintf("%" PRId64, count);
}
