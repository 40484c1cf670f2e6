/* `autofit presets`: the frameworks whose options are known. */
/* SPDX-License-Identifier: MIT */
#include "launcher/presets.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/files/builtin.h"
#include "configs/files/paths.h"
#include "launcher/command/text/text.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/json.h"
#include "launcher/report/report_answer.h"
#include "launcher/report/report_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NEAR_MAX 5
/* Names that differ in so many letters are no slips of each other. */
#define FAR 3

static bool is_replaced(const char *name)
{
	char *path = xasprintf(PRESETS_BUILTIN "%s.ini", name);
	bool is_builtin = builtin_find(path) != NULL;

	free(path);
	return is_builtin;
}

static void add_safe_cell(struct strlist *cells, const char *text)
{
	struct strbuf safe = STRBUF_INIT;

	text_add_safe(&safe, text, false);
	strlist_add(cells, strbuf_text(&safe));
	strbuf_release(&safe);
}

/* A line for each: name, description, where it comes from. */
static void presets_list(struct strbuf *out, const struct presets *presets)
{
	struct strlist cells = STRLIST_INIT;

	for (size_t i = 0; i < presets->count; i++) {
		const struct preset *preset = &presets->items[i];
		struct strbuf origin = STRBUF_INIT;

		add_safe_cell(&cells, preset->name);
		add_safe_cell(&cells, preset->description);
		strbuf_adds(&origin, preset->path ? preset->path : "built in");
		if (preset->path && is_replaced(preset->name))
			strbuf_adds(&origin, ", replaces the built-in one");
		add_safe_cell(&cells, strbuf_text(&origin));
		strbuf_release(&origin);
	}
	report_columns_print(
		out, &(struct report_columns){ .cells = &cells, .count = 3 });
	strlist_release(&cells);
}

static json_t *value_json(const struct ini_key *key,
			  const struct preset *preset)
{
	const void *place = (const char *)preset + key->offset;

	switch (key->kind) {
	case INI_LIST:
	case INI_WORDS:
		return json_texts(place);
	case INI_TEXT:
	case INI_LINES:
	case INI_CHOICE:
		return json_text(*(char *const *)place);
	case INI_COUNT:
		return json_count(*(const int64_t *)place);
	case INI_SWITCH:
		return json_boolean(*(const bool *)place);
	case INI_WORD:
		return json_text(key->words[*(const unsigned *)place]);
	}
	return json_null();
}

static json_t *preset_json(const struct preset *preset)
{
	json_t *root = json_checked(json_object());
	json_t *section = root; /* the keys of [preset] are its own */

	json_put(root, "name", json_text(preset->name));
	json_put(root, "origin", json_text(preset->path ? "user" : "built_in"));
	json_put(root, "path", json_text(preset->path));
	json_put(root, "replaces_built_in",
		 json_boolean(preset->path && is_replaced(preset->name)));
	for (const struct ini_key *key = preset_keys; key->name; key++) {
		if (key != preset_keys &&
		    strcmp(key->section, key[-1].section) != 0) {
			section = json_checked(json_object());
			json_put(root, key->section, section);
		}
		json_put(section, key->name, value_json(key, preset));
	}
	return root;
}

/* autofit.presets/1; only: one of them, NULL: all. */
static void presets_json(struct strbuf *out, const struct presets *presets,
			 const struct preset *only)
{
	json_t *root = json_checked(json_object());
	json_t *array = json_checked(json_array());

	json_put(root, "schema", json_text("autofit.presets/1"));
	for (size_t i = 0; i < presets->count; i++)
		if (!only || only == &presets->items[i])
			json_append(array, preset_json(&presets->items[i]));
	json_put(root, "presets", array);
	json_write(out, root, JSON_INDENT(2));
}

/* A slip, a part of its name, or a word of what it is. */
static bool is_near(const struct preset *preset, const char *name)
{
	return text_distance(preset->name, name) < FAR ||
	       strcasestr(preset->name, name) ||
	       strcasestr(name, preset->name) ||
	       strcasestr(preset->description, name);
}

/* Those whose names are near that of none, and where all are listed. */
static void presets_unknown(const struct presets *presets, const char *name,
			    struct error *err)
{
	struct strbuf near = STRBUF_INIT;
	size_t count = 0;

	for (size_t i = 0; *name && i < presets->count && count < NEAR_MAX;
	     i++) {
		if (!is_near(&presets->items[i], name))
			continue;
		strbuf_addf(&near, "%s%s", count++ ? ", " : "",
			    presets->items[i].name);
	}
	if (count)
		(void)error_set(err, -ENOENT,
				"there is no preset %.64s; near it: %s", name,
				strbuf_text(&near));
	else
		(void)error_set(err, -ENOENT,
				"there is no preset %.64s: autofit presets "
				"lists them",
				name);
	strbuf_release(&near);
}

static int load(struct presets *presets, const struct strlist *environment,
		struct error *err)
{
	struct paths paths;
	int result = paths_find(&paths, environment, err);
	char *folder;

	if (result == 0) {
		folder = xasprintf("%s/presets", paths.config);
		result = presets_load(presets, folder, err);
		free(folder);
		if (result == 0)
			presets_read_all(presets);
	}
	paths_release(&paths);
	return result;
}

static int presets_answer(const struct options *options,
			  const struct presets *presets,
			  const struct preset *only)
{
	struct strbuf text = STRBUF_INIT;
	struct strbuf json = STRBUF_INIT;
	int code;

	if (only)
		strbuf_adds(&text, only->text);
	else
		presets_list(&text, presets);
	if (options->output.json)
		presets_json(&json, presets, only);
	code = report_answer(options, &text, &json);
	strbuf_release(&text);
	strbuf_release(&json);
	return code;
}

int presets_command(const struct options *options,
		    const struct strlist *environment)
{
	struct presets presets = { .items = NULL };
	const struct preset *only = NULL;
	struct error err = ERROR_INIT;
	int result = load(&presets, environment, &err);
	int code = EXIT_AUTOFIT_FAILED;

	if (result == 0 && options->preset_name) {
		only = presets_find(&presets, options->preset_name);
		if (!only) {
			presets_unknown(&presets, options->preset_name, &err);
			result = -ENOENT;
		}
	}
	if (result < 0)
		log_error("%s", err.message);
	else
		code = presets_answer(options, &presets, only);
	presets_release(&presets);
	return code;
}
