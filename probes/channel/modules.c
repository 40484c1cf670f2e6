/* Reads the modules that a probe's processes imported, as the step hook tells.
 */
/* SPDX-License-Identifier: MIT */
#include "probes/channel/modules.h"

#include "probes/channel/hook_files.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* One process's list; what does not end with a NUL was cut. */
static void add_paths(void *context, const struct strbuf *text)
{
	struct strlist *found = context;
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

static int modules_by_text(const void *a, const void *b)
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
	const struct hook_files files = { "modules", MODULES_FILES_MAX,
					  MODULES_BYTES_MAX };
	struct strlist found = STRLIST_INIT;

	hook_files_read(folder, &files, add_paths, &found);
	if (found.count)
		qsort(found.items, found.count, sizeof(*found.items),
		      modules_by_text);
	add_once(out, &found);
	strlist_release(&found);
}
