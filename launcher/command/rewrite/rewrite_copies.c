/* Copies of config files with other sizes in them. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/rewrite/rewrite_internal.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

#define EDITS_MAX 64

/* The new values of one file's settings; the caller frees them. */
static size_t edits_of(const struct command *command,
		       const struct command_values *values, size_t file,
		       struct settings_edit edits[EDITS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < command->site_count && count < EDITS_MAX; i++) {
		const struct command_site *site = &command->sites[i];
		char *value;

		if (site->file != file)
			continue;
		value = knob_new_value(command, site->kind, values);
		if (!value)
			continue;
		edits[count++] = (struct settings_edit){
			.setting = &command->files[file]
					    .settings->items[site->setting],
			.value = value,
		};
	}
	return count;
}

static char *make_path(const struct command_file *file, const char *text,
		       size_t length, const char *copies)
{
	const char *base = basename(file->read->path);
	int folder = (int)(base - file->read->path);
	unsigned long long hash = hash_bytes(text, length);

	if (copies && (file->is_template ||
		       !settings_has_references(file->settings,
						strbuf_text(&file->read->text),
						file->read->text.length)))
		return xasprintf("%s/.autofit-%016llx-%s", copies, hash, base);
	return xasprintf("%.*s.autofit-%016llx-%s", folder, file->read->path,
			 hash, base);
}

/* Takes the text and the settings in it over. */
static void copy_add(struct rewrite *rewrite, const struct command_file *file,
		     struct strbuf *text, struct settings *settings,
		     const char *copies)
{
	struct file_copy *copy;

	rewrite->copies = xrealloc(rewrite->copies, rewrite->copy_count + 1,
				   sizeof(*rewrite->copies));
	copy = &rewrite->copies[rewrite->copy_count++];
	copy->original = xstrdup(file->read->path);
	copy->length = text->length;
	copy->path = make_path(file, strbuf_text(text), text->length, copies);
	copy->covers = false;
	copy->text = strbuf_detach(text);
	copy->settings = *settings;
	*settings = (struct settings){ .format = settings->format };
}

static int copy_make(const struct command *command,
		     const struct command_values *values, size_t index,
		     struct rewrite *rewrite, struct error *err)
{
	const struct command_file *file = &command->files[index];
	struct settings_edit edits[EDITS_MAX];
	struct settings settings = { .format = file->settings->format };
	struct strbuf text = STRBUF_INIT;
	size_t count = edits_of(command, values, index, edits);
	int result = 0;

	if (file->is_template) {
		char *filled = placeholders_replace(
			command, values, strbuf_text(&file->read->text));

		strbuf_adds(&text,
			    filled ? filled : strbuf_text(&file->read->text));
		free(filled);
	} else if (count) {
		result = settings_change(
			&text, file->settings, strbuf_text(&file->read->text),
			file->read->text.length, edits, count, &settings, err);
	}
	for (size_t i = 0; i < count; i++)
		free((char *)(uintptr_t)edits[i].value);
	if (result == 0 && text.length)
		copy_add(rewrite, file, &text, &settings, values->copies);
	settings_release(&settings);
	strbuf_release(&text);
	return result;
}

int copies_make(const struct command *command,
		const struct command_values *values, struct rewrite *rewrite,
		struct error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < command->file_count; i++)
		result = copy_make(command, values, i, rewrite, err);
	return result;
}

const char *copy_path(const struct rewrite *rewrite,
		      const struct command_file *file)
{
	for (size_t i = 0; i < rewrite->copy_count; i++)
		if (!rewrite->copies[i].covers &&
		    strcmp(rewrite->copies[i].original, file->read->path) == 0)
			return rewrite->copies[i].path;
	return NULL;
}
