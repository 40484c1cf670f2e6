/* The table of mounts, and what a view has to do with each. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_MOUNTS_H
#define AUTOFIT_PROBES_ISOLATION_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOUNTS_MAX 4096

enum mount_use {
	MOUNT_HIDDEN,    /* something lies over it: nobody can reach it */
	MOUNT_AS_IS,     /* the kernel's own, devices, or read-only */
	MOUNT_AUTOMOUNT, /* as is; file systems will appear in it later */
	MOUNT_LAYERED,   /* files of users: nothing may be written for real */
};

struct mount {
	int64_t id, parent;
	char *point; /* absolute, unescaped, no slash at its end but "/" */
	enum mount_use use;
	unsigned long flags; /* MS_RDONLY, MS_NOSUID, ...: those to be kept */
};

struct mounts {
	struct mount *items; /* a mount stands before those inside it */
	size_t count;
};

#define MOUNTS_INIT                                                            \
	{                                                                      \
		0                                                              \
	}

/*
 * The text of /proc/self/mountinfo. A line that is not understood would be a
 * mount left out, so it fails the whole: -EINVAL; -E2BIG with more than
 * MOUNTS_MAX; -ENOENT when "/" is none (in a chroot). Release it after a
 * success only.
 */
int mounts_parse(struct mounts *mounts, const char *text, size_t length);
void mounts_release(struct mounts *mounts);

/* The mount that shows at path; "/" always does. */
const struct mount *mounts_find(const struct mounts *mounts, const char *path);

/* Is a mount that can be reached strictly below path? */
bool mounts_has_below(const struct mounts *mounts, const char *path);

/* Is path the folder or below it? Both absolute, without a slash at the end. */
bool path_is_within(const char *path, const char *folder);

#endif
