/* The mounts a view consists of: a layer, a bind, a bind only to be read. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/view_internal.h"

#include "base/alloc.h"
#include "base/strlist.h"
#include "probes/isolation/mounts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

struct layer {
	const char *folder;  /* made here; takes the writes */
	const char *lower;   /* absolute, without links; only read */
	const char *target;  /* where it is mounted */
	unsigned long flags; /* MS_NOSUID, ...: as lower is mounted */
	/* In a user namespace: other attributes, and most owners unknown. */
	bool in_user_namespace;
	/* Folders below lower (absolute) that have to be writable. */
	const struct strlist *wanted;
};

#define OPTIONS_MAX 256
/* What the kernel shows for an owner that has no name in the namespace. */
#define OVERFLOW_ID 65534
/* How far others' folders are looked for. */
#define DEPTH_TOP 2
#define DEPTH_WANTED 8
#define ENTRIES_MAX 16384

/*
 * First of all without syncing: what a probe wrote is thrown away, so nobody
 * should wait until it is on the disk (Linux 5.10). A folder that was there
 * before can be renamed only with redirect_dir, which a user namespace has
 * not: rename fails with EXDEV there, as between two file systems.
 */
static const char *const privileged_options[] = {
	"redirect_dir=on,index=off,volatile",
	"redirect_dir=on,index=off",
	"index=off",
	NULL,
};
static const char *const user_options[] = {
	"userxattr,index=off,volatile",
	"userxattr,index=off",
	NULL,
};

/* Open folders of a layer that is being made. */
struct parts {
	int lower, upper, work;
};

static void close_fd(int fd)
{
	if (fd >= 0)
		(void)close(fd);
}

static int view_mount_open_folder(int parent, const char *name, int how)
{
	return openat(parent, name, how | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Is a change below it possible without its being there already? */
static bool view_mount_is_own(const struct stat *info)
{
	return info->st_uid == geteuid() && info->st_gid == getegid() &&
	       info->st_uid != OVERFLOW_ID && info->st_gid != OVERFLOW_ID;
}

/*
 * The mode of a copy, which belongs to the user: what the user may do with the
 * folder itself, as one of its group or of the others, is now for the owner.
 */
static mode_t mode_of_copy(int lower, const struct stat *info)
{
	static const struct {
		int access;
		mode_t bit;
	} rights[] = {
		{ R_OK, S_IRUSR },
		{ W_OK, S_IWUSR },
		{ X_OK, S_IXUSR },
	};
	mode_t mode = info->st_mode & (mode_t)(07777 & ~S_IRWXU);

	for (size_t i = 0; i < sizeof(rights) / sizeof(*rights); i++)
		if (faccessat(lower, ".", rights[i].access, AT_EACCESS) == 0)
			mode |= rights[i].bit;
	return mode;
}

/* The same folder in the layer, for its new owner; its descriptor. */
static int copy_folder(int lower, int upper, const char *name)
{
	struct stat info;
	int fd;

	if (fstat(lower, &info) < 0 ||
	    (mkdirat(upper, name, 0700) < 0 && errno != EEXIST))
		return -1;
	fd = view_mount_open_folder(upper, name, O_RDONLY);
	if (fd >= 0)
		(void)fchmod(fd, mode_of_copy(lower, &info));
	return fd;
}

/* How far a search for others' folders goes. */
struct bounds {
	dev_t device; /* into no other file system */
	size_t entries;
};

static struct bounds bounds_of(int lower)
{
	struct stat info = { 0 };

	(void)fstat(lower, &info);
	return (struct bounds){ info.st_dev, ENTRIES_MAX };
}

/* A folder of another's that is looked at; it is copied when it has to be. */
struct view_mount_spot {
	struct view_mount_spot *above; /* NULL: the top, which is there */
	const char *name;
	int lower, upper; /* upper -1: no copy up to now */
	int depth;        /* how far to look below it */
};

/* With all that lead to it; nothing more is tried below one that failed. */
static void copy_spot(struct view_mount_spot *spot)
{
	if (spot->upper >= 0 || !spot->above)
		return;
	copy_spot(spot->above);
	if (spot->above->upper >= 0)
		spot->upper = copy_folder(spot->lower, spot->above->upper,
					  spot->name);
}

static void look_below(struct view_mount_spot *spot, struct bounds *bounds);

static bool may(int folder, const char *name, int access)
{
	return faccessat(folder, name, access, AT_EACCESS) == 0;
}

/* Nobody writes in what he cannot pass through. */
static void look_at_folder(struct view_mount_spot *spot, const char *name,
			   struct bounds *bounds)
{
	struct view_mount_spot below = { .above = spot,
					 .name = name,
					 .upper = -1 };

	if (!may(spot->lower, name, X_OK))
		return;
	below.lower = view_mount_open_folder(spot->lower, name, O_PATH);
	if (below.lower < 0)
		return;
	below.depth = spot->depth - 1;
	if (may(below.lower, ".", W_OK))
		copy_spot(&below);
	look_below(&below, bounds);
	close_fd(below.lower);
	close_fd(below.upper);
}

static void look_at_entry(struct view_mount_spot *spot,
			  const struct dirent *entry, struct bounds *bounds)
{
	const char *name = entry->d_name;
	struct stat info;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN &&
	    (entry->d_type != DT_REG || spot->upper >= 0))
		return;
	if (fstatat(spot->lower, name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)))
		return;
	/* What is the user's own can be changed once its folder is there. */
	if (view_mount_is_own(&info))
		copy_spot(spot);
	else if (S_ISDIR(info.st_mode) && spot->depth > 0 &&
		 info.st_dev == bounds->device)
		look_at_folder(spot, name, bounds);
}

/*
 * Others' folders in one: those that the user may write in are copied, and
 * those that lead to one, or to what is the user's own. Most of them are
 * neither, and a copy of each would cost more than all the rest.
 */
static void look_below(struct view_mount_spot *spot, struct bounds *bounds)
{
	int fd = openat(spot->lower, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (!dir) {
		close_fd(fd);
		return;
	}
	while (bounds->entries && (entry = readdir(dir))) {
		bounds->entries--;
		look_at_entry(spot, entry, bounds);
	}
	(void)closedir(dir);
}

static void copy_below(const struct parts *parts, int depth,
		       struct bounds *bounds)
{
	struct view_mount_spot top = {
		.lower = parts->lower,
		.upper = parts->upper,
		.depth = depth,
	};

	look_below(&top, bounds);
}

/* Step into name on both sides; false when one of them has it not. */
static bool descend(struct parts *parts, const char *name)
{
	int lower = view_mount_open_folder(parts->lower, name, O_PATH);
	int upper = lower >= 0 ? copy_folder(lower, parts->upper, name) : -1;

	close_fd(parts->lower);
	close_fd(parts->upper);
	parts->lower = lower;
	parts->upper = upper;
	return upper >= 0;
}

/* The way from the top to a wanted folder, and what stands in it. */
static void copy_way(const struct parts *parts, const char *relative)
{
	struct parts here = {
		.lower = fcntl(parts->lower, F_DUPFD_CLOEXEC, 3),
		.upper = fcntl(parts->upper, F_DUPFD_CLOEXEC, 3),
	};
	struct bounds bounds = bounds_of(parts->lower);
	char *names = xstrdup(relative);
	char *rest = NULL;
	const char *name = strtok_r(names, "/", &rest);

	while (name && descend(&here, name))
		name = strtok_r(NULL, "/", &rest);
	if (!name)
		copy_below(&here, DEPTH_WANTED, &bounds);
	close_fd(here.lower);
	close_fd(here.upper);
	free(names);
}

static void copy_others_folders(const struct layer *layer,
				const struct parts *parts)
{
	struct bounds bounds = bounds_of(parts->lower);

	copy_below(parts, DEPTH_TOP, &bounds);
	for (size_t i = 0; layer->wanted && i < layer->wanted->count; i++) {
		const char *path = layer->wanted->items[i];

		if (path_is_within(path, layer->lower))
			copy_way(parts, path + strlen(layer->lower));
	}
}

static int view_mount_make_folder(const char *parent, const char *name)
{
	char *path = xasprintf("%s/%s", parent, name);
	int fd = -1;

	if (mkdir(path, 0700) == 0)
		fd = view_mount_open_folder(AT_FDCWD, path, O_RDONLY);
	free(path);
	return fd;
}

/* The top of the layer stands for lower itself: its owner and mode. */
static int make_top(const struct layer *layer, const struct parts *parts)
{
	struct stat info;
	mode_t mode;

	if (fstat(parts->lower, &info) < 0 ||
	    faccessat(parts->lower, ".", X_OK, AT_EACCESS) < 0)
		return -errno;
	mode = info.st_mode & 07777;
	if (layer->in_user_namespace)
		mode = mode_of_copy(parts->lower, &info);
	else if (fchown(parts->upper, info.st_uid, info.st_gid) < 0)
		return -errno;
	return fchmod(parts->upper, mode) < 0 ? -errno : 0;
}

static int make_parts(const struct layer *layer, struct parts *parts)
{
	int result;

	parts->lower = view_mount_open_folder(AT_FDCWD, layer->lower, O_PATH);
	if (parts->lower < 0)
		return -errno;
	if (mkdir(layer->folder, 0700) < 0)
		return -errno;
	parts->upper = view_mount_make_folder(layer->folder, "upper");
	if (parts->upper < 0)
		return -errno;
	parts->work = view_mount_make_folder(layer->folder, "work");
	if (parts->work < 0)
		return -errno;
	result = make_top(layer, parts);
	if (result == 0 && layer->in_user_namespace)
		copy_others_folders(layer, parts);
	return result;
}

/*
 * By descriptor, as the paths may hold what separates options. An older kernel
 * calls an option that it does not know invalid.
 */
static int mount_parts(const struct layer *layer, const struct parts *parts)
{
	const char *const *options =
		layer->in_user_namespace ? user_options : privileged_options;
	char text[OPTIONS_MAX];
	int result = -EINVAL;

	for (; *options && result == -EINVAL; options++) {
		(void)snprintf(text, sizeof(text),
			       "lowerdir=/proc/self/fd/%d,"
			       "upperdir=/proc/self/fd/%d,"
			       "workdir=/proc/self/fd/%d,%s",
			       parts->lower, parts->upper, parts->work,
			       *options);
		result = mount("autofit", layer->target, "overlay",
			       layer->flags, text) < 0
				 ? -errno
				 : 0;
	}
	return result;
}

/*
 * 0 or -errno; -ENOTDIR when lower is no folder. After a failure nothing is
 * mounted. A folder that is not the user's cannot be changed inside a user
 * namespace (EOVERFLOW) unless the layer has it from the start. So put there
 * are the folders that lead to the wanted ones, and those of others in them and
 * near the top of lower that the user may write in or has something in.
 */
static int layer_mount(const struct layer *layer)
{
	struct parts parts = { -1, -1, -1 };
	int result = make_parts(layer, &parts);

	if (result == 0)
		result = mount_parts(layer, &parts);
	close_fd(parts.lower);
	close_fd(parts.upper);
	close_fd(parts.work);
	return result;
}

char *view_target(const struct view *view, const char *path)
{
	return xasprintf("%s%s", view->root,
			 strcmp(path, "/") == 0 ? "" : path);
}

int view_layer(struct view *view, const char *path)
{
	char *target = view_target(view, path);
	char *folder = xasprintf("%s/%zu", view->folder, ++view->layers);
	const struct layer layer = {
		.folder = folder,
		.lower = path,
		.target = target,
		.flags = mounts_find(&view->mounts, path)->flags,
		.in_user_namespace = view->namespaces.is_user,
		.wanted = view->spec->guarded,
	};
	int result = layer_mount(&layer);

	free(folder);
	free(target);
	return result;
}

int view_bind(const struct view *view, const char *path, unsigned long recurse)
{
	char *target = view_target(view, path);
	int result = 0;

	if (mount(path, target, NULL, MS_BIND | recurse, NULL) < 0)
		result = -errno;
	free(target);
	return result;
}

/* Flags that are left out would be taken away, which may be forbidden. */
int view_make_read_only(const struct view *view, const char *path)
{
	unsigned long flags = mounts_find(&view->mounts, path)->flags;
	char *target = view_target(view, path);
	int result = 0;

	if (mount(NULL, target, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags,
		  NULL) < 0)
		result = -errno;
	free(target);
	return result;
}

void view_cut_off(const struct view *view, const char *path)
{
	const struct mount *shown = mounts_find(&view->mounts, path);
	char *target = view_target(view, path);

	if (shown->use != MOUNT_AUTOMOUNT)
		(void)mount(NULL, target, NULL, MS_PRIVATE, NULL);
	free(target);
}
