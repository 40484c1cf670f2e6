/* How a framework takes its batch size: one INI file per framework. */
/* SPDX-License-Identifier: MIT */
#include "configs/presets/preset.h"

#include "base/alloc.h"
#include "configs/files/ini.h"
#include "configs/files/ini_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GENERIC "generic"

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

/* An ini_entry_cb. */
static int preset_on_entry(void *context, const struct ini_entry *entry,
			   struct error *err)
{
	static const char prefix[] = "example ";
	struct preset *preset = context;
	const struct ini_key *key;
	void *object = preset;

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
	return ini_key_set(key, object, entry, err);
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
	int order =
		(strcmp(first, GENERIC) == 0) - (strcmp(second, GENERIC) == 0);

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
	presets->items = xrealloc(presets->items, presets->count + 1,
				  sizeof(*presets->items));
	presets->items[presets->count++] = *preset;
	qsort(presets->items, presets->count, sizeof(*presets->items),
	      preset_by_name);
}

static int preset_read_text(struct preset *preset, const char *name,
			    const char *text, size_t length, struct error *err)
{
	return ini_read(name, text, length, preset_on_entry, preset, err);
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
	result = preset_read_text(&whole, name, base->text, strlen(base->text),
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

int presets_add(struct presets *presets, const struct ini_file *file,
		struct error *err)
{
	struct preset preset = { .name = xstrdup(file->name),
				 .text = xstrndup(file->text, file->length) };
	int result = preset_read_text(&preset, file->path, file->text,
				      file->length, err);

	if (result == 0 && preset.extends)
		result = read_extended(presets, &preset, file->path, err);
	if (result == 0)
		result = preset_check(&preset, file->path, err);
	if (result < 0) {
		preset_release(&preset);
		return result;
	}
	if (file->is_users)
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

int presets_load(struct presets *presets, const char *folder, struct error *err)
{
	const struct preset *generic;
	int result;

	*presets = (struct presets){ 0 };
	result = ini_files_read(PRESETS_BUILTIN, folder, preset_on_file,
				presets, err);
	if (result < 0)
		return result;
	generic = presets_find(presets, GENERIC);
	if (!generic)
		return error_set(err, -ENOENT, "the preset generic is missing");
	for (size_t i = 0; i + 1 < presets->count; i++) {
		add_all(&presets->items[i].knobs.decoys,
			&generic->knobs.decoys);
		add_all(&presets->items[i].words.neutral_args,
			&generic->words.neutral_args);
	}
	return 0;
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
