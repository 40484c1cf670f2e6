/* A config file's text with some of its values changed, and nothing else. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings_internal.h"

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
struct change {
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
static int check_edits(const struct change *change, struct error *err)
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

static void write_changed(struct strbuf *out, const struct change *change)
{
	const char *text = change->text;
	size_t at = 0;

	for (size_t i = 0; i < change->count; i++) {
		const struct settings_edit *edit = &change->edits[i];
		const struct setting *setting = edit->setting;
		char first = text[setting->start];
		bool is_quoted = first == '"' || first == '\'';

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

/* The same settings, of which the edited have another value. */
static bool is_as_meant(const struct change *change,
			const struct settings *after)
{
	const struct settings *before = change->settings;
	const struct settings_edit *edit = change->edits;

	if (after->count != before->count)
		return false;
	for (size_t i = 0; i < before->count; i++) {
		const struct setting *old = &before->items[i];
		const struct setting *new = &after->items[i];
		const char *value = old->value;

		if (edit->setting == old)
			value = edit++->value;
		if (strcmp(old->key, new->key) != 0 ||
		    strcmp(value, new->value) != 0 || old->line != new->line ||
		    old->is_scalar != new->is_scalar)
			return false;
	}
	return edit->setting == NULL;
}

static int verify(const struct change *change, const struct strbuf *changed,
		  struct error *err)
{
	struct settings again;
	int result;

	result = settings_read(&again, change->settings->format,
			       "the changed copy", strbuf_text(changed),
			       changed->length, err);
	if (result == 0 && !is_as_meant(change, &again))
		result = error_set(err, -EINVAL,
				   "the changed copy would not hold the same "
				   "values otherwise");
	if (result == 0 && again.format == SETTINGS_JSON)
		result = settings_compare_json(change->text, change->length,
					       changed, change->edits, err);
	settings_release(&again);
	return result;
}

/* NOLINTNEXTLINE(readability-function-size): settings.h has its parameters. */
int settings_change(struct strbuf *out, const struct settings *settings,
		    const char *text, size_t length,
		    const struct settings_edit *edits, size_t edit_count,
		    struct error *err)
{
	struct change change = {
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
	if (result < 0)
		goto out;
	write_changed(&changed, &change);
	result = verify(&change, &changed, err);
	if (result == 0)
		strbuf_add(out, strbuf_text(&changed), changed.length);
out:
	strbuf_release(&changed);
	free(change.edits);
	return result;
}
