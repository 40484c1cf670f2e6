/* JSON: where its scalars are, by libyaml, and what they are, by jansson. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings_internal.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* Numbers that no int64_t holds are read as doubles, all of them then. */
static json_t *load(const char *text, size_t length, size_t flags,
		    json_error_t *error)
{
	json_t *root;

	flags |= JSON_ALLOW_NUL;
	root = json_loadb(text, length, flags, error);
	if (!root && json_error_code(error) == json_error_numeric_overflow)
		root = json_loadb(text, length, flags | JSON_DECODE_INT_AS_REAL,
				  error);
	return root;
}

/* jansson quotes the text behind " near ": that stays out of messages. */
static int fail_json(struct settings_reader *reader, json_error_t *error)
{
	char *near = strstr(error->text, " near ");

	if (near)
		*near = '\0';
	return error_set(reader->err, -EINVAL, "%s:%d: not JSON: %s",
			 reader->name, error->line > 0 ? error->line : 1,
			 error->text);
}

/* The value of the bytes, as jansson has it; NULL if they are no scalar. */
static json_t *load_scalar(const struct settings_reader *reader,
			   const struct setting *setting)
{
	json_error_t error;
	json_t *value =
		load(reader->text + setting->start,
		     setting->end - setting->start, JSON_DECODE_ANY, &error);

	if (value && (json_is_object(value) || json_is_array(value))) {
		json_decref(value);
		return NULL;
	}
	return value;
}

static void set_value(struct settings *settings, struct setting *setting,
		      const char *text, size_t length)
{
	if (strlen(setting->value) != length ||
	    memcmp(setting->value, text, length) != 0)
		setting->value = pool_add(&settings->texts, text, length);
}

/* What settings call the value of a scalar. */
static void name_value(const struct settings_reader *reader,
		       struct setting *setting, const json_t *value)
{
	struct settings *settings = reader->settings;
	const char *text = json_string_value(value);

	if (json_is_null(value))
		set_value(settings, setting, "", 0);
	else if (text)
		set_value(settings, setting, text, strlen(text));
	else
		set_value(settings, setting, reader->text + setting->start,
			  setting->end - setting->start);
}

/* A number alone may be an integer where the whole text had doubles only. */
static bool is_same(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b))
		return !(json_number_value(a) < json_number_value(b)) &&
		       !(json_number_value(a) > json_number_value(b));
	return json_equal(a, b);
}

/* Of a number that is not negative, without leading zeros. */
static bool is_digits_of(const char *bytes, size_t length, json_int_t number)
{
	json_int_t left = number;

	if (number < 0 || (bytes[0] == '0' && length > 1))
		return false;
	for (size_t i = length; i > 0; i--) {
		if (bytes[i - 1] != '0' + (char)(left % 10))
			return false;
		left /= 10;
	}
	return length > 0 && left == 0;
}

/* Are these the bytes that jansson itself would write for the value? */
static bool is_written_plainly(const char *bytes, size_t length,
			       const json_t *value)
{
	size_t width = json_string_length(value);

	if (json_is_string(value))
		return length == width + 2 && bytes[0] == '"' &&
		       bytes[length - 1] == '"' &&
		       memcmp(bytes + 1, json_string_value(value), width) ==
			       0 &&
		       !memchr(bytes, '\\', length);
	return json_is_integer(value) &&
	       is_digits_of(bytes, length, json_integer_value(value));
}

/* The value at the setting's place; NULL: none, or not that of the leaf. */
static json_t *value_at(const struct settings_reader *reader,
			const struct setting *setting, json_t *leaf)
{
	json_t *value;

	/* Most are, and need not be read once more. */
	if (leaf && is_written_plainly(reader->text + setting->start,
				       setting->end - setting->start, leaf))
		return json_incref(leaf);
	value = load_scalar(reader, setting);
	if (value && (!leaf || is_same(value, leaf)))
		return value;
	json_decref(value);
	return NULL;
}

/* Its place holds one scalar of JSON, whose value jansson says: the leaf's,
 * where that is known. */
static int take_value(struct settings_reader *reader, struct setting *setting,
		      json_t *leaf)
{
	json_t *value = value_at(reader, setting, leaf);

	if (!value)
		return settings_fail(reader, setting->start,
				     "the place of this value is not certain");
	name_value(reader, setting, value);
	json_decref(value);
	return 0;
}

/* Of a text that has a key twice, jansson has one of them only. */
static int take_values(struct settings_reader *reader)
{
	struct settings *settings = reader->settings;
	int result = 0;

	for (size_t i = 0; result == 0 && i < settings->count; i++)
		result = take_value(reader, &settings->items[i], NULL);
	return result;
}

/* jansson's document beside what libyaml has found. */
struct walk {
	struct settings_reader *reader;
	struct strbuf path;
	size_t next; /* setting */
};

/* The same key at the same turn; else libyaml understood it otherwise. */
static int take_leaf(struct walk *walk, json_t *leaf)
{
	struct settings_reader *reader = walk->reader;
	struct setting *setting = &reader->settings->items[walk->next];

	if (walk->next == reader->settings->count)
		return settings_fail(
			reader, 0, "the places of its values are not certain");
	walk->next++;
	if (strcmp(setting->key, strbuf_text(&walk->path)) != 0)
		return settings_fail(reader, setting->start,
				     "the place of this value is not certain");
	return take_value(reader, setting, leaf);
}

/* As deep as SETTINGS_DEPTH_MAX: libyaml has read it. */
static int take_below(struct walk *walk, json_t *value)
{
	size_t length = walk->path.length;
	const char *key;
	json_t *child;
	size_t index;
	int result = 0;

	if (json_is_object(value)) {
		json_object_foreach(value, key, child)
		{
			settings_path_key(&walk->path, key, strlen(key));
			result = take_below(walk, child);
			settings_path_cut(&walk->path, length);
			if (result < 0)
				break;
		}
	} else if (json_is_array(value)) {
		json_array_foreach(value, index, child)
		{
			settings_path_index(&walk->path, index);
			result = take_below(walk, child);
			settings_path_cut(&walk->path, length);
			if (result < 0)
				break;
		}
	} else {
		result = take_leaf(walk, value);
	}
	return result;
}

static int take_document(struct settings_reader *reader, json_t *root)
{
	struct walk walk = { .reader = reader };
	int result = take_below(&walk, root);

	strbuf_release(&walk.path);
	if (result == 0 && walk.next < reader->settings->count)
		result = settings_fail(
			reader, 0, "the places of its values are not certain");
	return result;
}

static bool is_surrogate(const char *text, size_t left)
{
	return left >= 6 && text[1] == 'u' &&
	       (text[2] == 'd' || text[2] == 'D') &&
	       strchr("89abcdefABCDEF", text[3]);
}

/* libyaml takes no \ud83d: that is one character of JSON with the next. */
static char *mask(const struct settings_reader *reader)
{
	char *masked = xstrndup(reader->text, reader->length);

	for (size_t i = 0; i + 1 < reader->length; i++) {
		if (masked[i] != '\\')
			continue;
		if (is_surrogate(masked + i, reader->length - i))
			masked[i + 1] = '\\';
		i++;
	}
	return masked;
}

/* Tabs before the first bracket and behind the last are none of YAML's. */
static int locate(struct settings_reader *reader)
{
	static const char blanks[] = " \t\r\n";
	size_t start = 0, end = reader->length;
	char *masked = mask(reader);
	int result;

	while (start < end && strchr(blanks, masked[start]))
		start++;
	while (end > start && strchr(blanks, masked[end - 1]))
		end--;
	result = settings_locate_json(reader, masked, start, end);
	free(masked);
	return result;
}

int settings_read_json(struct settings_reader *reader)
{
	json_error_t error;
	bool is_unique;
	json_t *root;
	int result;

	root = load(reader->text, reader->length, JSON_REJECT_DUPLICATES,
		    &error);
	is_unique = root != NULL;
	if (!root && json_error_code(&error) == json_error_duplicate_key)
		root = load(reader->text, reader->length, 0, &error);
	if (!root)
		return fail_json(reader, &error);
	result = locate(reader);
	if (result == 0)
		result = is_unique ? take_document(reader, root)
				   : take_values(reader);
	json_decref(root);
	return result;
}
