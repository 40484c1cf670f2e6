/* Folders of autofit's own making, removed with all that is in them. */
/* SPDX-License-Identifier: MIT */
#include "configs/files/paths.h"

#include "base/alloc.h"
#include "configs/files/dated.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Every level holds a descriptor; what is deeper is moved up first. */
#define DEPTH_MAX 64
#define FEW_DESCRIPTORS 512
#define PROC_FD_MAX 64
#define PASSES_MAX 1000
#define FOLDERS_MAX 100000
#define SECONDS_OF_DAY 86400

struct removal {
	int top; /* the folder that is removed */
	int depth_max;
	uint64_t mount; /* where it is: no other file system is entered */
	unsigned moved; /* names given to folders that were moved up */
	bool progress;  /* something was moved up: go over it again */
};

/*
 * A bind mount has the device of its source, so the number of the mount is
 * asked for; kernels before 5.8 do not tell it.
 */
static uint64_t mount_of(int fd)
{
	struct statx info;
	struct stat device;

	memset(&info, 0, sizeof(info));
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &info) == 0 &&
	    (info.stx_mask & STATX_MNT_ID))
		return info.stx_mnt_id;
	return fstat(fd, &device) == 0 ? device.st_dev : UINT64_MAX;
}

/*
 * A folder of ours may forbid us to look into it or to change it. Through
 * /proc, because chmod by name would follow a link put there meanwhile.
 */
static void make_usable(int fd)
{
	char path[PROC_FD_MAX];
	struct stat info;

	if (fstat(fd, &info) < 0 || info.st_uid != geteuid() ||
	    (info.st_mode & 0700) == 0700)
		return;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)chmod(path, 0700); /* opening the folder tells */
}

/* The folder to be emptied, or -1: none, or something mounted there. */
static int paths_remove_open_folder(const struct removal *removal, int parent,
				    const char *name)
{
	int fd = -1;
	int place = openat(parent, name,
			   O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (place < 0)
		return -1;
	if (!removal || mount_of(place) == removal->mount) {
		make_usable(place);
		fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	(void)close(place);
	return fd;
}

/* Few descriptors: more is moved up. */
static int depth_allowed(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
	    limit.rlim_cur >= FEW_DESCRIPTORS)
		return DEPTH_MAX;
	return limit.rlim_cur >= 32 ? (int)limit.rlim_cur / 8 : 2;
}

static void move_up(struct removal *removal, int parent, const char *name)
{
	char up[64];

	(void)snprintf(up, sizeof(up), ".autofit-removed-%ld-%u",
		       (long)getpid(), removal->moved++);
	if (renameat(parent, name, removal->top, up) == 0)
		removal->progress = true;
}

/*
 * What a program mounted in a folder of ours goes, and what it mounted there
 * stays where it comes from. Only who may mount can have done it, and may
 * undo it.
 */
static bool unmount_entry(const struct removal *removal, int parent,
			  const char *name)
{
	char path[PROC_FD_MAX];
	int place = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	bool result = false;

	if (place < 0)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	if (mount_of(place) != removal->mount)
		result = umount2(path, MNT_DETACH) == 0;
	(void)close(place);
	return result;
}

static void empty_folder(struct removal *removal, int fd, int depth);

static void remove_entry(struct removal *removal, int parent, const char *name,
			 int depth)
{
	int fd;

	do {
		if (unlinkat(parent, name, 0) == 0)
			return;
	} while (unmount_entry(removal, parent, name));
	fd = paths_remove_open_folder(removal, parent, name);
	if (fd < 0)
		return;
	if (depth < removal->depth_max)
		empty_folder(removal, fd, depth + 1);
	else
		(void)close(fd);
	if (unlinkat(parent, name, AT_REMOVEDIR) < 0 &&
	    depth == removal->depth_max)
		move_up(removal, parent, name);
}

/* Takes the descriptor. */
static void empty_folder(struct removal *removal, int fd, int depth)
{
	const struct dirent *entry;
	DIR *dir = fdopendir(fd);

	if (!dir) {
		(void)close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			remove_entry(removal, fd, entry->d_name, depth);
	(void)closedir(dir);
}

static void remove_below(int top)
{
	struct removal removal = { .top = top,
				   .mount = mount_of(top),
				   .depth_max = depth_allowed() };

	/* Something else may add to it all the while: not for ever. */
	for (int pass = 0; pass < PASSES_MAX; pass++) {
		int fd = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		removal.progress = false;
		if (fd >= 0)
			empty_folder(&removal, fd, 0);
		if (!removal.progress)
			return;
	}
}

void paths_remove_tree(const char *folder)
{
	char *path = xstrdup(folder);
	size_t length = strlen(path);
	int top;

	/* With a slash at its end a link would be followed. */
	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	top = paths_remove_open_folder(NULL, AT_FDCWD, path);
	if (top >= 0) {
		remove_below(top);
		(void)close(top);
		(void)rmdir(path); /* what could not be removed stays */
	}
	free(path);
}

static void list_folders(struct dated_list *folders, const char *folder)
{
	const struct dirent *entry;
	struct stat info;
	DIR *dir = opendir(folder);

	while (dir && folders->count < FOLDERS_MAX && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0 &&
		    fstatat(dirfd(dir), entry->d_name, &info,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(info.st_mode))
			dated_add(folders,
				  xasprintf("%s/%s", folder, entry->d_name),
				  info.st_mtim);
	if (dir)
		(void)closedir(dir);
}

void paths_prune(const char *folder, size_t keep)
{
	struct dated_list folders = { 0 };

	list_folders(&folders, folder);
	dated_sort(&folders);
	for (size_t i = keep; i < folders.count; i++)
		paths_remove_tree(folders.items[i].path);
	dated_release(&folders);
}

void paths_remove_old(const char *folder, int days)
{
	time_t oldest = time(NULL) - (time_t)days * SECONDS_OF_DAY;
	const struct dirent *entry;
	struct stat info;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir)))
		if (fstatat(dirfd(dir), entry->d_name, &info,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(info.st_mode) && info.st_mtime < oldest)
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		(void)closedir(dir);
}
