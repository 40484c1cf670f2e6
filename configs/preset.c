/* How a framework takes its batch size: one INI file per framework. */
/* SPDX-License-Identifier: MIT */
#include "configs/preset.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "base/units.h"
#include "configs/builtin.h"
#include "configs/ini.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PRESET_FILE_MAX ((size_t)256 * 1024)
#define BUILTIN_FOLDER "configs/presets/"
#define GENERIC "generic"

enum key_kind { KEY_LIST, KEY_TEXT, KEY_COUNT, KEY_SWITCH, KEY_SCOPE };

/* Where a key of a section goes: one row per key. */
struct key {
	const char *section;
	const char *name;
	enum key_kind kind;
	size_t offset;
};

#define ROW(section, name, kind, member)                                       \
	{                                                                      \
		section, name, kind, offsetof(struct preset, member)           \
	}
#define EXAMPLE_ROW(name, kind, member)                                        \
	{                                                                      \
		"", name, kind, offsetof(struct preset_example, member)        \
	}
#define KNOB_ROW(section, name, kind, knob, member)                            \
	{                                                                      \
		section, name, kind,                                           \
			offsetof(struct preset, knob) +                        \
				offsetof(struct preset_knob, member)           \
	}
#define KNOB_ROWS(section, knob)                                               \
	KNOB_ROW(section, "name", KEY_LIST, knob, names),                      \
		KNOB_ROW(section, "scope", KEY_SCOPE, knob, scope),            \
		KNOB_ROW(section, "default", KEY_COUNT, knob, default_value),  \
		KNOB_ROW(section, "joined_only", KEY_SWITCH, knob,             \
			 joined_only),                                         \
		KNOB_ROW(section, "bare", KEY_SWITCH, knob, bare)

static const struct key preset_keys[] = {
	ROW("preset", "description", KEY_TEXT, description),
	ROW("probe", "real_accum", KEY_SWITCH, memory_grows_with_accum),
	ROW("recognise", "script", KEY_LIST, scripts),
	ROW("recognise", "module", KEY_LIST, modules),
	ROW("recognise", "flag", KEY_LIST, flags),
	ROW("recognise", "source", KEY_LIST, sources),
	KNOB_ROWS("micro", micro),
	KNOB_ROWS("accum", accum),
	KNOB_ROWS("global", global),
	KNOB_ROWS("steps", steps),
	KNOB_ROWS("output", output),
	ROW("output", "keep_with", KEY_LIST, output_keep_with),
	ROW("syntax", "decoy", KEY_LIST, decoys),
	ROW("syntax", "config", KEY_LIST, config_tokens),
	ROW("syntax", "later_config_wins", KEY_SWITCH, later_config_wins),
	ROW("syntax", "abbreviations", KEY_SWITCH, abbreviations),
	ROW("syntax", "defaults_in_source", KEY_SWITCH, defaults_in_source),
	ROW("syntax", "neutral", KEY_LIST, neutral_args),
	ROW("world", "visible_devices", KEY_SWITCH, uses_visible_devices),
	ROW("world", "devices", KEY_LIST, device_flags),
	ROW("world", "nodes", KEY_LIST, node_flags),
	ROW("probe", "arg", KEY_LIST, probe_args),
	ROW("probe", "drop", KEY_LIST, probe_drop),
	ROW("probe", "env", KEY_LIST, probe_env),
	ROW("probe", "not_exercised", KEY_LIST, not_exercised),
	ROW("log", "step", KEY_LIST, step_patterns),
	ROW("log", "ignore", KEY_LIST, step_ignore),
	{ .name = NULL },
};

static const struct key example_keys[] = {
	EXAMPLE_ROW("command", KEY_TEXT, command),
	EXAMPLE_ROW("expected", KEY_TEXT, expected),
	EXAMPLE_ROW("source", KEY_TEXT, source),
	EXAMPLE_ROW("micro", KEY_COUNT, micro_batch),
	EXAMPLE_ROW("accum", KEY_COUNT, grad_accum),
	EXAMPLE_ROW("effective", KEY_COUNT, effective_batch),
	{ .name = NULL },
};

static const struct key *key_find(const struct key *keys, const char *section,
				  const char *name)
{
	for (; keys->name; keys++)
		if (strcmp(keys->section, section) == 0 &&
		    strcmp(keys->name, name) == 0)
			return keys;
	return NULL;
}

/* Continuation lines of a text are joined by blanks. */
static void text_append(char **text, const char *more)
{
	char *joined = *text ? xasprintf("%s %s", *text, more) : xstrdup(more);

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

static int key_set(const struct key *key, void *object, const char *value,
		   struct error *err)
{
	void *place = (char *)object + key->offset;

	if (*value == '\0')
		return error_set(err, -EINVAL, "%s has no value", key->name);
	switch (key->kind) {
	case KEY_LIST:
		strlist_add(place, value);
		return 0;
	case KEY_TEXT:
		text_append(place, value);
		return 0;
	case KEY_COUNT:
		return count_set(place, key->name, value, err);
	case KEY_SWITCH:
		return switch_set(place, key->name, value, err);
	case KEY_SCOPE:
		return scope_set(place, value, err);
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

static int on_entry(void *context, const struct ini_entry *entry,
		    struct error *err)
{
	static const char prefix[] = "example ";
	struct preset *preset = context;
	const struct key *key;
	void *object = preset;

	if (strncmp(entry->section, prefix, strlen(prefix)) == 0) {
		key = key_find(example_keys, "", entry->key);
		object = example_find(preset, entry->section + strlen(prefix));
	} else {
		key = key_find(preset_keys, entry->section, entry->key);
	}
	if (!key)
		return error_set(err, -EINVAL, "[%s] has no key %s",
				 entry->section, entry->key);
	return key_set(key, object, entry->value, err);
}

/* Free what the keys of a table have set in an object. */
static void keys_release(const struct key *keys, void *object)
{
	for (; keys->name; keys++) {
		void *place = (char *)object + keys->offset;

		if (keys->kind == KEY_LIST)
			strlist_release(place);
		else if (keys->kind == KEY_TEXT || keys->kind == KEY_SCOPE)
			free(*(char **)place);
	}
}

static void preset_release(struct preset *preset)
{
	keys_release(preset_keys, preset);
	for (size_t i = 0; i < preset->example_count; i++) {
		keys_release(example_keys, &preset->examples[i]);
		free(preset->examples[i].name);
	}
	free(preset->examples);
	free(preset->name);
	*preset = (struct preset){ 0 };
}

static int preset_check(const struct preset *preset, const char *file,
			struct error *err)
{
	if (!preset->description)
		return error_set(err, -EINVAL,
				 "%s: [preset] has no description", file);
	if (preset->micro.names.count == 0)
		return error_set(err, -EINVAL, "%s: [micro] has no name", file);
	for (size_t i = 0; i < preset->example_count; i++) {
		const struct preset_example *example = &preset->examples[i];

		if (!example->command || !example->expected ||
		    example->micro_batch < 1 || example->grad_accum < 1)
			return error_set(err, -EINVAL,
					 "%s: [example %s] needs command, "
					 "expected, micro and accum",
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

int presets_add(struct presets *presets, const char *name, const char *text,
		size_t length, struct error *err)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	const char *suffix = strrchr(base, '.');
	struct preset preset = { 0 };
	int result;

	preset.name = suffix ? xstrndup(base, (size_t)(suffix - base))
			     : xstrdup(base);
	result = ini_read(name, text, length, on_entry, &preset, err);
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
	const size_t length = strlen(BUILTIN_FOLDER);
	int result = 0;

	for (const struct builtin_file *file = builtin_files;
	     file->path && result == 0; file++)
		if (strncmp(file->path, BUILTIN_FOLDER, length) == 0)
			result = presets_add(presets, file->path, file->data,
					     file->size, err);
	return result;
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
