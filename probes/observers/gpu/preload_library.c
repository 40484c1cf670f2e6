/* The preload library as a file, from where a program can load it. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/preload.h"

#include "base/alloc.h"
#include "configs/files/builtin.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#define PRELOAD_FILE "probes/preload/libautofit_preload.so"

/* Why the library cannot be loaded from there; NULL: it can. */
static const char *preload_obstacle(const char *path)
{
	struct statvfs info;

	if (strpbrk(path, " \t\n:;"))
		return "LD_PRELOAD can name no path with a space or colon";
	if (statvfs(path, &info) == 0 && (info.f_flag & ST_NOEXEC))
		return "its file system is mounted noexec";
	return NULL;
}

int preload_library_write(const char *folder, char **path, struct error *err)
{
	const char *obstacle = preload_obstacle(folder);

	if (obstacle)
		return error_set(err, -ENOEXEC,
				 "the scratch folder %s holds no library to "
				 "load, for %s",
				 folder, obstacle);
	*path = xasprintf("%s/libautofit_preload.so", folder);
	return builtin_write(PRELOAD_FILE, *path, err);
}
