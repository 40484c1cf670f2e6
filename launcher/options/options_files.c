/* Options files of project, user and site, found and read. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_files.h"

#include "base/alloc.h"
#include "configs/files/owned_file.h"
#include "configs/files/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROJECT_FILE ".autofit.ini"
#define FILE_NAME "autofit.ini"

/* Who may have written what counts for this user. */
static struct owners owners_of_folder(const char *folder)
{
	struct owners owners = { .uids = { geteuid(), 0 }, .count = 2 };
	struct stat info;

	if (stat(folder, &info) == 0)
		owners.uids[owners.count++] = info.st_uid;
	return owners;
}

static bool is_foreign(int fd)
{
	struct stat info;

	return fstat(fd, &info) < 0 ||
	       (info.st_uid != geteuid() && info.st_uid != 0);
}

/* 1 when it is there and counts, 0 when it is missing, else -errno. */
static int read_file(struct options_file *file, struct strbuf *text,
		     const char *folder, struct error *err)
{
	const struct owners owners = owners_of_folder(folder);
	int fd = owned_file_open(file->path, &owners, err);
	int result;

	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR ? 0 : fd;
	file->foreign = is_foreign(fd);
	result = owned_file_read(fd, file->path, OPTIONS_FILE_BYTES_MAX, text,
				 err);
	if (result > 0)
		return error_set(err, -EFBIG,
				 "cannot use %s: it is larger than %zu KiB",
				 file->path, OPTIONS_FILE_BYTES_MAX >> 10);
	file->text = strbuf_text(text);
	file->length = text->length;
	return result < 0 ? result : 1;
}

/* Takes path. */
static struct options_file *add_file(struct options_files_read *files,
				     char *path, const char *folder,
				     struct strlist *warnings)
{
	struct options_file *file = &files->items[files->count];
	struct strbuf *text = &files->texts[files->count];
	struct error err = ERROR_INIT;
	int result;

	file->path = path;
	result = read_file(file, text, folder, &err);
	if (result == 1) {
		files->paths[files->count++] = path;
		return file;
	}
	if (result < 0)
		strlist_addf(warnings, "%s (passed over)", err.message);
	strbuf_release(text);
	memset(file, 0, sizeof(*file));
	free(path);
	return NULL;
}

/*
 * Without variables that paths_find would warn of: it is asked again by what
 * runs later, and before the log level is known.
 */
static int find_paths(struct paths *paths, const struct strlist *environment)
{
	static const char *const names[] = { "AUTOFIT_HOME", "AUTOFIT_SITE" };
	struct strlist copy = STRLIST_INIT;
	int result;

	strlist_add_all(&copy, (const char *const *)environment->items,
			environment->count);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = strlist_env_get(&copy, names[i]);

		if (value && value[0] != '/')
			strlist_env_unset(&copy, names[i]);
	}
	result = paths_find(paths, &copy, NULL);
	strlist_release(&copy);
	return result;
}

void options_files_read(struct options_files_read *files,
			const struct strlist *environment,
			struct strlist *warnings)
{
	struct options_file *file;
	struct paths paths;

	memset(files, 0, sizeof(*files));
	(void)add_file(files, xstrdup(PROJECT_FILE), ".", warnings);
	/* Whoever needs a home folder says later that there is none. */
	if (find_paths(&paths, environment) < 0)
		return;
	(void)add_file(files, xasprintf("%s/" FILE_NAME, paths.config),
		       paths.config, warnings);
	if (paths.site) {
		file = add_file(files, xasprintf("%s/" FILE_NAME, paths.site),
				paths.site, warnings);
		/* The user himself has named the site. */
		if (file)
			file->foreign = false;
	}
	paths_release(&paths);
}

void options_files_release(struct options_files_read *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->paths[i]);
		strbuf_release(&files->texts[i]);
	}
	memset(files, 0, sizeof(*files));
}
