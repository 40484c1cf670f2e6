/* How the interpreter that trains was started, as the step hook tells. */
/* SPDX-License-Identifier: MIT */
#include "probes/channel/started.h"

#include "base/units.h"
#include "probes/channel/hook_files.h"

#include <stdint.h>
#include <string.h>

/* All entries of the files, and how many files there were. */
struct started_files {
	struct strlist entries;
	size_t count;
};

/* What does not end with a NUL was cut. */
static void started_add_file(void *context, const struct strbuf *text)
{
	struct started_files *files = context;
	const char *at = text->data;
	const char *end = at + text->length;
	const char *nul;

	files->count++;
	while (at < end && (nul = memchr(at, '\0', (size_t)(end - at)))) {
		strlist_add(&files->entries, at);
		at = nul + 1;
	}
}

void started_read(struct started *started, const char *folder)
{
	const struct hook_files files = { "start", 2, STARTED_BYTES_MAX };
	struct started_files found = { .count = 0 };
	const char *const *items;
	int64_t traits, words, rest;

	hook_files_read(folder, &files, started_add_file, &found);
	items = (const char *const *)found.entries.items;
	rest = (int64_t)found.entries.count - 2;
	if (found.count == 1 && rest > 0 &&
	    integer_parse(items[0], &traits, NULL) == 0 &&
	    integer_parse(items[1], &words, NULL) == 0 && traits >= 0 &&
	    words >= 1 && traits <= rest && words <= rest - traits) {
		items += 2;
		strlist_add_all(&started->traits, items, (size_t)traits);
		items += traits;
		strlist_add_all(&started->argv, items, (size_t)words);
		items += words;
		strlist_add_all(&started->environment, items,
				(size_t)(rest - traits - words));
	}
	strlist_release(&found.entries);
}

void started_release(struct started *started)
{
	strlist_release(&started->argv);
	strlist_release(&started->environment);
	strlist_release(&started->traits);
}
