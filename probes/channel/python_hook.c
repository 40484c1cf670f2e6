/* The step hook: Python files that tell of a program from its inside. */
/* SPDX-License-Identifier: MIT */
#include "probes/channel/python_hook.h"

#include "base/alloc.h"
#include "base/textfile.h"
#include "configs/files/builtin.h"
#include "configs/files/paths.h"

#include <stdlib.h>
#include <string.h>

#define PYTHON "probes/python/"
#define START "sitecustomize.py"
#define PACKAGE "autofit_hook"

/* The path within the folder, or NULL for a file that is not of the hook. */
static const char *path_in_hook(const struct builtin_file *file)
{
	const char *name = file->path + strlen(PYTHON);

	if (strncmp(file->path, PYTHON, strlen(PYTHON)) != 0)
		return NULL;
	return strcmp(name, START) == 0 || strncmp(name, PACKAGE "/",
						   strlen(PACKAGE "/")) == 0
		       ? name
		       : NULL;
}

int python_hook_write(const char *folder, struct error *err)
{
	char *package = xasprintf("%s/" PACKAGE, folder);
	int result = paths_make(package, err);

	for (const struct builtin_file *file = builtin_files;
	     file->path && result == 0; file++) {
		const char *name = path_in_hook(file);
		char *path = name ? xasprintf("%s/%s", folder, name) : NULL;

		if (path)
			result = textfile_make(path, 0600, file->data,
					       file->size, err);
		free(path);
	}
	free(package);
	return result;
}
