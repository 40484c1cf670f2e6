/* Config files of any bytes: values change, and not a byte beside them. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/settings/settings.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>

#define EDITS_MAX 3
#define FORMATS 5

/* A file that was read, and what is made of it. */
struct file {
	enum settings_format format;
	const char *text;
	size_t length;
	struct settings settings;
	struct settings_edit edits[EDITS_MAX]; /* in the order of the file */
	size_t edit_count;
	struct strbuf out;
};

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

static void check_settings(const struct file *file)
{
	const struct settings *settings = &file->settings;
	size_t last = 0;

	fuzz_check(settings->count <= (settings->format == SETTINGS_JSON
					       ? SETTINGS_JSON_VALUES_MAX
					       : SETTINGS_VALUES_MAX),
		   "items are bounded");
	for (size_t i = 0; i < settings->count; i++) {
		const struct setting *item = &settings->items[i];
		const struct setting *found[1];

		fuzz_check(item->key && item->value, "it has key and value");
		fuzz_check(item->start <= item->end &&
				   item->end <= file->length,
			   "it lies in the text");
		fuzz_check(item->line > 0, "lines begin at 1");
		if (item->is_scalar) {
			fuzz_check(item->start >= last,
				   "they come in the order of the file");
			last = item->end;
		}
		(void)settings_find_all(settings, item->key, found, 1);
	}
}

/* Some that a number may be written to, the first of them at random. */
static void choose_edits(struct file *file, unsigned chance)
{
	static const char *const values[] = { "16", "1", "123456789012345678",
					      "4096" };
	const struct settings *settings = &file->settings;
	size_t skip = settings->count ? chance % settings->count : 0;

	for (size_t i = skip; i < settings->count; i++) {
		if (!settings->items[i].is_scalar)
			continue;
		file->edits[file->edit_count++] = (struct settings_edit){
			&settings->items[i],
			values[(chance + i) % 4],
		};
		if (file->edit_count == 1 + chance % EDITS_MAX)
			return;
	}
}

/* The value in quotes as they were, or without any. Returns its length. */
static size_t check_value(const struct file *file,
			  const struct settings_edit *edit, const char *at)
{
	const char *old = file->text + edit->setting->start;
	size_t old_length = edit->setting->end - edit->setting->start;
	size_t length = strlen(edit->value);
	size_t quotes = 0;

	while (2 * quotes + 1 < old_length && is_quote(at[quotes]))
		quotes++;
	fuzz_check(memcmp(at, old, quotes) == 0, "quotes before it stay");
	fuzz_check(strncmp(at + quotes, edit->value, length) == 0,
		   "the value is there");
	fuzz_check(memcmp(at + quotes + length, old + old_length - quotes,
			  quotes) == 0,
		   "quotes behind it stay");
	return length + 2 * quotes;
}

/* All bytes outside the values are those of the text. */
static void check_bytes(const struct file *file)
{
	const char *at = strbuf_text(&file->out);
	const char *end = at + file->out.length;
	size_t from = 0;

	for (size_t i = 0; i < file->edit_count; i++) {
		size_t kept = file->edits[i].setting->start - from;

		fuzz_check((size_t)(end - at) > kept &&
				   memcmp(at, file->text + from, kept) == 0,
			   "bytes between the values stay");
		at += kept;
		at += check_value(file, &file->edits[i], at);
		from = file->edits[i].setting->end;
	}
	fuzz_check((size_t)(end - at) == file->length - from &&
			   memcmp(at, file->text + from, file->length - from) ==
				   0,
		   "bytes behind the values stay");
}

static const char *new_value(const struct file *file, size_t index)
{
	for (size_t i = 0; i < file->edit_count; i++)
		if (file->edits[i].setting == &file->settings.items[index])
			return file->edits[i].value;
	return file->settings.items[index].value;
}

/* It reads the same but for the edits, and as the change said it would. */
static void check_again(const struct file *file, const struct settings *after)
{
	struct settings again = { 0 };
	struct error err = ERROR_INIT;

	if (settings_read(&again, file->format, "again",
			  strbuf_text(&file->out), file->out.length, &err) < 0)
		fuzz_fail("what was written reads", err.message);
	fuzz_check(again.count == file->settings.count, "as many settings");
	fuzz_check(again.count == after->count, "as many as were said");
	for (size_t i = 0; i < again.count; i++) {
		fuzz_check(strcmp(again.items[i].key,
				  file->settings.items[i].key) == 0,
			   "the same keys");
		fuzz_check(strcmp(again.items[i].value, new_value(file, i)) ==
				   0,
			   "the values that were written, and the others");
		fuzz_check(again.items[i].is_scalar ==
				   file->settings.items[i].is_scalar,
			   "what can be written stays so");
		fuzz_check(again.items[i].start == after->items[i].start &&
				   again.items[i].end == after->items[i].end &&
				   again.items[i].line == after->items[i].line,
			   "they are where it was said");
	}
	settings_release(&again);
}

/*
 * A number can be written; but of a key that is there twice only one counts,
 * and of JSON there are two readers.
 */
static bool must_change(const struct file *file, const struct setting *item)
{
	const struct settings *settings = &file->settings;
	json_t *json;

	for (size_t i = 0; i < settings->count; i++)
		if (&settings->items[i] != item &&
		    strcmp(settings->items[i].key, item->key) == 0)
			return false;
	if (file->format != SETTINGS_JSON)
		return true;
	json = json_loadb(file->text, file->length,
			  JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	json_decref(json);
	return json != NULL;
}

static void change(struct file *file)
{
	struct settings after = { 0 };
	struct error err = ERROR_INIT;
	int result;

	strbuf_adds(&file->out, "!");
	result = settings_change(&file->out, &file->settings, file->text,
				 file->length, file->edits, file->edit_count,
				 &after, &err);
	if (result < 0) {
		settings_release(&after);
		fuzz_check(file->out.length == 1, "nothing is appended");
		fuzz_check(*err.message, "refused with words");
		for (size_t i = 0; i < file->edit_count; i++)
			if (!must_change(file, file->edits[i].setting))
				return;
		fuzz_fail("a number can be written", err.message);
	}
	fuzz_check(file->out.data[0] == '!', "it is appended");
	file->out.length--;
	memmove(file->out.data, file->out.data + 1, file->out.length + 1);
	check_bytes(file);
	check_again(file, &after);
	settings_release(&after);
}

/* As a size is written. */
static bool is_count(const char *value)
{
	size_t length = strlen(value);

	return length > 0 && length < 18 && *value != '0' &&
	       strspn(value, "0123456789") == length;
}

static void use(struct file *file, unsigned chance)
{
	struct settings_edit same;

	check_settings(file);
	(void)settings_has_references(&file->settings, file->text,
				      file->length);
	choose_edits(file, chance);
	change(file);
	if (!file->edit_count)
		return;
	/* What it has already changes nothing. */
	same = (struct settings_edit){ file->edits[0].setting,
				       file->edits[0].setting->value };
	if (!is_count(same.value) || !must_change(file, same.setting))
		return;
	strbuf_reset(&file->out);
	fuzz_check(settings_change(&file->out, &file->settings, file->text,
				   file->length, &same, 1, NULL, NULL) == 0,
		   "its own value can be written");
	file->edits[0] = same;
	file->edit_count = 1;
	check_bytes(file);
}

void fuzz_one(const char *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct file file = { 0 };
	struct error err = ERROR_INIT;
	unsigned chance;
	char *text;

	file.format = (enum settings_format)(fuzz_byte(&input) % FORMATS);
	chance = fuzz_byte(&input);
	text = fuzz_copy(input, false);
	file.text = text;
	file.length = input.size;
	if (settings_read(&file.settings, file.format, "file", text,
			  file.length, &err) < 0)
		fuzz_check(err.code < 0 && *err.message, "refused with words");
	else
		use(&file, chance);
	settings_release(&file.settings);
	strbuf_release(&file.out);
	free(text);
}
