/* Python configs: names at the top of the file, dicts of values. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_python.h"

#include "base/strlist.h"

#include <string.h>

/* What can be at the start of a block, or of a line that is one. */
static const char *const block_words[] = {
	"if",     "elif",    "else", "for",   "while", "with", "try",
	"except", "finally", "def",  "class", "async", NULL,
};

/* They give names a value, or take it away. */
static const char *const binding_words[] = {
	"import", "from", "del", "global", "nonlocal", NULL,
};

/* Called, they may change any name. */
static const char *const sweeping_words[] = {
	"exec", "eval", "globals", "locals", "vars", "setattr", NULL,
};

static bool is_any_name(const struct python *python, const char *const *names)
{
	for (; *names; names++)
		if (python_is_name(python, *names))
			return true;
	return false;
}

/* How far the token is from the beginning of its line; 0: in no block. */
static size_t python_indent(const struct python *python)
{
	size_t start = python->place.token.start, at = start;

	while (at > python->first &&
	       !strchr("\r\n", python->reader->text[at - 1]))
		at--;
	return start - at;
}

/* A statement of a class itself, and of none in it. */
static bool is_of_class(const struct python *python)
{
	return python->class_length && !python->is_doubtful;
}

static int skip_statement(struct python *python)
{
	int result = 0;

	while (result == 0 && !python_is_value_end(python, 0))
		result = python_advance(python);
	return result;
}

/* To this operator outside of brackets, or to the end of the statement. */
static int skip_to(struct python *python, const char *operator)
{
	int result = 0;

	while (result == 0 && !python_is_value_end(python, 0) &&
	       (python->place.brackets || !python_is(python, operator)))
		result = python_advance(python);
	return result;
}

/* Over "if x:", to what may follow on its line. */
static int skip_header(struct python *python)
{
	int result = skip_to(python, ":");

	return result == 0 && python_is(python, ":") ? python_advance(python)
						     : result;
}

static void path_add(struct python *python, size_t start, size_t end)
{
	settings_path_key(&python->reader->path, python->reader->text + start,
			  end - start);
}

static bool is_index(const struct python *python)
{
	const struct python_token *token = &python->place.token;

	for (size_t i = token->start; i < token->end; i++)
		if (!name_is_digit(python->reader->text[i]))
			return false;
	return token->kind == PYTHON_NUMBER;
}

/* Over ["name"] or [0] behind a name, which is added to the path. */
static int read_subscript(struct python *python, bool *is_target)
{
	const struct python_token *token = &python->place.token;
	struct strbuf *path = &python->reader->path;
	int result = python_advance(python);

	if (result < 0)
		return result;
	*is_target = false;
	if (token->kind == PYTHON_STRING && token->is_plain)
		path_add(python, token->body_start, token->body_end);
	else if (is_index(python))
		strbuf_addf(path, "[%.*s]", (int)(token->end - token->start),
			    python->reader->text + token->start);
	else
		return 0;
	result = python_advance(python);
	*is_target = token->kind == PYTHON_CLOSE;
	return result == 0 && *is_target ? python_advance(python) : result;
}

/* Over .name */
static int read_attribute(struct python *python, bool *is_target)
{
	const struct python_token *token = &python->place.token;
	int result = python_advance(python);

	*is_target = token->kind == PYTHON_NAME;
	if (result < 0 || !*is_target)
		return result;
	path_add(python, token->start, token->end);
	return python_advance(python);
}

/* a.b["c"][0], which is then the path. */
static int read_target(struct python *python, bool *is_target)
{
	const struct python_token *token = &python->place.token;
	int result;

	settings_path_cut(&python->reader->path, 0);
	if (is_of_class(python))
		path_add(python, python->class_start,
			 python->class_start + python->class_length);
	*is_target = token->kind == PYTHON_NAME;
	if (!*is_target)
		return 0;
	path_add(python, token->start, token->end);
	result = python_advance(python);
	while (result == 0 && *is_target) {
		if (python_is(python, "."))
			result = read_attribute(python, is_target);
		else if (token->kind == PYTHON_OPEN &&
			 python->reader->text[token->start] == '[')
			result = read_subscript(python, is_target);
		else
			break;
	}
	return result;
}

/* Names that all get what stands from a byte to the statement's end. */
static int add_targets(struct python *python, const struct strlist *targets,
		       size_t start)
{
	struct settings_reader *reader = python->reader;
	int result = skip_statement(python);
	size_t end = python->place.last_end;

	/* Nothing is there: "a = b =". */
	if (end < start)
		end = start;
	for (size_t i = 0; result == 0 && i < targets->count; i++) {
		strbuf_reset(&reader->path);
		strbuf_adds(&reader->path, targets->items[i]);
		result = settings_add_source(reader, start, end, false);
	}
	return result;
}

/* a, b, c: names with commas between them; the last may have a type. */
static int read_names(struct python *python, struct strlist *targets)
{
	bool is_target, has_comma = true;
	int result = 0;

	while (result == 0 && has_comma) {
		result = read_target(python, &is_target);
		if (result < 0 || !is_target)
			return result;
		strlist_add(targets, strbuf_text(&python->reader->path));
		if (targets->count == 1 && python_is(python, ":"))
			result = skip_to(python, "=");
		has_comma = python_is(python, ",");
		if (result == 0 && has_comma)
			result = python_advance(python);
	}
	return result;
}

/*
 * One "a =" or "a, b =": 1 if it was one, and its names are in targets. Else
 * the place is where it was.
 */
static int read_left_side(struct python *python, struct strlist *targets)
{
	struct python_place before = python->place;
	size_t count = targets->count;
	int result = read_names(python, targets);

	if (result < 0)
		return result;
	if (python_is(python, "=") && targets->count > count) {
		result = python_advance(python);
		return result < 0 ? result : 1;
	}
	python->place = before;
	while (targets->count > count)
		strlist_remove(targets, targets->count - 1);
	return 0;
}

static int read_right_side(struct python *python, const struct strlist *targets)
{
	struct settings_reader *reader = python->reader;

	if (targets->count > 1)
		return add_targets(python, targets, python->place.token.start);
	strbuf_reset(&reader->path);
	strbuf_adds(&reader->path, targets->items[0]);
	return python_read_value(python);
}

/* 1 if the statement is an assignment. */
static int read_assignment(struct python *python)
{
	struct strlist targets = STRLIST_INIT;
	int result;

	do
		result = read_left_side(python, &targets);
	while (result > 0);
	if (result == 0 && targets.count) {
		result = read_right_side(python, &targets);
		if (result == 0)
			result = 1;
	}
	strlist_release(&targets);
	return result;
}

/* +=, <<= and their like; not == and := */
static bool is_augmented(const struct python *python)
{
	const struct python_token *token = &python->place.token;
	size_t length = token->end - token->start;
	const char *text = python->reader->text + token->start;

	return token->kind == PYTHON_OPERATOR && length >= 2 &&
	       text[length - 1] == '=' &&
	       (length == 3 || !strchr("=!<>:", text[0]));
}

/* x *= 2: 1 if it was that; else the place is where it was. */
static int read_augmented(struct python *python)
{
	struct python_place before = python->place;
	struct settings_reader *reader = python->reader;
	bool is_target;
	int result = read_target(python, &is_target);

	if (result < 0)
		return result;
	if (!is_target || !is_augmented(python)) {
		python->place = before;
		return 0;
	}
	result = skip_statement(python);
	if (result == 0)
		result = settings_add_source(reader, before.token.start,
					     python->place.last_end, false);
	return result < 0 ? result : 1;
}

/* import x, from y import x, del x: another value, or none. */
static int read_binding(struct python *python)
{
	const struct python_token *token = &python->place.token;
	struct strbuf *path = &python->reader->path;
	struct strlist names = STRLIST_INIT;
	size_t start = token->start;
	int result = python_advance(python);

	while (result == 0 && !python_is_value_end(python, 0)) {
		if (python_is(python, "*")) {
			python->doubt_before = start;
		} else if (python_is_name(python, "import")) {
			strlist_release(&names);
		} else if (token->kind == PYTHON_NAME &&
			   !python_is_name(python, "as")) {
			strbuf_reset(path);
			path_add(python, token->start, token->end);
			strlist_add(&names, strbuf_text(path));
		}
		result = python_advance(python);
	}
	if (result == 0)
		result = add_targets(python, &names, start);
	strlist_release(&names);
	return result;
}

/* cfg.update(...): what cfg held is not certain any more. */
static int read_expression(struct python *python)
{
	const struct python_token *token = &python->place.token;
	int result = 0;

	if (is_any_name(python, sweeping_words))
		python->doubt_before = token->start;
	if (token->kind == PYTHON_NAME) {
		strbuf_reset(&python->reader->path);
		path_add(python, token->start, token->end);
		result = settings_supersede(python->reader, token->start);
	}
	return result < 0 ? result : skip_statement(python);
}

static int read_statement(struct python *python)
{
	int result;

	if (is_any_name(python, binding_words))
		return read_binding(python);
	result = read_assignment(python);
	if (result == 0)
		result = read_augmented(python);
	if (result == 0)
		result = read_expression(python);
	return result < 0 ? result : skip_statement(python);
}

/* A line begins: is it in a block? */
static void python_begin_line(struct python *python)
{
	const struct python_token *token = &python->place.token;
	size_t indent = python_indent(python);

	python->is_doubtful = false;
	if (token->kind == PYTHON_NEWLINE)
		return;
	if (indent == 0)
		python->class_length = 0;
	else if (python->class_indent == 0)
		python->class_indent = indent;
	python->is_doubtful = indent > 0 && (python->class_length == 0 ||
					     indent != python->class_indent);
}

/* Over "class NAME", where that stands at the edge. */
static int read_class(struct python *python)
{
	const struct python_token *token = &python->place.token;
	bool is_edge = python_indent(python) == 0;
	int result = python_advance(python);

	if (result == 0 && is_edge && token->kind == PYTHON_NAME) {
		python->class_start = token->start;
		python->class_length = token->end - token->start;
		python->class_indent = 0;
	}
	return result;
}

/* Statements with ";" between them, perhaps after "if x:". */
static int settings_python_read_line(struct python *python)
{
	const struct python_token *token = &python->place.token;
	int result = 0;

	python_begin_line(python);
	while (result == 0 && token->kind != PYTHON_NEWLINE &&
	       token->kind != PYTHON_END) {
		if (python_is(python, ";")) {
			result = python_advance(python);
		} else if (is_any_name(python, block_words)) {
			if (python_is_name(python, "class"))
				result = read_class(python);
			python->is_doubtful = true;
			if (result == 0)
				result = skip_header(python);
		} else {
			result = read_statement(python);
		}
	}
	if (result == 0 && token->kind == PYTHON_NEWLINE)
		result = python_advance(python);
	return result;
}

int settings_read_python(struct settings_reader *reader)
{
	struct python python = { .reader = reader };
	struct settings *settings = reader->settings;
	int result;

	settings_skip_bom(reader);
	python.first = reader->at;
	python.place.at = reader->at;
	result = python_advance(&python);
	while (result == 0 && python.place.token.kind != PYTHON_END)
		result = settings_python_read_line(&python);
	for (size_t i = 0; i < settings->count; i++)
		if (settings->items[i].start < python.doubt_before)
			settings->items[i].is_scalar = false;
	return result;
}
