/* A config file's text with some of its values changed, and nothing else. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_internal.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Nineteen digits may be more than 64 bits hold. */
#define DIGITS_MAX 18

/* No sign but minus; a leading zero would be octal to some. */
static bool is_whole_number(const char *value)
{
	const char *digits = value + (*value == '-');
	size_t length = strlen(digits);

	if (length == 0 || length > DIGITS_MAX ||
	    strspn(digits, "0123456789") != length)
		return false;
	return digits[0] != '0' || (length == 1 && digits == value);
}

/* What is to be changed: edits in the order of the text, then an empty one. */
struct settings_change_change {
	const struct settings *settings;
	const char *text;
	size_t length;
	struct settings_edit *edits;
	size_t count;
};

static int compare_edits(const void *a, const void *b)
{
	const struct settings_edit *one = a, *other = b;
	size_t first = one->setting->start, second = other->setting->start;

	return (first > second) - (first < second);
}

/* One after the other, each where a number may be. */
static int check_edits(const struct settings_change_change *change,
		       struct error *err)
{
	size_t at = 0;

	for (size_t i = 0; i < change->count; i++) {
		const struct setting *setting = change->edits[i].setting;

		if (!setting->is_scalar)
			return error_set(err, -EINVAL,
					 "line %u: the value there is not "
					 "one that can be replaced",
					 setting->line);
		if (!is_whole_number(change->edits[i].value))
			return error_set(err, -EINVAL,
					 "line %u: what is to be written "
					 "there is not a whole number",
					 setting->line);
		if (setting->start < at)
			return error_set(err, -EINVAL,
					 "line %u: two new values for one "
					 "place",
					 setting->line);
		if (setting->end > change->length)
			return error_set(err, -EINVAL,
					 "line %u: the text has no such line",
					 setting->line);
		at = setting->end;
	}
	return 0;
}

static bool is_edited(const struct settings_change_change *change,
		      const struct setting *setting)
{
	for (size_t i = 0; i < change->count; i++)
		if (change->edits[i].setting == setting)
			return true;
	return false;
}

/* Where an object has a key twice, jansson keeps the last value only. */
static int check_last(const struct settings_change_change *change,
		      const struct setting *edited, struct error *err)
{
	const struct settings *settings = change->settings;
	const struct setting *last = edited;

	for (size_t i = 0; i < settings->count; i++) {
		const struct setting *setting = &settings->items[i];

		if (setting > last && strcmp(setting->key, edited->key) == 0)
			last = setting;
	}
	if (is_edited(change, last))
		return 0;
	return error_set(err, -EINVAL,
			 "line %u: the value there is not the last of its key",
			 edited->line);
}

static int check_lasts(const struct settings_change_change *change,
		       struct error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < change->count; i++)
		result = check_last(change, change->edits[i].setting, err);
	return result;
}

static bool settings_change_is_quote(char c)
{
	return c == '"' || c == '\'';
}

static void write_changed(struct strbuf *out,
			  const struct settings_change_change *change)
{
	const char *text = change->text;
	size_t at = 0;

	for (size_t i = 0; i < change->count; i++) {
		const struct settings_edit *edit = &change->edits[i];
		const struct setting *setting = edit->setting;
		char first = text[setting->start];
		bool is_quoted = settings_change_is_quote(first);

		strbuf_add(out, text + at, setting->start - at);
		if (is_quoted)
			strbuf_addch(out, first);
		strbuf_adds(out, edit->value);
		if (is_quoted)
			strbuf_addch(out, first);
		at = setting->end;
	}
	strbuf_add(out, text + at, change->length - at);
}

/* The very bytes, and with them what is text and what is a number; of an edited
 * value, which has some, its quotes. */
static bool is_written_as(const struct setting *old, const char *before,
			  const struct setting *new, const char *after,
			  bool has_changed)
{
	size_t length = old->end - old->start;

	before += old->start;
	after += new->start;
	if (has_changed)
		return settings_change_is_quote(*before)
			       ? *after == *before
			       : !settings_change_is_quote(*after);
	if (new->end - new->start != length)
		return false;
	return length == 0 || memcmp(before, after, length) == 0;
}

/* The same settings, of which the edited have another value. */
static bool is_as_meant(const struct settings_change_change *change,
			const struct settings *after, const char *text)
{
	const struct settings *before = change->settings;
	const struct settings_edit *edit = change->edits;

	if (after->count != before->count)
		return false;
	for (size_t i = 0; i < before->count; i++) {
		const struct setting *old = &before->items[i];
		const struct setting *new = &after->items[i];
		const char *value = old->value;
		bool has_changed = edit->setting == old;

		if (has_changed)
			value = edit++->value;
		if (strcmp(old->key, new->key) != 0 ||
		    strcmp(value, new->value) != 0 || old->line != new->line ||
		    old->is_scalar != new->is_scalar ||
		    !is_written_as(old, change->text, new, text, has_changed))
			return false;
	}
	return edit->setting == NULL;
}

static int settings_change_verify(const struct settings_change_change *change,
				  const struct strbuf *changed,
				  struct settings *after, struct error *err)
{
	struct settings_reader reader = {
		.settings = after,
		.name = "the changed copy",
		.text = strbuf_text(changed),
		.length = changed->length,
		.err = err,
	};
	int result = settings_read_all(&reader);

	if (result == 0 && !is_as_meant(change, after, strbuf_text(changed)))
		result = error_set(err, -EINVAL,
				   "the changed copy would not hold the same "
				   "values otherwise");
	return result;
}

/* NOLINTNEXTLINE(readability-function-size): settings.h has its parameters. */
int settings_change(struct strbuf *out, const struct settings *settings,
		    const char *text, size_t length,
		    const struct settings_edit *edits, size_t edit_count,
		    struct settings *after, struct error *err)
{
	struct settings again = { .format = settings->format };
	struct settings_change_change change = {
		.settings = settings,
		.text = text,
		.length = length,
		.edits = xcalloc(edit_count + 1, sizeof(*edits)),
		.count = edit_count,
	};
	struct strbuf changed = STRBUF_INIT;
	int result;

	if (edit_count) {
		memcpy(change.edits, edits, edit_count * sizeof(*edits));
		qsort(change.edits, edit_count, sizeof(*edits), compare_edits);
	}
	result = check_edits(&change, err);
	if (result == 0 && settings->format == SETTINGS_JSON)
		result = check_lasts(&change, err);
	if (result < 0)
		goto out;
	write_changed(&changed, &change);
	result = settings_change_verify(&change, &changed, &again, err);
	if (result == 0)
		strbuf_add(out, strbuf_text(&changed), changed.length);
out:
	strbuf_release(&changed);
	free(change.edits);
	if (after)
		*after = again;
	else
		settings_release(&again);
	return result;
}
