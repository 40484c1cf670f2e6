/* The user's own config file with a record's sizes in it, comments kept. */
/* SPDX-License-Identifier: MIT */
/*
 * The record says which keys of which file are sizes and what they were. The
 * file is read again, here and now: it may have been edited since, so that a
 * key that is gone, or says something else than it did, is an error and never
 * a guess.
 */
#include "launcher/records/export_formats.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/textfile.h"
#include "configs/settings/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "conf/train.yaml" of "conf/train.yaml:12"; NULL: it is no place in a file. */
static char *file_of(const char *where)
{
	const char *colon = where ? strrchr(where, ':') : NULL;

	if (!colon || colon == where || !colon[1] ||
	    colon[1 + strspn(colon + 1, "0123456789")])
		return NULL;
	return xstrndup(where, (size_t)(colon - where));
}

/* Is it a config, and YAML where only that is wanted? */
static bool export_is_wanted(const char *path, bool only_yaml)
{
	enum settings_format format;

	return settings_format_of(path, &format) &&
	       (!only_yaml || format == SETTINGS_YAML);
}

/* The first file that the record names; NULL: none. The caller frees. */
static char *config_of(const struct record_settings *settings, bool only_yaml)
{
	char *found = NULL;

	for (size_t i = 0; i < settings->count; i++) {
		char *path = file_of(settings->items[i].where);

		if (path && !found && export_is_wanted(path, only_yaml)) {
			found = path;
			continue;
		}
		if (path && found && strcmp(path, found) != 0)
			log_warning("%s has sizes too: %s is to be %s there",
				    path, settings->items[i].name,
				    settings->items[i].value);
		free(path);
	}
	return found;
}

static bool is_integer(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* The setting of this key with its old value, or the new one already. */
static const struct setting *setting_there(const struct settings *there,
					   const struct record_setting *wanted)
{
	const struct setting *found = NULL;

	for (size_t i = 0; i < there->count; i++) {
		const struct setting *setting = &there->items[i];

		if (strcmp(setting->key, wanted->name) != 0 ||
		    !setting->is_scalar)
			continue;
		if ((wanted->was && strcmp(setting->value, wanted->was) == 0) ||
		    strcmp(setting->value, wanted->value) == 0)
			found = setting;
	}
	return found;
}

struct config_edits {
	struct settings_edit items[RECORD_SETTINGS_MAX];
	size_t count;
};

static int collect_edits(struct config_edits *edits,
			 const struct record_settings *settings,
			 const struct settings *there, const char *path,
			 struct error *err)
{
	for (size_t i = 0; i < settings->count; i++) {
		const struct record_setting *wanted = &settings->items[i];
		char *file = file_of(wanted->where);
		bool is_here = file && wanted->name && wanted->value &&
			       is_integer(wanted->value) &&
			       strcmp(file, path) == 0;
		const struct setting *setting;

		free(file);
		if (!is_here)
			continue;
		setting = setting_there(there, wanted);
		if (!setting)
			return error_set(err, -ESTALE,
					 "%s has changed: there is no %s: %s "
					 "in it; tune the command again",
					 path, wanted->name,
					 wanted->was ? wanted->was : "?");
		if (strcmp(setting->value, wanted->value) != 0)
			edits->items[edits->count++] = (struct settings_edit){
				.setting = setting, .value = wanted->value
			};
	}
	return 0;
}

static int patch(const struct record_settings *settings, const char *path,
		 struct strbuf *out, struct error *err)
{
	struct config_edits edits = { .count = 0 };
	struct settings there = { 0 };
	struct strbuf text = STRBUF_INIT;
	enum settings_format format = SETTINGS_YAML;
	int result = textfile_read(path, SETTINGS_BYTES_MAX, &text, err);

	(void)settings_format_of(path, &format);
	if (result > 0)
		result = error_set(err, -EFBIG, "%s is too large for a config",
				   path);
	if (result == 0)
		result = settings_read(&there, format, path, strbuf_text(&text),
				       text.length, err);
	if (result == 0)
		result = collect_edits(&edits, settings, &there, path, err);
	if (result == 0 && edits.count == 0)
		strbuf_add(out, strbuf_text(&text), text.length);
	else if (result == 0)
		result = settings_change(out, &there, strbuf_text(&text),
					 text.length, edits.items, edits.count,
					 NULL, err);
	settings_release(&there);
	strbuf_release(&text);
	return result;
}

static int export_file(const struct result *result, bool only_yaml,
		       struct strbuf *out, struct error *err)
{
	const struct record_settings *settings = &result->record.settings;
	char *path = config_of(settings, only_yaml);
	int code;

	if (!path)
		return error_set(err, -ENODATA,
				 "no %s file of the command says a size; "
				 "autofit export args or json tells what does",
				 only_yaml ? "YAML" : "config");
	code = patch(settings, path, out, err);
	free(path);
	return code;
}

int export_config(const struct result *result, struct strbuf *out,
		  struct error *err)
{
	return export_file(result, false, out, err);
}

int export_yaml(const struct result *result, struct strbuf *out,
		struct error *err)
{
	return export_file(result, true, out, err);
}
