/* The sockets of running servers, which no layer hands on. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/view_internal.h"

#include "base/strbuf.h"
#include "base/textfile.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_MAX (4 * MIB)
#define SOCKETS_MAX 256
/* Fields before the path: number, count, protocol, flags, type, state, inode */
#define FIELDS_BEFORE_PATH 7

/* The path as it was bound, NULL when it has none or an abstract name. */
static const char *sockets_path_of(const char *line)
{
	for (int field = 0; field < FIELDS_BEFORE_PATH; field++) {
		line += strspn(line, " ");
		line += strcspn(line, " ");
	}
	return line[0] == ' ' && line[1] == '/' ? line + 1 : NULL;
}

/* A layer's socket is another one than the file below it: none answers. */
static bool is_needed(const struct view *view, const char *path)
{
	const struct place *place = places_at(&view->places, path);
	struct stat info;

	return mounts_find(&view->mounts, path)->use == MOUNT_LAYERED &&
	       !(place && place->shared) && lstat(path, &info) == 0 &&
	       S_ISSOCK(info.st_mode);
}

static size_t bind_socket(const struct view *view, const char *path)
{
	char *real = realpath(path, NULL);
	size_t done = 0;

	if (real && is_needed(view, real) && view_bind(view, real, 0) == 0)
		done = 1;
	free(real);
	return done;
}

void view_bind_sockets(const struct view *view)
{
	struct strbuf text = STRBUF_INIT;
	char *rest = NULL;
	size_t done = 0;

	/* Cut or not there: what it lists is taken, as far as it goes. */
	(void)textfile_read("/proc/net/unix", TEXT_MAX, &text, NULL);
	if (text.data)
		for (const char *line = strtok_r(text.data, "\n", &rest);
		     line && done < SOCKETS_MAX;
		     line = strtok_r(NULL, "\n", &rest)) {
			const char *path = sockets_path_of(line);

			if (path)
				done += bind_socket(view, path);
		}
	strbuf_release(&text);
}
