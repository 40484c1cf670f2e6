/* The data files that are compiled into the program. */
/* SPDX-License-Identifier: MIT */
#include "configs/files/builtin.h"

#include <string.h>

const struct builtin_file *builtin_find(const char *path)
{
	for (const struct builtin_file *file = builtin_files; file->path;
	     file++)
		if (strcmp(file->path, path) == 0)
			return file;
	return NULL;
}
