/* Copies of config files and scripts on disk, beside the originals or among the
 * state. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/config_copies.h"

#include "base/alloc.h"
#include "base/textfile.h"
#include "configs/files/paths.h"
#include "launcher/command/rewrite/rewrite.h"
#include "probes/isolation/namespaces.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_PREFIX ".autofit-"

/* It is there, whole: a record is used again. */
static bool is_written(const struct file_copy *copy)
{
	struct strbuf text = STRBUF_INIT;
	bool same =
		textfile_read(copy->path, copy->length + 1, &text, NULL) == 0 &&
		text.length == copy->length &&
		memcmp(strbuf_text(&text), copy->text, copy->length) == 0;

	strbuf_release(&text);
	return same;
}

/* The state folder may not be there yet; a user's own folder is. */
static int config_copies_make_folder(const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	int result = 0;

	if (!slash || slash == path)
		return 0;
	folder = xstrndup(path, (size_t)(slash - path));
	if (access(folder, F_OK) < 0)
		result = paths_make(folder, err);
	free(folder);
	return result;
}

static int copy_write(const struct file_copy *copy, struct error *err)
{
	struct stat info;
	mode_t mode = 0600;
	int result = config_copies_make_folder(copy->path, err);

	if (result < 0)
		return result;
	if (stat(copy->original, &info) == 0)
		mode = info.st_mode & 0777;
	result = textfile_replace(copy->path, mode, copy->text, copy->length,
				  err);
	if (result < 0)
		return error_set(err, result,
				 "the command needs a copy of %s with other "
				 "sizes, and it cannot be written: %s",
				 copy->original,
				 err ? err->message : strerror(-result));
	return 0;
}

int config_copies_write(const struct rewrite *rewrite, bool has_scripts,
			struct error *err)
{
	int result = 0;
	size_t i;

	for (i = 0; result == 0 && i < rewrite->copy_count; i++) {
		if ((rewrite->copies[i].covers && !has_scripts) ||
		    is_written(&rewrite->copies[i]))
			continue;
		result = copy_write(&rewrite->copies[i], err);
	}
	while (result < 0 && i-- > 0)
		(void)unlink(rewrite->copies[i].path);
	return result;
}

void config_copies_paths(const struct rewrite *rewrite, struct strlist *out)
{
	char folder[PATH_MAX];

	if (!getcwd(folder, sizeof(folder)))
		return;
	for (size_t i = 0; i < rewrite->copy_count; i++) {
		const char *path = rewrite->copies[i].path;

		if (*path == '/')
			strlist_add(out, path);
		else
			strlist_addf(out, "%s/%s", folder, path);
	}
}

bool config_copies_cover(const struct rewrite *rewrite)
{
	for (size_t i = 0; i < rewrite->copy_count; i++)
		if (rewrite->copies[i].covers)
			return true;
	return false;
}

void config_copies_covers(const struct rewrite *rewrite, struct strlist *out)
{
	for (size_t i = 0; i < rewrite->copy_count; i++) {
		const struct file_copy *copy = &rewrite->copies[i];
		char *real =
			copy->covers ? realpath(copy->original, NULL) : NULL;

		if (!real)
			continue;
		strlist_take(out, real);
		strlist_add(out, copy->path);
	}
}

void config_copies_remove(const struct strlist *paths)
{
	for (size_t i = 0; i < paths->count; i++) {
		const char *slash = strrchr(paths->items[i], '/');

		if (slash &&
		    strncmp(slash + 1, COPY_PREFIX, strlen(COPY_PREFIX)) == 0)
			(void)unlink(paths->items[i]);
	}
}

int config_copies_lay(const struct rewrite *rewrite, struct error *err)
{
	struct strlist covers = STRLIST_INIT;
	int result = 0;

	config_copies_covers(rewrite, &covers);
	if (covers.count)
		result = config_copies_write(rewrite, true, err);
	if (result == 0 && covers.count)
		result = namespaces_enter_covered(&covers, err);
	strlist_release(&covers);
	return result;
}
