/* INI files of one kind: those that are built in, then the user's. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_FILES_INI_FILES_H
#define AUTOFIT_CONFIGS_FILES_INI_FILES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct ini_file {
	const char *path; /* "configs/presets/hf.ini", or where the user's is */
	const char *name; /* "hf" */
	const char *text;
	size_t length;
	bool is_users;
};

/* 0 to go on; a negative errno (and err set) stops the reading. */
typedef int ini_file_cb(void *context, const struct ini_file *file,
			struct error *err);

/*
 * Calls on_file for each built-in file whose path begins with builtin
 * ("configs/presets/"), then for each *.ini of folder by name (NULL, or not
 * there: none). A file of more than 256 KiB is an error.
 */
int ini_files_read(const char *builtin, const char *folder,
		   ini_file_cb *on_file, void *context, struct error *err);

#endif
