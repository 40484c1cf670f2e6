/* INI files of one kind: those that are built in, then the user's. */
/* SPDX-License-Identifier: MIT */
#include "configs/files/ini_files.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/files/builtin.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INI_FILE_MAX ((size_t)256 * 1024)

/* What one call reads for. */
struct ini_reading {
	ini_file_cb *on_file;
	void *context;
	struct error *err;
};

static int hand_over(const struct ini_reading *reading, struct ini_file *file)
{
	const char *base = basename(file->path);
	const char *suffix = strrchr(base, '.');
	char *name = suffix ? xstrndup(base, (size_t)(suffix - base))
			    : xstrdup(base);
	int result;

	file->name = name;
	result = reading->on_file(reading->context, file, reading->err);
	free(name);
	return result;
}

static int ini_files_read_builtin(const struct ini_reading *reading,
				  const char *prefix)
{
	int result = 0;

	for (const struct builtin_file *file = builtin_files;
	     result == 0 && file->path; file++) {
		struct ini_file one = { .path = file->path,
					.text = file->data,
					.length = file->size };

		if (strncmp(file->path, prefix, strlen(prefix)) == 0)
			result = hand_over(reading, &one);
	}
	return result;
}

static int ini_files_read_file(const struct ini_reading *reading,
			       const char *path)
{
	struct strbuf text = STRBUF_INIT;
	int result = textfile_read(path, INI_FILE_MAX, &text, reading->err);
	struct ini_file one = { .path = path, .is_users = true };

	if (result > 0)
		result = error_set(reading->err, -EFBIG,
				   "%s: more than 256 KiB is too much", path);
	one.text = strbuf_text(&text);
	one.length = text.length;
	if (result == 0)
		result = hand_over(reading, &one);
	strbuf_release(&text);
	return result;
}

static int is_ini_file(const struct dirent *entry)
{
	const char *suffix = strrchr(entry->d_name, '.');

	return suffix && suffix != entry->d_name && strcmp(suffix, ".ini") == 0;
}

static int ini_files_read_folder(const struct ini_reading *reading,
				 const char *folder)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_ini_file, alphasort);
	int result = 0;

	if (count < 0)
		return errno == ENOENT
			       ? 0
			       : error_set_errno(reading->err, -errno,
						 "cannot read %s", folder);
	for (int i = 0; i < count; i++) {
		char *path = xasprintf("%s/%s", folder, entries[i]->d_name);

		if (result == 0)
			result = ini_files_read_file(reading, path);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return result;
}

int ini_files_read(const char *builtin, const char *folder,
		   ini_file_cb *on_file, void *context, struct error *err)
{
	const struct ini_reading reading = { on_file, context, err };
	int result = ini_files_read_builtin(&reading, builtin);

	return result == 0 && folder ? ini_files_read_folder(&reading, folder)
				     : result;
}
