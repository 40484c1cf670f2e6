/* The files that a command names: each is read once, whoever asks. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/named_files.h"

#include "base/alloc.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct named_file *find(const struct named_files *files,
			       const char *path)
{
	for (size_t i = 0; i < files->count; i++)
		if (strcmp(files->items[i]->path, path) == 0)
			return files->items[i];
	return files->beneath ? find(files->beneath, path) : NULL;
}

/* Where a module could stand and does not, nothing is read. */
static bool are_full(const struct named_files *files)
{
	return files->count == NAMED_PATHS_MAX ||
	       files->count - files->absent == NAMED_FILES_MAX;
}

struct named_file *named_files_get(struct named_files *files, const char *path)
{
	struct named_file *file = find(files, path);
	struct strbuf text = STRBUF_INIT;
	int error;

	if (file || are_full(files))
		return file;
	error = files->read ? files->read(files->context, path, &text) : ENOENT;
	file = named_files_add(files, path, error ? NULL : &text, error);
	strbuf_release(&text);
	return file;
}

struct named_file *named_files_get_module(struct named_files *files,
					  const char *path)
{
	struct named_file *file = find(files, path);

	if (file || files->count - files->absent >= NAMED_FILES_MAX / 2 ||
	    files->absent >= NAMED_PATHS_MAX / 2)
		return file;
	return named_files_get(files, path);
}

struct named_file *named_files_add(struct named_files *files, const char *path,
				   struct strbuf *text, int error)
{
	struct named_file *file;

	if (are_full(files))
		return NULL;
	file = xcalloc(1, sizeof(*file));
	file->path = xstrdup(path);
	file->error = error;
	files->absent += error == ENOENT;
	if (text) {
		file->text = *text;
		*text = (struct strbuf)STRBUF_INIT;
	}
	files->items[files->count++] = file;
	return file;
}

void named_files_release(struct named_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		struct named_file *file = files->items[i];

		if (!file->borrows_settings)
			settings_release(&file->settings);
		source_release(&file->source);
		strbuf_release(&file->text);
		free(file->why_not);
		free(file->path);
		free(file);
	}
	files->count = files->absent = 0;
}

const struct settings *named_file_settings(struct named_file *file,
					   enum settings_format format)
{
	const char *text = strbuf_text(&file->text);
	struct error err = ERROR_INIT;

	if (file->has_settings) {
		assert(file->settings.format == format);
		return &file->settings;
	}
	file->has_settings = true;
	if (file->error == EFBIG)
		file->why_not =
			xasprintf("%s is larger than a config", file->path);
	else if (file->error)
		file->why_not = xasprintf("cannot read %s: %s", file->path,
					  strerror(file->error));
	else if (memchr(text, '\0', file->text.length))
		file->why_not = xasprintf("%s has NUL bytes", file->path);
	else if (settings_read(&file->settings, format, file->path, text,
			       file->text.length, &err) < 0) {
		settings_release(&file->settings);
		file->why_not = xstrdup(err.message);
	}
	file->settings.format = format;
	return &file->settings;
}

const struct source *named_file_source(struct named_file *file)
{
	if (!file->has_source)
		source_read(&file->source, file->text.length
						   ? strbuf_text(&file->text)
						   : NULL);
	file->has_source = true;
	return &file->source;
}

char *path_beside(const char *file, const char *path)
{
	const char *slash = strrchr(file, '/');
	size_t length = slash ? (size_t)(slash + 1 - file) : 0;
	const char *end;

	if (*path == '/')
		length = 0;
	while (strncmp(path, "../", 3) == 0 || strncmp(path, "./", 2) == 0 ||
	       strcmp(path, "..") == 0 || strcmp(path, ".") == 0) {
		if (path[1] == '.') {
			if (length == 0 ||
			    (length >= 3 &&
			     memcmp(file + length - 3, "../", 3) == 0))
				break;
			for (length--; length > 0 && file[length - 1] != '/';)
				length--;
		}
		end = strchr(path, '/');
		path = end ? end + 1 : "";
	}
	return xasprintf("%.*s%s", (int)length, file, path);
}
