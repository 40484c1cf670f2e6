/* The variables of a shell, as far as its text and environment tell. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/words/shell_scope.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void shell_fields_add(struct shell_fields *fields, char *text,
		      const struct word *word)
{
	assert(text && "a word may be empty, not absent");
	fields->items = xgrow(fields->items, fields->count, &fields->capacity,
			      sizeof(*fields->items));
	fields->items[fields->count++] =
		(struct shell_field){ .text = text, .word = *word };
}

void shell_fields_add_pieces(struct shell_fields *fields,
			     const struct shell_piece *pieces, size_t count,
			     size_t offset)
{
	struct shell_field *field = &fields->items[fields->count - 1];

	assert(fields->count > 0);
	if (count == 0)
		return;
	field->pieces = xrealloc(field->pieces, field->piece_count + count,
				 sizeof(*field->pieces));
	for (size_t i = 0; i < count; i++) {
		struct shell_piece piece = pieces[i];

		piece.offset += offset;
		piece.end += offset;
		field->pieces[field->piece_count++] = piece;
	}
}

void shell_fields_release(struct shell_fields *fields)
{
	for (size_t i = 0; i < fields->count; i++) {
		free(fields->items[i].text);
		free(fields->items[i].pieces);
		free(fields->items[i].word.variable);
	}
	free(fields->items);
	*fields = (struct shell_fields)SHELL_FIELDS_INIT;
}

void shell_fields_move(struct shell_fields *out, struct shell_fields *fields)
{
	for (size_t i = 0; i < fields->count; i++) {
		shell_fields_add(out, fields->items[i].text,
				 &fields->items[i].word);
		out->items[out->count - 1] = fields->items[i];
	}
	fields->count = 0;
	shell_fields_release(fields);
}

void shell_scope_init(struct shell_scope *scope)
{
	/* One more, which stands for all that are too many. */
	scope->variables =
		xcalloc(SHELL_VARIABLES_MAX + 1, sizeof(*scope->variables));
	for (size_t i = 0; i < SHELL_BUCKETS; i++)
		scope->buckets[i] = NO_INDEX;
}

void shell_scope_release(struct shell_scope *scope)
{
	for (size_t i = 0; i < scope->count; i++) {
		free(scope->variables[i].name);
		shell_fields_release(&scope->variables[i].value);
	}
	free(scope->variables);
	scope->variables = NULL;
	scope->count = 0;
}

/* The shell itself gives it a value. */
static bool scope_is_special(const char *name)
{
	static const char *const names[] = {
		"RANDOM",   "SECONDS", "LINENO",  "OLDPWD", "PPID",
		"UID",      "EUID",    "IFS",     "OPTARG", "OPTIND",
		"_",        "REPLY",   "SRANDOM", "SHLVL",  "EPOCHSECONDS",
		"FUNCNAME", NULL
	};

	for (size_t i = 0; names[i]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return strncmp(name, "BASH", 4) == 0 || strncmp(name, "ZSH", 3) == 0;
}

static void import(const struct shell_scope *scope,
		   struct shell_variable *variable)
{
	struct word word = { .origin = scope->origin, .argument = NO_INDEX };
	const char *value;

	variable->state = SHELL_UNKNOWN;
	variable->value.append_at = NO_INDEX;
	if (scope_is_special(variable->name))
		return;
	variable->is_given = strcmp(variable->name, "PWD") != 0;
	if (!scope->environment)
		return;
	value = strlist_env_get(scope->environment, variable->name);
	variable->state = value ? SHELL_TEXT : SHELL_UNSET;
	if (variable->is_given)
		word.variable = xstrdup(variable->name);
	else if (!value || scope->has_moved)
		variable->state = SHELL_UNKNOWN;
	if (value)
		shell_fields_add(&variable->value, xstrdup(value), &word);
	else
		free(word.variable);
}

struct shell_variable *shell_variable(struct shell_scope *scope,
				      const char *name, size_t length)
{
	size_t *bucket =
		&scope->buckets[hash_bytes(name, length) % SHELL_BUCKETS];
	struct shell_variable *variable;

	for (size_t i = *bucket; i != NO_INDEX; i = scope->variables[i].next) {
		variable = &scope->variables[i];
		if (strncmp(variable->name, name, length) == 0 &&
		    variable->name[length] == '\0')
			return variable;
	}
	assert(scope->count <= SHELL_VARIABLES_MAX);
	variable = &scope->variables[scope->count];
	if (scope->count == SHELL_VARIABLES_MAX) {
		scope->is_exhausted = true;
		variable->state = SHELL_UNKNOWN;
		variable->is_fickle = true;
		return variable;
	}
	variable->name = xstrndup(name, length);
	variable->next = *bucket;
	*bucket = scope->count++;
	import(scope, variable);
	return variable;
}

enum shell_state shell_variable_state(const struct shell_scope *scope,
				      const struct shell_variable *variable)
{
	return variable->is_fickle || variable->age < scope->age
		       ? SHELL_UNKNOWN
		       : variable->state;
}

bool shell_variable_is_free(const struct shell_variable *variable)
{
	return variable->is_given || (variable->value.count &&
				      variable->value.items[0].word.variable);
}

void shell_variable_fix(struct shell_variable *variable)
{
	variable->is_given = false;
	for (size_t i = 0; i < variable->value.count; i++) {
		struct word *word = &variable->value.items[i].word;

		free(word->variable);
		word->variable = NULL;
	}
}

void shell_variable_set(const struct shell_scope *scope,
			struct shell_variable *variable, enum shell_state state,
			struct shell_fields *value)
{
	if (variable->is_fickle) {
		if (value)
			shell_fields_release(value);
		return;
	}
	shell_fields_release(&variable->value);
	if (value)
		variable->value = *value;
	variable->state = state;
	variable->is_given = false;
	variable->age = scope->age;
}

/* The words between the parentheses; false: not understood. */
static bool expand_array(struct shell_scope *scope, struct shell_span span,
			 struct shell_fields *out)
{
	struct shell_lexer lexer = { .text = scope->lexer->text,
				     .length = span.end,
				     .at = span.start,
				     .line_at = span.start,
				     .newlines = span.line - 1 };
	struct shell_token token;

	assert(span.start <= span.end && span.line >= 1);
	while (shell_next(&lexer, &token) == SHELL_WORD ||
	       token.kind == SHELL_NEWLINE) {
		if (token.kind == SHELL_NEWLINE)
			continue;
		/* ([3]=x) */
		if (lexer.text[token.span.start] == '[' &&
		    memchr(lexer.text + token.span.start, '=',
			   token.span.end - token.span.start))
			return false;
		shell_expand(scope, token.span, SHELL_WORDS, out);
	}
	return token.kind == SHELL_END;
}

static enum shell_state evaluate(struct shell_scope *scope,
				 const struct shell_assignment *assignment,
				 struct shell_fields *out)
{
	if (assignment->is_element)
		return SHELL_UNKNOWN;
	if (assignment->is_array)
		return expand_array(scope, assignment->value, out)
			       ? SHELL_LIST
			       : SHELL_UNKNOWN;
	shell_expand(scope, assignment->value, SHELL_VALUE, out);
	return out->count == 1 && out->append_at == NO_INDEX ? SHELL_TEXT
							     : SHELL_SPLIT;
}

/* The one word becomes both; value is released. */
static void join_text(struct shell_scope *scope, struct shell_fields *out,
		      struct shell_fields *value)
{
	const struct shell_field *before = &out->items[0];
	const struct shell_field *behind = &value->items[0];
	struct shell_fields joined = SHELL_FIELDS_INIT;
	struct word word = { .origin = scope->origin,
			     .argument = NO_INDEX,
			     .is_opaque = before->word.is_opaque ||
					  behind->word.is_opaque };
	char *text = xasprintf("%s%s", before->text, behind->text);

	scope->bytes += strlen(text);
	if (scope->bytes > SHELL_BYTES_MAX)
		scope->is_exhausted = true;
	shell_fields_add(&joined, text, &word);
	shell_fields_add_pieces(&joined, before->pieces, before->piece_count,
				0);
	shell_fields_add_pieces(&joined, behind->pieces, behind->piece_count,
				strlen(before->text));
	shell_fields_release(out);
	shell_fields_release(value);
	*out = joined;
}

/* NAME+=value; returns the new state. */
static void scope_append(struct shell_scope *scope,
			 struct shell_variable *variable,
			 enum shell_state state, struct shell_fields *value)
{
	enum shell_state before = shell_variable_state(scope, variable);
	struct shell_fields old = variable->value;

	if (before == SHELL_UNSET) {
		shell_variable_set(scope, variable, state, value);
		return;
	}
	if (before != state || (state != SHELL_TEXT && state != SHELL_LIST)) {
		shell_fields_release(value);
		shell_variable_set(scope, variable, SHELL_UNKNOWN, NULL);
		return;
	}
	variable->value = (struct shell_fields)SHELL_FIELDS_INIT;
	if (state == SHELL_LIST) {
		/* "$@" may end the second part. */
		size_t end = value->append_at;

		if (end != NO_INDEX) {
			old.is_closed |=
				value->is_closed || old.append_at != NO_INDEX;
			old.append_at = old.count + end;
		}
		shell_fields_move(&old, value);
	} else {
		join_text(scope, &old, value);
	}
	shell_variable_set(scope, variable, state, &old);
}

/* Under a condition: an array keeps what it has, and then something. */
static void assign_maybe(struct shell_scope *scope,
			 struct shell_variable *variable,
			 const struct shell_assignment *assignment)
{
	const struct shell_span *value = &assignment->value;
	struct word word = { .origin = scope->origin,
			     .argument = NO_INDEX,
			     .is_opaque = true };

	if (assignment->is_array && assignment->appends &&
	    shell_variable_state(scope, variable) == SHELL_LIST)
		shell_fields_add(&variable->value,
				 xstrndup(scope->lexer->text + value->start,
					  value->end - value->start),
				 &word);
	else
		shell_variable_set(scope, variable, SHELL_UNKNOWN, NULL);
}

static bool scope_is_empty(const struct shell_variable *variable)
{
	return variable->value.count == 0 ||
	       (variable->state == SHELL_TEXT &&
		*variable->value.items[0].text == '\0' &&
		!variable->value.items[0].word.is_opaque);
}

static void assign_if_empty(struct shell_scope *scope,
			    struct shell_variable *variable,
			    enum shell_state state, struct shell_fields *value)
{
	bool is_given = variable->is_given;
	enum shell_state before = shell_variable_state(scope, variable);

	/* Without an environment the value is the one that is written. */
	if (before == SHELL_UNKNOWN && is_given && !scope->environment &&
	    scope->age == 0)
		before = SHELL_UNSET;
	if (before == SHELL_UNKNOWN ||
	    (before != SHELL_UNSET && !scope_is_empty(variable))) {
		shell_fields_release(value);
		return;
	}
	if (is_given && state == SHELL_TEXT) {
		struct word *word = &value->items[0].word;

		free(word->variable);
		word->variable = xstrdup(variable->name);
		word->variable_offset = 0;
	}
	shell_variable_set(scope, variable, state, value);
}

struct shell_variable *shell_assign(struct shell_scope *scope,
				    struct shell_span word,
				    enum shell_manner manner)
{
	const char *text = scope->lexer->text;
	struct shell_fields value = SHELL_FIELDS_INIT;
	struct shell_assignment assignment;
	struct shell_variable *variable;
	enum shell_state state;

	(void)shell_assignment_read(text, word, &assignment);
	assert(assignment.name.start < assignment.name.end);
	variable = shell_variable(scope, text + assignment.name.start,
				  assignment.name.end - assignment.name.start);
	variable->assigned = word;
	if (variable->name && strcmp(variable->name, "IFS") == 0)
		scope->splits_unknown = true;
	if (manner == SHELL_MAYBE) {
		assign_maybe(scope, variable, &assignment);
		return variable;
	}
	state = evaluate(scope, &assignment, &value);
	if (state == SHELL_UNKNOWN) {
		shell_fields_release(&value);
		shell_variable_set(scope, variable, state, NULL);
	} else if (manner == SHELL_IF_EMPTY) {
		assign_if_empty(scope, variable, state, &value);
	} else if (assignment.appends) {
		scope_append(scope, variable, state, &value);
	} else {
		shell_variable_set(scope, variable, state, &value);
	}
	return variable;
}
