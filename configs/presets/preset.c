/* How a framework takes its batch size: one INI file per framework. */
/* SPDX-License-Identifier: MIT */
#include "configs/presets/preset.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "base/units.h"
#include "configs/files/builtin.h"
#include "configs/files/ini.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PRESET_FILE_MAX ((size_t)256 * 1024)
#define GENERIC "generic"

static const char *const unit_names[] = {
	[UNIT_PLAIN] = "plain",
	[UNIT_TOKENS] = "tokens",
	[UNIT_MICRO_STEPS] = "micro_steps",
};

const char *preset_unit_name(enum preset_unit unit)
{
	return unit_names[unit];
}

static const struct preset_key *key_find(const struct preset_key *keys,
					 const char *section, const char *name)
{
	for (; keys->name; keys++)
		if (strcmp(keys->section, section) == 0 &&
		    strcmp(keys->name, name) == 0)
			return keys;
	return NULL;
}

/* Continuation lines are joined by glue; a new value replaces an old one. */
static void text_set(char **text, char glue, const char *more, bool continues)
{
	char *joined = *text && continues
			       ? xasprintf("%s%c%s", *text, glue, more)
			       : xstrdup(more);

	free(*text);
	*text = joined;
}

static int scope_set(char **scope, const char *text, struct error *err)
{
	static const char *const scopes[] = { "rank", "node", "global",
					      "total" };

	free(*scope);
	*scope = xstrdup(text);
	for (size_t i = 0; i < sizeof(scopes) / sizeof(*scopes); i++)
		if (strcmp(scopes[i], text) == 0)
			return 0;
	return error_set(err, -EINVAL,
			 "scope = %s: write rank, node, global or total", text);
}

static int unit_set(enum preset_unit *unit, const char *text, struct error *err)
{
	for (size_t i = 0; i < sizeof(unit_names) / sizeof(*unit_names); i++) {
		if (strcmp(unit_names[i], text) != 0)
			continue;
		*unit = (enum preset_unit)i;
		return 0;
	}
	return error_set(err, -EINVAL,
			 "unit = %s: write plain, tokens or micro_steps", text);
}

static int switch_set(bool *flag, const char *name, const char *text,
		      struct error *err)
{
	*flag = strcmp(text, "yes") == 0;
	if (*flag || strcmp(text, "no") == 0)
		return 0;
	return error_set(err, -EINVAL, "%s = %s: write yes or no", name, text);
}

static int count_set(int64_t *count, const char *name, const char *text,
		     struct error *err)
{
	if (integer_parse(text, count, NULL) == 0 && *count >= 0)
		return 0;
	return error_set(err, -EINVAL,
			 "%s = %s: write a whole number, 0 or more", name,
			 text);
}

static int key_set(const struct preset_key *key, void *object,
		   const char *value, bool continues, struct error *err)
{
	void *place = (char *)object + key->offset;

	if (*value == '\0')
		return error_set(err, -EINVAL, "%s has no value", key->name);
	switch (key->kind) {
	case PRESET_LIST:
		strlist_add(place, value);
		return 0;
	case PRESET_TEXT:
		text_set(place, ' ', value, continues);
		return 0;
	case PRESET_LINES:
		text_set(place, '\n', value, continues);
		return 0;
	case PRESET_COUNT:
		return count_set(place, key->name, value, err);
	case PRESET_SWITCH:
		return switch_set(place, key->name, value, err);
	case PRESET_SCOPE:
		return scope_set(place, value, err);
	case PRESET_UNIT:
		return unit_set(place, value, err);
	}
	return 0;
}

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

/* A file while it is read into a preset. */
struct reading {
	struct preset *preset;
	const struct preset_key *key; /* of the line before */
	unsigned line;
};

static int on_entry(void *context, const struct ini_entry *entry,
		    struct error *err)
{
	static const char prefix[] = "example ";
	struct reading *reading = context;
	struct preset *preset = reading->preset;
	const struct preset_key *key;
	void *object = preset;
	bool continues;

	if (strncmp(entry->section, prefix, strlen(prefix)) == 0) {
		key = key_find(preset_example_keys, "example NAME", entry->key);
		object = example_find(preset, entry->section + strlen(prefix));
	} else {
		key = key_find(preset_keys, entry->section, entry->key);
	}
	if (!key)
		return error_set(err, -EINVAL, "[%s] has no key %s",
				 entry->section, entry->key);
	continues = key == reading->key && entry->line == reading->line + 1;
	reading->key = key;
	reading->line = entry->line;
	return key_set(key, object, entry->value, continues, err);
}

/* Free what the keys of a table have set in an object. */
static void keys_release(const struct preset_key *keys, void *object)
{
	for (; keys->name; keys++) {
		void *place = (char *)object + keys->offset;

		if (keys->kind == PRESET_LIST)
			strlist_release(place);
		else if (keys->kind == PRESET_TEXT ||
			 keys->kind == PRESET_LINES ||
			 keys->kind == PRESET_SCOPE)
			free(*(char **)place);
	}
}

static void preset_release(struct preset *preset)
{
	keys_release(preset_keys, preset);
	for (size_t i = 0; i < preset->example_count; i++) {
		keys_release(preset_example_keys, &preset->examples[i]);
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
	if (preset->micro.names.count == 0 && preset->micro.keys.count == 0)
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
static int by_name(const void *a, const void *b)
{
	const char *first = ((const struct preset *)a)->name;
	const char *second = ((const struct preset *)b)->name;
	int order =
		(strcmp(first, GENERIC) == 0) - (strcmp(second, GENERIC) == 0);

	return order ? order : strcmp(first, second);
}

static void keep(struct presets *presets, const struct preset *preset)
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
	qsort(presets->items, presets->count, sizeof(*presets->items), by_name);
}

static int read_text(struct preset *preset, const char *name, const char *text,
		     size_t length, struct error *err)
{
	struct reading reading = { .preset = preset };

	return ini_read(name, text, length, on_entry, &reading, err);
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
	result = read_text(&whole, name, base->text, strlen(base->text), err);
	if (result == 0)
		result = read_text(&whole, name, preset->text,
				   strlen(preset->text), err);
	whole.text = preset->text;
	preset->text = NULL;
	preset_release(preset);
	*preset = whole;
	return result;
}

/* "hf" of ".../hf.ini" */
static char *name_of(const char *file)
{
	const char *base = basename(file);
	const char *suffix = strrchr(base, '.');

	return suffix ? xstrndup(base, (size_t)(suffix - base)) : xstrdup(base);
}

int presets_add(struct presets *presets, const char *name, const char *text,
		size_t length, struct error *err)
{
	struct preset preset = { 0 };
	int result;

	preset.name = name_of(name);
	preset.text = xstrndup(text, length);
	result = read_text(&preset, name, text, length, err);
	if (result == 0 && preset.extends)
		result = read_extended(presets, &preset, name, err);
	if (result == 0)
		result = preset_check(&preset, name, err);
	if (result < 0)
		preset_release(&preset);
	else
		keep(presets, &preset);
	return result;
}

static int load_builtin(struct presets *presets, struct error *err)
{
	const size_t length = strlen(PRESETS_BUILTIN);
	int result = 0;

	for (const struct builtin_file *file = builtin_files;
	     file->path && result == 0; file++)
		if (strncmp(file->path, PRESETS_BUILTIN, length) == 0)
			result = presets_add(presets, file->path, file->data,
					     file->size, err);
	return result;
}

/* The preset that has just been added comes from there. */
static void note_path(struct presets *presets, const char *path)
{
	char *name = name_of(path);

	for (size_t i = 0; i < presets->count; i++)
		if (strcmp(presets->items[i].name, name) == 0)
			presets->items[i].path = xstrdup(path);
	free(name);
}

static int load_file(struct presets *presets, const char *folder,
		     const char *name, struct error *err)
{
	char *path = xasprintf("%s/%s", folder, name);
	struct strbuf text = STRBUF_INIT;
	int result;

	result = textfile_read(path, PRESET_FILE_MAX, &text, err);
	if (result > 0)
		result = error_set(err, -EFBIG,
				   "%s: more than 256 KiB is no preset", path);
	if (result == 0)
		result = presets_add(presets, path, strbuf_text(&text),
				     text.length, err);
	strbuf_release(&text);
	if (result == 0)
		note_path(presets, path);
	free(path);
	return result;
}

static int is_preset_file(const struct dirent *entry)
{
	const char *suffix = strrchr(entry->d_name, '.');

	return suffix && suffix != entry->d_name && strcmp(suffix, ".ini") == 0;
}

static int load_folder(struct presets *presets, const char *folder,
		       struct error *err)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_preset_file, alphasort);
	int result = 0;

	if (count < 0)
		return errno == ENOENT
			       ? 0
			       : error_set_errno(err, -errno, "cannot read %s",
						 folder);
	for (int i = 0; i < count; i++) {
		if (result == 0)
			result = load_file(presets, folder, entries[i]->d_name,
					   err);
		free(entries[i]);
	}
	free(entries);
	return result;
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
	result = load_builtin(presets, err);
	if (result == 0 && folder)
		result = load_folder(presets, folder, err);
	if (result < 0)
		return result;
	generic = presets_find(presets, GENERIC);
	if (!generic)
		return error_set(err, -ENOENT, "the preset generic is missing");
	for (size_t i = 0; i + 1 < presets->count; i++) {
		add_all(&presets->items[i].decoys, &generic->decoys);
		add_all(&presets->items[i].neutral_args,
			&generic->neutral_args);
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
