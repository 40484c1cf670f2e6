/* JSON: where its scalars are, and that two texts differ in some only. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings_internal.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* A scalar as jansson has it; the value is borrowed from the document. */
struct leaf {
	char *key;
	const json_t *value;
};

struct leaves {
	struct leaf *items;
	size_t count, capacity;
	struct strbuf path;
};

static void leaves_release(struct leaves *leaves)
{
	for (size_t i = 0; i < leaves->count; i++)
		free(leaves->items[i].key);
	free(leaves->items);
	strbuf_release(&leaves->path);
}

static void leaf_add(struct leaves *leaves, const json_t *value)
{
	leaves->items = xgrow(leaves->items, leaves->count, &leaves->capacity,
			      sizeof(*leaves->items));
	leaves->items[leaves->count++] = (struct leaf){
		.key = xstrdup(strbuf_text(&leaves->path)),
		.value = value,
	};
}

/* As deep as SETTINGS_DEPTH_MAX: the text was read before. */
static void leaves_collect(struct leaves *leaves, json_t *value)
{
	size_t length = leaves->path.length;
	const char *key;
	json_t *child;
	size_t index;

	if (json_is_object(value)) {
		json_object_foreach(value, key, child)
		{
			settings_path_key(&leaves->path, key, strlen(key));
			leaves_collect(leaves, child);
			settings_path_cut(&leaves->path, length);
		}
	} else if (json_is_array(value)) {
		json_array_foreach(value, index, child)
		{
			settings_path_index(&leaves->path, index);
			leaves_collect(leaves, child);
			settings_path_cut(&leaves->path, length);
		}
	} else {
		leaf_add(leaves, value);
	}
}

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

/* What settings call the value of a scalar. */
static char *text_of(const struct settings_reader *reader,
		     const struct setting *setting, const json_t *value)
{
	if (json_is_null(value))
		return xstrdup("");
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	return xstrndup(reader->text + setting->start,
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

/* Every place holds one scalar of JSON, whose value jansson says. */
static int take_values(struct settings_reader *reader,
		       const struct leaves *leaves)
{
	struct settings *settings = reader->settings;

	for (size_t i = 0; i < settings->count; i++) {
		struct setting *setting = &settings->items[i];
		json_t *value = load_scalar(reader, setting);
		bool is_right =
			value &&
			(!leaves || is_same(value, leaves->items[i].value));

		if (is_right) {
			free(setting->value);
			setting->value = text_of(reader, setting, value);
		}
		json_decref(value);
		if (!is_right)
			return settings_fail(
				reader, setting->start,
				"the place of this value is not certain");
	}
	return 0;
}

/* The same keys in the same order; else libyaml understood it otherwise. */
static int check_keys(struct settings_reader *reader,
		      const struct leaves *leaves)
{
	const struct settings *settings = reader->settings;

	if (settings->count != leaves->count)
		return settings_fail(
			reader, 0, "the places of its values are not certain");
	for (size_t i = 0; i < settings->count; i++)
		if (strcmp(settings->items[i].key, leaves->items[i].key) != 0)
			return settings_fail(
				reader, settings->items[i].start,
				"the place of this value is not certain");
	return 0;
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
	struct leaves leaves = { 0 };
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
	if (result < 0)
		goto out;
	if (is_unique) {
		leaves_collect(&leaves, root);
		result = check_keys(reader, &leaves);
	}
	if (result == 0)
		result = take_values(reader, is_unique ? &leaves : NULL);
out:
	leaves_release(&leaves);
	json_decref(root);
	return result;
}

/* What an edit makes of a value: a number, or a number in quotes. */
static bool is_edited(const json_t *before, const json_t *after,
		      const char *value)
{
	if (json_is_string(before))
		return json_is_string(after) &&
		       strcmp(json_string_value(after), value) == 0;
	return json_is_integer(after)
		       ? json_integer_value(after) == strtoll(value, NULL, 10)
		       : json_is_real(after) &&
				 json_real_value(after) == strtod(value, NULL);
}

/* The last edit of a key, as the last value of a key counts. */
static const struct settings_edit *edit_of(const struct settings_edit *edits,
					   const char *key)
{
	const struct settings_edit *found = NULL;

	for (; edits->setting; edits++)
		if (strcmp(edits->setting->key, key) == 0)
			found = edits;
	return found;
}

static bool differ_as_meant(const struct leaves *before,
			    const struct leaves *after,
			    const struct settings_edit *edits)
{
	if (before->count != after->count)
		return false;
	for (size_t i = 0; i < before->count; i++) {
		const struct leaf *old = &before->items[i];
		const struct leaf *new = &after->items[i];
		const struct settings_edit *edit = edit_of(edits, old->key);

		if (strcmp(old->key, new->key) != 0)
			return false;
		if (!json_equal(old->value, new->value) &&
		    (!edit || !is_edited(old->value, new->value, edit->value)))
			return false;
		if (edit && !is_edited(old->value, new->value, edit->value))
			return false;
	}
	return true;
}

int settings_compare_json(const char *before, size_t before_length,
			  const struct strbuf *after,
			  const struct settings_edit *edits, struct error *err)
{
	struct leaves old = { 0 }, new = { 0 };
	json_error_t error;
	json_t *old_root, *new_root;
	bool is_right = false;

	old_root = load(before, before_length, 0, &error);
	new_root = load(after->data, after->length, 0, &error);
	if (old_root && new_root) {
		leaves_collect(&old, old_root);
		leaves_collect(&new, new_root);
		is_right = differ_as_meant(&old, &new, edits);
	}
	leaves_release(&old);
	leaves_release(&new);
	json_decref(old_root);
	json_decref(new_root);
	if (is_right)
		return 0;
	return error_set(err, -EINVAL,
			 "the changed copy would not be the same JSON "
			 "otherwise");
}
