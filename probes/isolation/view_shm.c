/* Shared memory of the view's own, in which what was there can be read. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/view_internal.h"

#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Each is a mount. Where there are more, nothing is changed. */
#define ENTRIES_MAX 1024

/* Both sides of the folder, open. */
struct sides {
	const struct view *view;
	const char *path; /* absolute, without links */
	int real, own;
};

/*
 * CUDA's server for several processes and its clients find one another's
 * memory by name, also what either makes later.
 */
bool view_has_cuda_server(const struct view *view)
{
	for (size_t i = 0; i < view->places.count; i++) {
		const struct place *place = &view->places.items[i];
		char *control = xasprintf("%s/control", place->path);
		struct stat info;
		bool found = place->shared && stat(control, &info) == 0 &&
			     (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));

		free(control);
		if (found)
			return true;
	}
	return false;
}

/* What a running server keeps there for its clients to write. */
static bool is_of_cuda(const char *name, const struct stat *info)
{
	return strncmp(name, "cuda.shm.", 9) == 0 && S_ISREG(info->st_mode);
}

/* In a layer, now or soon, to be written for real, or never written. */
static bool view_shm_is_settled(const struct view *view, const char *path)
{
	const struct mount *mount = mounts_find(&view->mounts, path);
	const struct place *place = places_at(&view->places, path);

	return mount->use != MOUNT_AS_IS || (mount->flags & MS_RDONLY) ||
	       mounts_has_below(&view->mounts, path) ||
	       (place && (place->shared || strcmp(place->path, path) == 0)) ||
	       view_has_cuda_server(view);
}

/*
 * As much as is free in the real one, so that what is too much there is too
 * much here. Never without a limit: without one it would not tell what is used.
 */
static uint64_t size_of(const char *path)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct statfs info;
	uint64_t bytes;

	if (statfs(path, &info) < 0 || info.f_blocks == 0)
		return (uint64_t)sysconf(_SC_PHYS_PAGES) * page;
	bytes = (uint64_t)info.f_bavail * (uint64_t)info.f_bsize;
	return bytes < page ? page : bytes;
}

static int mount_own(const struct view *view, const char *path)
{
	unsigned long flags = mounts_find(&view->mounts, path)->flags;
	char *target = view_target(view, path);
	char options[64];
	int result = 0;

	(void)snprintf(options, sizeof(options), "mode=1777,size=%llu",
		       (unsigned long long)size_of(path));
	if (mount("autofit", target, "tmpfs",
		  MS_NOSUID | MS_NODEV | (flags & MS_NOEXEC), options) < 0)
		result = -errno;
	free(target);
	return result;
}

/* Others' links are not followed there, so nobody misses them. */
static void copy_link(const struct sides *sides, int entry, const char *name,
		      const struct stat *info)
{
	char target[PATH_MAX];
	ssize_t length;

	if (info->st_uid != geteuid())
		return;
	length = readlinkat(entry, "", target, sizeof(target) - 1);
	if (length <= 0)
		return;
	target[length] = '\0';
	(void)!symlinkat(target, sides->own, name);
}

static int make_point(const struct sides *sides, const char *name,
		      const struct stat *info)
{
	int fd;

	if (S_ISDIR(info->st_mode))
		return mkdirat(sides->own, name, 0700) < 0 ? -errno : 0;
	fd = openat(sides->own, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	(void)close(fd);
	return 0;
}

/* By its descriptor: whoever owns it may put a link in its place meanwhile. */
static int bind_entry(const struct sides *sides, int entry, const char *name,
		      const struct stat *info)
{
	char *path = xasprintf("%s/%s", sides->path, name);
	char *target = view_target(sides->view, path);
	char source[32];
	int result = 0;

	(void)snprintf(source, sizeof(source), "/proc/self/fd/%d", entry);
	if (mount(source, target, NULL, MS_BIND, NULL) < 0)
		result = -errno;
	if (result == 0) {
		view_cut_off(sides->view, path);
		if (!is_of_cuda(name, info))
			result = view_make_read_only(sides->view, path);
	}
	free(target);
	free(path);
	return result;
}

static int show_entry(const struct sides *sides, const char *name)
{
	int entry = openat(sides->real, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;
	int result = 0;

	/* Gone in the meantime. */
	if (entry < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(entry, &info) < 0) {
		result = -errno;
	} else if (S_ISLNK(info.st_mode)) {
		copy_link(sides, entry, name, &info);
	} else {
		result = make_point(sides, name, &info);
		if (result == 0)
			result = bind_entry(sides, entry, name, &info);
		/* Removed meanwhile, it cannot be mounted any more. */
		if (result < 0 && fstat(entry, &info) == 0 && !info.st_nlink &&
		    unlinkat(sides->own, name,
			     S_ISDIR(info.st_mode) ? AT_REMOVEDIR : 0) == 0)
			result = 0;
	}
	(void)close(entry);
	return result;
}

/* -E2BIG when there are too many. */
static int show_entries(const struct sides *sides)
{
	int fd = openat(sides->real, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	size_t count = 0;
	int result = 0;

	if (!folder) {
		result = -errno;
		if (fd >= 0)
			(void)close(fd);
		return result;
	}
	while (result == 0 && (entry = readdir(folder))) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		result = ++count > ENTRIES_MAX
				 ? -E2BIG
				 : show_entry(sides, entry->d_name);
	}
	(void)closedir(folder);
	return result;
}

static int view_shm_fill(const struct view *view, const char *path,
			 const char *target)
{
	const struct sides sides = {
		.view = view,
		.path = path,
		.real = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.own = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	};
	int result =
		sides.real < 0 || sides.own < 0 ? -errno : show_entries(&sides);

	if (sides.real >= 0)
		(void)close(sides.real);
	if (sides.own >= 0)
		(void)close(sides.own);
	return result;
}

void view_own_shared_memory(const struct view *view)
{
	char *path = realpath(ISOLATION_SHARED_MEMORY, NULL);
	char *target = path ? view_target(view, path) : NULL;

	if (path && !view_shm_is_settled(view, path) &&
	    mount_own(view, path) == 0 && view_shm_fill(view, path, target) < 0)
		(void)umount2(target, MNT_DETACH);
	free(target);
	free(path);
}
