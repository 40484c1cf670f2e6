/* What the processes of a probe imported, as its step hook wrote it down. */
/* SPDX-License-Identifier: MIT */
#include "probes/channel/modules.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A folder of the probe's: it could hold any number of entries. */
#define ENTRIES_MAX 100000
/* Before those that are there more than once are taken out. */
#define FOUND_MAX 128000

static bool is_ours(const char *name)
{
	static const char prefix[] = "modules.";
	const char *pid = name + sizeof(prefix) - 1;

	return strncmp(name, prefix, sizeof(prefix) - 1) == 0 && *pid &&
	       strlen(pid) <= 10 && strspn(pid, "0123456789") == strlen(pid);
}

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

/* What does not end with a NUL was cut. */
static void add_paths(struct strlist *found, const struct strbuf *text)
{
	size_t at = 0;

	while (at < text->length && found->count < FOUND_MAX) {
		const char *path = text->data + at;
		size_t length = strnlen(path, text->length - at);

		if (at + length == text->length)
			break;
		if (is_path(path, length))
			strlist_add(found, path);
		at += length + 1;
	}
}

static void read_one(struct strlist *found, const char *folder,
		     const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);
	struct strbuf text = STRBUF_INIT;
	struct stat info;

	/* A link could lead to any file of the user's. */
	if (lstat(path, &info) == 0 && S_ISREG(info.st_mode) &&
	    textfile_read(path, MODULES_BYTES_MAX, &text, NULL) >= 0)
		add_paths(found, &text);
	strbuf_release(&text);
	free(path);
}

static int by_text(const void *a, const void *b)
{
	const char *const *left = a;
	const char *const *right = b;

	return strcmp(*left, *right);
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

void modules_read(struct strlist *out, const char *folder)
{
	DIR *entries = opendir(folder);
	struct strlist found = STRLIST_INIT;
	struct dirent *entry;
	size_t seen = 0;
	size_t files = 0;

	if (!entries)
		return;
	while (seen++ < ENTRIES_MAX && files < MODULES_FILES_MAX &&
	       (entry = readdir(entries))) {
		if (!is_ours(entry->d_name))
			continue;
		read_one(&found, folder, entry->d_name);
		files++;
	}
	(void)closedir(entries);
	if (found.count)
		qsort(found.items, found.count, sizeof(*found.items), by_text);
	add_once(out, &found);
	strlist_release(&found);
}
