/* Hooks of Python: files that tell of a program from its inside. */
/* SPDX-License-Identifier: MIT */
#include "probes/channel/python_hook.h"

#include "base/alloc.h"
#include "base/textfile.h"
#include "configs/files/builtin.h"
#include "configs/files/paths.h"

#include <stdlib.h>
#include <string.h>

#define PYTHON "probes/python/"

const struct python_hook python_hook_steps = { "sitecustomize.py",
					       "autofit_hook" };
const struct python_hook python_hook_phantom = { "phantom_start.py",
						 "autofit_phantom" };

/* The path within the folder, which the caller frees, or NULL for a file that
 * is not of the hook. */
static char *path_in_hook(const struct python_hook *hook,
			  const struct builtin_file *file)
{
	const char *name = file->path + strlen(PYTHON);
	size_t length = strlen(hook->package);

	if (strncmp(file->path, PYTHON, strlen(PYTHON)) != 0)
		return NULL;
	if (strcmp(name, hook->start) == 0)
		return xstrdup("sitecustomize.py");
	return strncmp(name, hook->package, length) == 0 && name[length] == '/'
		       ? xstrdup(name)
		       : NULL;
}

int python_hook_write(const struct python_hook *hook, const char *folder,
		      struct error *err)
{
	char *package = xasprintf("%s/%s", folder, hook->package);
	int result = paths_make(package, err);

	for (const struct builtin_file *file = builtin_files;
	     file->path && result == 0; file++) {
		char *name = path_in_hook(hook, file);
		char *path = name ? xasprintf("%s/%s", folder, name) : NULL;

		if (path)
			result = textfile_make(path, 0600, file->data,
					       file->size, err);
		free(path);
		free(name);
	}
	free(package);
	return result;
}
