/* JSON: where its scalars are, by libyaml, and what they are, by jansson. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_internal.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* Numbers that no int64_t holds are read as doubles, all of them then. */
static json_t *settings_json_load(const char *text, size_t length, size_t flags,
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
	json_t *value = settings_json_load(reader->text + setting->start,
					   setting->end - setting->start,
					   JSON_DECODE_ANY, &error);

	if (value && (json_is_object(value) || json_is_array(value))) {
		json_decref(value);
		return NULL;
	}
	return value;
}

static void settings_json_set_value(struct settings *settings,
				    struct setting *setting, const char *text,
				    size_t length)
{
	if (strlen(setting->value) != length ||
	    memcmp(setting->value, text, length) != 0)
		setting->value = pool_add(&settings->texts, text, length);
}

/* What settings call the value of a scalar. */
static void settings_json_name_value(const struct settings_reader *reader,
				     struct setting *setting,
				     const json_t *value)
{
	struct settings *settings = reader->settings;
	const char *text = json_string_value(value);

	if (json_is_null(value))
		settings_json_set_value(settings, setting, "", 0);
	else if (text)
		settings_json_set_value(settings, setting, text, strlen(text));
	else
		settings_json_set_value(settings, setting,
					reader->text + setting->start,
					setting->end - setting->start);
}

/* A number alone may be an integer where the whole text had doubles only. */
static bool settings_json_is_same(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b))
		return !(json_number_value(a) < json_number_value(b)) &&
		       !(json_number_value(a) > json_number_value(b));
	return json_equal(a, b);
}

/* Are the bytes the digits of this number, not negative, without zeros before?
 */
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
static json_t *settings_json_value_at(const struct settings_reader *reader,
				      const struct setting *setting,
				      json_t *leaf)
{
	json_t *value;

	/* Most are, and need not be read once more. */
	if (leaf && is_written_plainly(reader->text + setting->start,
				       setting->end - setting->start, leaf))
		return json_incref(leaf);
	value = load_scalar(reader, setting);
	if (value && (!leaf || settings_json_is_same(value, leaf)))
		return value;
	json_decref(value);
	return NULL;
}

/* Does its place hold one scalar of JSON, and the leaf's value, where that is
 * known? Its value is then as jansson has it. */
static bool settings_json_take_value(struct settings_reader *reader,
				     struct setting *setting, json_t *leaf)
{
	json_t *value = settings_json_value_at(reader, setting, leaf);

	if (!value)
		return false;
	settings_json_name_value(reader, setting, value);
	json_decref(value);
	return true;
}

/* jansson's document beside what libyaml has found. */
struct settings_json_walk {
	struct settings_reader *reader;
	struct strbuf path;
	size_t next; /* setting */
};

/* The same key at the same turn; else libyaml understood it otherwise. */
static bool take_leaf(struct settings_json_walk *walk, json_t *leaf)
{
	struct settings *settings = walk->reader->settings;
	struct setting *setting = &settings->items[walk->next];

	if (walk->next == settings->count ||
	    strcmp(setting->key, strbuf_text(&walk->path)) != 0 ||
	    !settings_json_take_value(walk->reader, setting, leaf))
		return false;
	walk->next++;
	return true;
}

/* As deep as SETTINGS_DEPTH_MAX: libyaml has read it. */
static bool take_below(struct settings_json_walk *walk, json_t *value)
{
	size_t length = walk->path.length;
	const char *key;
	json_t *child;
	size_t index;
	bool result = true;

	if (json_is_object(value)) {
		json_object_foreach(value, key, child)
		{
			settings_path_key(&walk->path, key, strlen(key));
			result = take_below(walk, child);
			settings_path_cut(&walk->path, length);
			if (!result)
				break;
		}
	} else if (json_is_array(value)) {
		json_array_foreach(value, index, child)
		{
			settings_path_index(&walk->path, index);
			result = take_below(walk, child);
			settings_path_cut(&walk->path, length);
			if (!result)
				break;
		}
	} else {
		result = take_leaf(walk, value);
	}
	return result;
}

/* Are they one by one the document's? next: the first that is not. */
static bool take_document(struct settings_reader *reader, json_t *root,
			  size_t *next)
{
	struct settings_json_walk walk = { .reader = reader };
	bool result = take_below(&walk, root);

	strbuf_release(&walk.path);
	*next = walk.next;
	return result && walk.next == reader->settings->count;
}

/* Each for itself. */
static bool take_alone(struct settings_reader *reader, size_t *next)
{
	struct settings *settings = reader->settings;

	for (*next = 0; *next < settings->count; ++*next)
		if (!settings_json_take_value(reader, &settings->items[*next],
					      NULL))
			return false;
	return true;
}

static bool has_duplicates(const struct settings_reader *reader)
{
	json_error_t error;
	json_t *root = settings_json_load(reader->text, reader->length,
					  JSON_REJECT_DUPLICATES, &error);

	json_decref(root);
	return !root && json_error_code(&error) == json_error_duplicate_key;
}

/* What jansson says of each value. Of a text that has a key twice, its document
 * has one of them only. */
static int take_values(struct settings_reader *reader, json_t *root)
{
	const struct settings *settings = reader->settings;
	size_t next;

	if (take_document(reader, root, &next) ||
	    (has_duplicates(reader) && take_alone(reader, &next)))
		return 0;
	return settings_fail(
		reader,
		next < settings->count ? settings->items[next].start : 0,
		"the place of this value is not certain");
}

static bool is_surrogate(const char *text, size_t left)
{
	return left >= 6 && text[1] == 'u' &&
	       (text[2] == 'd' || text[2] == 'D') &&
	       strchr("89abcdefABCDEF", text[3]);
}

/* libyaml takes no \ud83d: that is one character of JSON with the next. */
static char *settings_json_mask(const struct settings_reader *reader)
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
static int settings_json_locate(struct settings_reader *reader)
{
	static const char blanks[] = " \t\r\n";
	size_t start = 0, end = reader->length;
	char *masked = settings_json_mask(reader);
	int result;

	while (start < end && strchr(blanks, masked[start]))
		start++;
	while (end > start && strchr(blanks, masked[end - 1]))
		end--;
	result = settings_locate_json(reader, masked, start, end);
	free(masked);
	return result;
}

/* Where they are to be; whether they are there, their values show. */
static int take_expected(struct settings_reader *reader)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < reader->expected_count; i++) {
		const struct setting *setting = &reader->expected[i];
		const struct settings_piece piece = { setting->start,
						      setting->end,
						      setting->is_scalar };

		if (piece.end > reader->length)
			return settings_fail(reader, reader->length,
					     "it ends too early");
		settings_path_cut(&reader->path, 0);
		strbuf_adds(&reader->path, setting->key);
		result = settings_add(reader, &piece, setting->value,
				      strlen(setting->value));
	}
	return result;
}

/* The byte behind a comment that begins at `at`; `at` itself: none does. */
static size_t comment_end(const char *text, size_t length, size_t at)
{
	bool is_line;

	if (at + 1 >= length || text[at] != '/' ||
	    (text[at + 1] != '/' && text[at + 1] != '*'))
		return at;
	is_line = text[at + 1] == '/';
	for (at += is_line ? 2 : 3; at < length; at++)
		if (is_line ? text[at] == '\n'
			    : text[at - 1] == '*' && text[at] == '/')
			return is_line ? at : at + 1;
	return length;
}

/* The text with blanks for its comments, which many programs take out before
 * they read it; NULL: it has none. Every byte keeps its place. */
static char *comments_blank(const char *text, size_t length)
{
	char *plain = xstrndup(text, length);
	bool in_string = false, found = false;

	for (size_t i = 0, end; i < length; i = end) {
		end = in_string ? i : comment_end(text, length, i);
		found |= end > i;
		for (size_t j = i; j < end; j++)
			if (plain[j] != '\n')
				plain[j] = ' ';
		if (end > i)
			continue;
		if (text[i] == '"')
			in_string = !in_string;
		/* An escaped quote ends no string. */
		end = i + (in_string && text[i] == '\\' ? 2 : 1);
	}
	if (found)
		return plain;
	free(plain);
	return NULL;
}

static int settings_json_read(struct settings_reader *reader, json_t *root)
{
	int result = reader->expected ? take_expected(reader)
				      : settings_json_locate(reader);

	return result == 0 ? take_values(reader, root) : result;
}

int settings_read_json(struct settings_reader *reader)
{
	const char *given = reader->text;
	json_error_t error, of_plain;
	json_t *root = settings_json_load(given, reader->length, 0, &error);
	char *plain = root ? NULL : comments_blank(given, reader->length);
	int result;

	if (plain)
		root = settings_json_load(plain, reader->length, 0, &of_plain);
	if (root) {
		reader->text = plain ? plain : given;
		result = settings_json_read(reader, root);
		reader->text = given;
	} else {
		result = fail_json(reader, plain ? &of_plain : &error);
	}
	json_decref(root);
	free(plain);
	return result;
}
