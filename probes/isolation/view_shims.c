/* Scripts over the programs that send work elsewhere, in a view. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/view_internal.h"

#include "base/alloc.h"
#include "probes/leaving/shims.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where such programs lie, whatever PATH says. */
#define USUAL_FOLDERS                                                          \
	":/usr/local/bin:/usr/bin:/bin:/snap/bin:/opt/slurm/bin:"              \
	"/usr/local/slurm/bin:/cm/shared/apps/slurm/current/bin"

/* One program that has many names is left: the others are needed. */
static void cover_program(const struct view *view, const char *folder,
			  const char *name)
{
	const struct shims *shims = view->spec->shims;
	char *path = xasprintf("%s/%s", folder, name);
	char *script = xasprintf("%s/%s", shims->folder, name);
	char *real = *folder == '/' ? realpath(path, NULL) : NULL;
	struct stat info;

	if (real && strcmp(basename(real), name) == 0 &&
	    strcmp(real, script) != 0 && stat(real, &info) == 0 &&
	    S_ISREG(info.st_mode) && (info.st_mode & 0111)) {
		char *target = view_target(view, real);

		(void)mount(script, target, NULL, MS_BIND, NULL);
		free(target);
	}
	free(real);
	free(script);
	free(path);
}

void view_cover_programs(const struct view *view)
{
	const struct shims *shims = view->spec->shims;
	char *folders, *rest = NULL;

	if (!shims)
		return;
	folders = xasprintf("%s%s", view->spec->path ? view->spec->path : "",
			    USUAL_FOLDERS);
	for (const char *folder = strtok_r(folders, ":", &rest); folder;
	     folder = strtok_r(NULL, ":", &rest))
		for (size_t i = 0; i < shims->always.count; i++)
			cover_program(view, folder, shims->always.items[i]);
	free(folders);
}
