/* Files whose numbers are used: opened once, judged, and read as opened. */
/* SPDX-License-Identifier: MIT */
#include "configs/files/owned_file.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACCESS_LIST "system.posix_acl_access"
/* Bytes of an entry of the user or group database; longer ones are skipped. */
#define DATABASE_MAX 65536
#define MAP_MAX 4096
/* What the kernel shows for an owner that has no name in the namespace. */
#define OVERFLOW_ID 65534
#define EVERY_ID "4294967295"

struct owners owners_of_user(void)
{
	return (struct owners){ .uids = { geteuid() }, .count = 1 };
}

static bool is_owner(const struct owners *owners, uid_t uid)
{
	for (size_t i = 0; i < owners->count; i++)
		if (owners->uids[i] == uid)
			return true;
	return false;
}

static bool members_are_only(char *const *members, const char *name)
{
	for (; *members; members++)
		if (strcmp(*members, name) != 0)
			return false;
	return true;
}

/* The group that many systems make for each user: only he is in it. */
static bool group_is_private(uid_t uid, gid_t gid)
{
	char *space = xmalloc(2 * (size_t)DATABASE_MAX);
	struct passwd user;
	struct passwd *found_user = NULL;
	struct group group;
	struct group *found = NULL;
	bool private;

	private =
		getpwuid_r(uid, &user, space, DATABASE_MAX, &found_user) == 0 &&
		found_user && user.pw_gid == gid &&
		getgrgid_r(gid, &group, space + DATABASE_MAX, DATABASE_MAX,
			   &found) == 0 &&
		found && strcmp(group.gr_name, user.pw_name) == 0 &&
		members_are_only(group.gr_mem, user.pw_name);
	free(space);
	return private;
}

/*
 * Under an access list the bits of the group are the most that anybody on the
 * list has, so such a file or folder is the group's no longer.
 */
static bool others_may_write(const char *path, const struct stat *info)
{
	if (info->st_mode & S_IWOTH)
		return true;
	return (info->st_mode & S_IWGRP) &&
	       (!group_is_private(info->st_uid, info->st_gid) ||
		getxattr(path, ACCESS_LIST, NULL, 0) > 0);
}

static char *owned_file_folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static int check_folder(const char *path, const char *folder,
			const struct owners *owners, struct error *err)
{
	struct stat info;

	if (stat(folder, &info) < 0)
		return error_set_errno(err, -errno, "cannot use %s", path);
	if (!is_owner(owners, info.st_uid))
		return error_set(err, -EPERM,
				 "cannot use %s: its folder belongs to another "
				 "user (%u)",
				 path, (unsigned)info.st_uid);
	if (!(info.st_mode & S_ISVTX) && others_may_write(folder, &info))
		return error_set(err, -EPERM,
				 "cannot use %s: others may write to its "
				 "folder: chmod go-w %s",
				 path, folder);
	return 0;
}

static int check_folder_of(const char *path, const char *file,
			   const struct owners *owners, struct error *err)
{
	char *folder = owned_file_folder_of(file);
	int result = check_folder(path, folder, owners, err);

	free(folder);
	return result;
}

static int check_link(const char *path, const struct owners *owners,
		      struct error *err)
{
	struct stat info;
	char *target;
	int result;

	if (lstat(path, &info) < 0)
		return error_set_errno(err, -errno, "cannot read %s", path);
	if (!S_ISLNK(info.st_mode))
		return 0;
	if (!is_owner(owners, info.st_uid))
		return error_set(err, -EPERM,
				 "cannot use %s: the link belongs to another "
				 "user (%u)",
				 path, (unsigned)info.st_uid);
	target = realpath(path, NULL);
	if (!target)
		return error_set_errno(err, -errno, "cannot read %s", path);
	result = check_folder_of(path, target, owners, err);
	free(target);
	return result;
}

static int not_regular(const char *path, struct error *err)
{
	return error_set(err, -EINVAL, "cannot read %s: not a regular file",
			 path);
}

static int owned_file_check_file(const char *path, const struct stat *info,
				 const struct owners *owners, struct error *err)
{
	if (!S_ISREG(info->st_mode))
		return not_regular(path, err);
	if (!is_owner(owners, info->st_uid))
		return error_set(err, -EPERM,
				 "cannot use %s: it belongs to another user "
				 "(%u)",
				 path, (unsigned)info->st_uid);
	if (others_may_write(path, info))
		return error_set(err, -EPERM,
				 "cannot use %s: others may write to it: chmod "
				 "go-w %s",
				 path, path);
	return 0;
}

int owned_file_open(const char *path, const struct owners *owners,
		    struct error *err)
{
	struct stat info;
	int result;
	int fd;

	/* Asked before it is opened: opening a device may do something. */
	if (stat(path, &info) < 0)
		return error_set_errno(err, -errno, "cannot read %s", path);
	if (!S_ISREG(info.st_mode))
		return not_regular(path, err);
	result = check_link(path, owners, err);
	if (result == 0)
		result = check_folder_of(path, path, owners, err);
	if (result < 0)
		return result;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_set_errno(err, -errno, "cannot read %s", path);
	if (fstat(fd, &info) < 0)
		result = error_set_errno(err, -errno, "cannot read %s", path);
	else
		result = owned_file_check_file(path, &info, owners, err);
	if (result < 0) {
		(void)close(fd);
		return result;
	}
	return fd;
}

/* In a namespace of few users root is nobody, as all others are. */
static bool owner_has_no_name(uid_t uid)
{
	char text[MAP_MAX];
	ssize_t got;
	int fd;

	if (uid != OVERFLOW_ID)
		return false;
	fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 && !strstr(text, EVERY_ID);
}

static int check_part(const char *folder, const char *part, struct error *err)
{
	struct stat link, info;

	if (lstat(part, &link) < 0 || stat(part, &info) < 0)
		return errno == ENOENT
			       ? 0
			       : error_set_errno(err, -errno, "cannot use %s",
						 folder);
	if ((link.st_uid != 0 && link.st_uid != geteuid() &&
	     !owner_has_no_name(link.st_uid)) ||
	    (info.st_uid != 0 && info.st_uid != geteuid() &&
	     !owner_has_no_name(info.st_uid)))
		return error_set(err, -EPERM,
				 "cannot use %s: %s belongs to another user "
				 "(%u), who could replace what is in it",
				 folder, part, (unsigned)info.st_uid);
	if (!(info.st_mode & S_ISVTX) && others_may_write(part, &info))
		return error_set(err, -EPERM,
				 "cannot use %s: others may write to %s and "
				 "replace what is in it",
				 folder, part);
	return 0;
}

/* "/", "/a", "/a/b", ... up to path itself. */
static int check_way(const char *folder, const char *path, struct error *err)
{
	char *part = xstrdup(path);
	char *slash = part;
	int result = check_part(folder, "/", err);

	while (result == 0 && slash) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		result = check_part(folder, part, err);
		if (slash)
			*slash = '/';
	}
	free(part);
	return result;
}

int owned_folder_check(const char *folder, struct error *err)
{
	char *part = xstrdup(folder);
	char *real = realpath(part, NULL);
	int result = check_way(folder, folder, err);

	/* The nearest one that is there. */
	while (!real && strrchr(part, '/') > part) {
		*strrchr(part, '/') = '\0';
		real = realpath(part, NULL);
	}
	if (result == 0 && real)
		result = check_way(folder, real, err);
	free(real);
	free(part);
	return result;
}
