/* Reads which modules a probe's processes imported and which files of settings
 * they opened, as the step hook tells. */
/* SPDX-License-Identifier: MIT */
#include "probes/channel/modules.h"

#include "probes/channel/hook_files.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Before those that are there more than once are taken out. */
#define FOUND_MAX 128000

/* As realpath() gives it, and fit to be printed. */
static bool is_path(const char *text, size_t length)
{
	if (length < 2 || length >= PATH_MAX || text[0] != '/' ||
	    text[length - 1] == '/')
		return false;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	if (strstr(text, "//") || strstr(text, "/./") || strstr(text, "/../"))
		return false;
	text += length;
	return strcmp(text - 2, "/.") != 0 &&
	       (length < 3 || strcmp(text - 3, "/..") != 0);
}

/* One that is imported by its name. */
static bool is_dotted_name(const char *text, size_t length)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_.";

	return length > 0 && length < NAME_MAX &&
	       strspn(text, letters) == length;
}

struct entries {
	struct strlist *found;
	bool (*is_one)(const char *text, size_t length);
	size_t files;
};

/* One process's list; what does not end with a NUL was cut. */
static void modules_add_entries(void *context, const struct strbuf *text)
{
	struct entries *entries = context;
	struct strlist *found = entries->found;
	size_t at = 0;

	entries->files++;
	while (at < text->length && found->count < FOUND_MAX) {
		const char *entry = text->data + at;
		size_t length = strnlen(entry, text->length - at);

		if (at + length == text->length)
			break;
		if (entries->is_one(entry, length))
			strlist_add(found, entry);
		at += length + 1;
	}
}

static void add_once(struct strlist *out, const struct strlist *found)
{
	const char *last = "";

	for (size_t i = 0; i < found->count && out->count < MODULES_PATHS_MAX;
	     i++) {
		if (strcmp(found->items[i], last) != 0)
			strlist_add(out, found->items[i]);
		last = found->items[i];
	}
}

static void paths_read(struct strlist *out, const char *folder,
		       const char *name)
{
	const struct hook_files files = { name, MODULES_FILES_MAX,
					  MODULES_BYTES_MAX };
	struct strlist found = STRLIST_INIT;
	struct entries paths = { &found, is_path, 0 };

	hook_files_read(folder, &files, modules_add_entries, &paths);
	strlist_sort(&found);
	add_once(out, &found);
	strlist_release(&found);
}

void modules_read(struct strlist *out, const char *folder)
{
	paths_read(out, folder, "modules");
}

static bool was_there(const char *path, const struct timespec *started)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
	       (info.st_mtim.tv_sec < started->tv_sec ||
		(info.st_mtim.tv_sec == started->tv_sec &&
		 info.st_mtim.tv_nsec < started->tv_nsec));
}

void opened_read(struct strlist *out, const char *folder,
		 const struct timespec *started)
{
	struct strlist found = STRLIST_INIT;

	paths_read(&found, folder, "opened");
	for (size_t i = 0; i < found.count; i++)
		if (was_there(found.items[i], started))
			strlist_add(out, found.items[i]);
	strlist_release(&found);
}

void imports_read(struct strlist *out, const char *folder)
{
	const struct hook_files files = { "imports", 2, MODULES_BYTES_MAX };
	struct entries names = { out, is_dotted_name, 0 };

	hook_files_read(folder, &files, modules_add_entries, &names);
	if (names.files > 1)
		strlist_release(out);
}
