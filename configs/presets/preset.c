/* How a framework takes its batch size: one INI file per framework. */
/* SPDX-License-Identifier: MIT */
#include "configs/presets/preset.h"

#include "base/alloc.h"
#include "configs/files/ini.h"
#include "configs/files/ini_files.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct preset_example *example_find(struct preset *preset,
					   const char *name)
{
	struct preset_example *example;

	for (size_t i = 0; i < preset->example_count; i++)
		if (strcmp(preset->examples[i].name, name) == 0)
			return &preset->examples[i];
	preset->examples = xrealloc(preset->examples, preset->example_count + 1,
				    sizeof(*preset->examples));
	example = &preset->examples[preset->example_count++];
	*example = (struct preset_example){ .name = xstrdup(name) };
	return example;
}

/* Where an indented line goes on. */
struct preset_reading {
	struct preset *preset;
	const struct ini_key *key;
	void *object;
};

/* An ini_entry_cb. */
static int preset_on_entry(void *context, const struct ini_entry *entry,
			   struct error *err)
{
	static const char prefix[] = "example ";
	struct preset_reading *reading = context;
	struct preset *preset = reading->preset;
	const struct ini_key *key;
	void *object = preset;

	if (entry->continues)
		return ini_key_set(reading->key, reading->object, entry, err);
	if (strncmp(entry->section, prefix, strlen(prefix)) == 0) {
		key = ini_key_find(preset_example_keys, "example NAME",
				   entry->key);
		object = example_find(preset, entry->section + strlen(prefix));
	} else {
		key = ini_key_find(preset_keys, entry->section, entry->key);
	}
	if (!key)
		return error_set(err, -EINVAL, "[%s] has no key %s",
				 entry->section, entry->key);
	reading->key = key;
	reading->object = object;
	return ini_key_set(key, object, entry, err);
}

/* An error names the file. */
static int preset_read_text(struct preset *preset, const char *file,
			    const char *text, size_t length, struct error *err)
{
	struct preset_reading reading = { .preset = preset };

	return ini_read(file, text, length, preset_on_entry, &reading, err);
}

static void preset_release(struct preset *preset)
{
	ini_keys_release(preset_keys, preset);
	for (size_t i = 0; i < preset->example_count; i++) {
		ini_keys_release(preset_example_keys, &preset->examples[i]);
		free(preset->examples[i].name);
	}
	free(preset->examples);
	free(preset->text);
	free(preset->path);
	free(preset->name);
	*preset = (struct preset){ 0 };
}

static int preset_check(const struct preset *preset, const char *file,
			struct error *err)
{
	if (!preset->description)
		return error_set(err, -EINVAL,
				 "%s: [preset] has no description", file);
	if (preset->knobs.micro.names.count == 0 &&
	    preset->knobs.micro.keys.count == 0)
		return error_set(err, -EINVAL,
				 "%s: [micro] has no name and no key", file);
	for (size_t i = 0; i < preset->example_count; i++) {
		const struct preset_example *example = &preset->examples[i];

		bool is_whole = example->expected && example->micro_batch > 0 &&
				example->grad_accum > 0;

		if (!example->command || (!is_whole && !example->refused))
			return error_set(err, -EINVAL,
					 "%s: [example %s] needs command, and "
					 "refused or expected, micro and accum",
					 file, example->name);
	}
	return 0;
}

/* generic matches whatever is left, so it comes last. */
static int preset_by_name(const void *a, const void *b)
{
	const char *first = ((const struct preset *)a)->name;
	const char *second = ((const struct preset *)b)->name;
	int order = (strcmp(first, PRESET_GENERIC) == 0) -
		    (strcmp(second, PRESET_GENERIC) == 0);

	return order ? order : strcmp(first, second);
}

static void preset_keep(struct presets *presets, const struct preset *preset)
{
	for (size_t i = 0; i < presets->count; i++) {
		if (strcmp(presets->items[i].name, preset->name) == 0) {
			preset_release(&presets->items[i]);
			presets->items[i] = *preset;
			return;
		}
	}
	presets->items = xgrow(presets->items, presets->count,
			       &presets->capacity, sizeof(*presets->items));
	presets->items[presets->count++] = *preset;
}

/* The examples of a built-in one, its end, are read by tests only. */
static size_t preset_read_length(const char *text, size_t length, bool is_users)
{
	static const char mark[] = "\n[example ";
	const char *end =
		is_users ? NULL : memmem(text, length, mark, strlen(mark));

	return end ? (size_t)(end - text) + 1 : length;
}

/* The base is read first, so that this one adds to it and replaces. */
static int read_extended(const struct presets *presets, struct preset *preset,
			 const char *name, struct error *err)
{
	const struct preset *base = presets_find(presets, preset->extends);
	struct preset whole = { .name = xstrdup(preset->name) };
	int result;

	if (!base || base->extends) {
		free(whole.name);
		return error_set(err, -EINVAL, "%s: extends = %s: %s", name,
				 preset->extends,
				 base ? "that one extends another itself"
				      : "there is no such preset");
	}
	result = preset_read_text(&whole, name, base->text,
				  preset_read_length(base->text,
						     strlen(base->text),
						     base->path != NULL),
				  err);
	if (result == 0)
		result = preset_read_text(&whole, name, preset->text,
					  strlen(preset->text), err);
	whole.text = preset->text;
	preset->text = NULL;
	preset_release(preset);
	*preset = whole;
	return result;
}

/* Of a built-in one only its name and signs, which come before [micro]. */
static int read_beginning(struct preset *preset, const struct ini_file *file,
			  struct error *err)
{
	static const char mark[] = "\n[micro]";
	const char *end = memmem(file->text, file->length, mark, strlen(mark));
	size_t length = end ? (size_t)(end - file->text) + 1 : file->length;

	preset->unread = preset->text + length;
	return preset_read_text(preset, file->path, preset->text, length, err);
}

static void read_rest(struct preset *preset)
{
	const char *rest = preset->unread;
	struct error err = ERROR_INIT;
	int result = 0;

	preset->unread = NULL;
	if (rest)
		result = preset_read_text(
			preset, preset->name, rest,
			preset_read_length(rest, strlen(rest), false), &err);
	if (result == 0)
		result = preset_check(preset, preset->name, &err);
	/* Tests read each of them. */
	assert(result == 0);
	(void)result;
}

int presets_add(struct presets *presets, const struct ini_file *file,
		struct error *err)
{
	struct preset preset = { .name = xstrdup(file->name),
				 .text = xstrndup(file->text, file->length) };
	int result;

	if (!file->is_users) {
		result = read_beginning(&preset, file, err);
		if (result < 0)
			preset_release(&preset);
		else
			preset_keep(presets, &preset);
		return result;
	}
	result = preset_read_text(&preset, file->path, file->text, file->length,
				  err);
	if (result == 0 && preset.extends)
		result = read_extended(presets, &preset, file->path, err);
	if (result == 0)
		result = preset_check(&preset, file->path, err);
	if (result < 0) {
		preset_release(&preset);
		return result;
	}
	preset.path = xstrdup(file->path);
	preset_keep(presets, &preset);
	return 0;
}

/* An ini_file_cb. */
static int preset_on_file(void *context, const struct ini_file *file,
			  struct error *err)
{
	return presets_add(context, file, err);
}

static void add_all(struct strlist *list, const struct strlist *more)
{
	strlist_add_all(list, (const char *const *)more->items, more->count);
}

/* What holds for every preset. */
static void add_usual(struct preset *preset, const struct preset *generic)
{
	add_all(&preset->knobs.decoys, &generic->knobs.decoys);
	add_all(&preset->words.neutral_args, &generic->words.neutral_args);
}

int presets_load(struct presets *presets, const char *folder, struct error *err)
{
	const struct preset *generic;
	int result;

	*presets = (struct presets){ 0 };
	result = ini_files_read(PRESETS_BUILTIN, folder, preset_on_file,
				presets, err);
	if (result < 0)
		return result;
	qsort(presets->items, presets->count, sizeof(*presets->items),
	      preset_by_name);
	generic = presets_find(presets, PRESET_GENERIC);
	if (!generic)
		return error_set(err, -ENOENT, "the preset generic is missing");
	generic = presets_whole(presets, generic);
	for (size_t i = 0; i + 1 < presets->count; i++)
		if (!presets->items[i].unread)
			add_usual(&presets->items[i], generic);
	return 0;
}

const struct preset *presets_whole(const struct presets *presets,
				   const struct preset *preset)
{
	size_t last = presets->count - 1;
	size_t i = (size_t)(preset - presets->items);

	if (!preset->unread)
		return preset;
	read_rest(&presets->items[i]);
	if (i < last)
		add_usual(&presets->items[i], &presets->items[last]);
	return preset;
}

void presets_read_all(const struct presets *presets)
{
	for (size_t i = 0; i < presets->count; i++)
		(void)presets_whole(presets, &presets->items[i]);
}

const struct preset *presets_find(const struct presets *presets,
				  const char *name)
{
	for (size_t i = 0; i < presets->count; i++)
		if (strcmp(presets->items[i].name, name) == 0)
			return &presets->items[i];
	return NULL;
}

void presets_release(struct presets *presets)
{
	for (size_t i = 0; i < presets->count; i++)
		preset_release(&presets->items[i]);
	free(presets->items);
	*presets = (struct presets){ 0 };
}
