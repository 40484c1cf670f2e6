/* JSON of others, with bounds on what it unfolds to in memory. */
/* SPDX-License-Identifier: MIT */
#include "configs/files/json_bounded.h"

#include <errno.h>
#include <string.h>

/* Doubles hold every whole number up to it. */
#define WHOLE_MOST 9007199254740992.0

/* Behind the quote that ends the string which begins at text. */
static const char *skip_string(const char *text, const char *end)
{
	for (text++; text < end && *text != '"'; text++)
		if (*text == '\\')
			text++;
	return text < end ? text + 1 : end;
}

/* A look at brackets and commas, before anything is built of them. */
static const char *check_size(const char *text, size_t length)
{
	const char *end = text + length;
	size_t values = 0, depth = 0;

	while (text < end) {
		char c = *text;

		if (c == '"') {
			text = skip_string(text, end);
			continue;
		}
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && depth > 0)
			depth--;
		if (c == '{' || c == '[' || c == ',')
			values++;
		if (depth > JSON_DEPTH_MAX)
			return "it nests too deep";
		if (values > JSON_VALUES_MAX)
			return "it holds too many values";
		text++;
	}
	return NULL;
}

static json_t *bounded_load(const char *text, size_t length, size_t flags,
			    json_error_t *error)
{
	json_t *root = json_loadb(text, length, flags, error);

	if (!root && json_error_code(error) == json_error_numeric_overflow)
		root = json_loadb(text, length, flags | JSON_DECODE_INT_AS_REAL,
				  error);
	return root;
}

json_t *json_bounded(const char *name, const char *text, size_t length,
		     bool is_strict, struct error *err)
{
	const char *problem = check_size(text, length);
	json_error_t error;
	json_t *root;
	char *near;

	if (problem) {
		(void)error_set(err, -E2BIG, "%s: %s", name, problem);
		return NULL;
	}
	root = bounded_load(text, length,
			    is_strict ? JSON_REJECT_DUPLICATES : 0, &error);
	if (json_is_object(root))
		return root;
	if (root) {
		json_decref(root);
		(void)error_set(err, -EINVAL, "%s: it is no object of JSON",
				name);
		return NULL;
	}
	/* jansson quotes the text behind " near ": that stays out. */
	near = strstr(error.text, " near ");
	if (near)
		*near = '\0';
	(void)error_set(err, -EINVAL, "%s:%d: not JSON: %s", name,
			error.line > 0 ? error.line : 1, error.text);
	return NULL;
}

bool json_whole(const json_t *json, int64_t *value)
{
	double real;

	if (json_is_integer(json)) {
		*value = json_integer_value(json);
		return true;
	}
	if (!json_is_real(json))
		return false;
	real = json_real_value(json);
	if (real < -WHOLE_MOST || real > WHOLE_MOST)
		return false;
	*value = (int64_t)real;
	return real <= (double)*value && real >= (double)*value;
}
