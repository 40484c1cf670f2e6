/* Files whose numbers are used: opened once, judged, then read as opened. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_FILES_OWNED_FILE_H
#define AUTOFIT_CONFIGS_FILES_OWNED_FILE_H

#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

#define OWNERS_MAX 3

/* Who may own a file and its folder. */
struct owners {
	uid_t uids[OWNERS_MAX];
	size_t count;
};

/* The user alone. */
struct owners owners_of_user(void);

/*
 * A descriptor of a regular file that only its owner can have written, who is
 * one of owners, as is the owner of its folder; of a link, and of the folder
 * it points into, the same is asked. A group that may write is the owner's
 * own: his main group, of his name, with nobody else in it. A folder where
 * others may write but not replace (sticky, as /tmp) will do. Else -EPERM,
 * -EINVAL when it is no regular file, or what open says.
 */
int owned_file_open(const char *path, const struct owners *owners,
		    struct error *err);

/*
 * Can nobody but the user and root put something else in the place of folder,
 * or of one that it lies in? Each, as named and without links, belongs to one
 * of them, and others may not write to it, or not replace (sticky). What is not
 * there yet the user will make. -EPERM names the folder that it fails at.
 */
int owned_folder_check(const char *folder, struct error *err);

#endif
