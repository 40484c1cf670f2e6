/* The data files that are compiled into the program. */
/* SPDX-License-Identifier: MIT */
#include "configs/files/builtin.h"

#include "base/textfile.h"

#include <errno.h>
#include <string.h>

const struct builtin_file *builtin_find(const char *path)
{
	for (const struct builtin_file *file = builtin_files; file->path;
	     file++)
		if (strcmp(file->path, path) == 0)
			return file;
	return NULL;
}

int builtin_write(const char *name, const char *path, struct error *err)
{
	const struct builtin_file *file = builtin_find(name);

	if (!file)
		return error_set(err, -ENOENT, "%s is not built in", name);
	return textfile_make(path, 0600, file->data, file->size, err);
}
