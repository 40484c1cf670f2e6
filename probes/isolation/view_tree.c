/* A tree of mounts and folders, covered with layers. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/view_internal.h"

#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAYERS_MAX 512
#define DEPTH_MAX 8
#define ENTRIES_MAX 4096

/* No user can write there, so a layer over them would be of no use. */
static const char *const system_folders[] = {
	"/bin",   "/boot",   "/etc",  "/lib", "/lib32",
	"/lib64", "/libx32", "/sbin", "/usr",
};

static bool view_tree_is_folder(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool holds_guarded(const struct view *view, const char *path)
{
	const struct place *place = places_at(&view->places, path);

	return places_has_guarded_below(&view->places, path) ||
	       (place && !place->shared && strcmp(place->path, path) == 0);
}

static bool view_tree_is_below(const struct mount *mount, const char *path)
{
	return mount->use != MOUNT_HIDDEN &&
	       path_is_within(mount->point, path) &&
	       strcmp(mount->point, path) != 0;
}

static int no_layer(struct error *err, int code, const char *path)
{
	return error_set(err, code, "no layer over %s (%s)", path,
			 strerror(-code));
}

static int not_read_only(struct error *err, int code, const char *path)
{
	return error_set(err, code, "cannot make %s read-only (%s)", path,
			 strerror(-code));
}

/*
 * What is not bound shows as the empty folder below it, and is safe. Only
 * without these two hardly a program works.
 */
static int bind_as_is(const struct view *view, const struct mount *mount,
		      struct error *err)
{
	const char *point = mount->point;
	int result = view_bind(view, point, 0);

	if (result == 0)
		view_cut_off(view, point);
	if (result == 0 ||
	    (strcmp(point, "/dev") != 0 && strcmp(point, "/proc") != 0))
		return 0;
	return error_set(err, result, "cannot mount %s again (%s)", point,
			 strerror(-result));
}

/* A file alone, or a file system that no layer can lie over: to be read. */
static int bind_to_read(const struct view *view, const struct mount *mount,
			struct error *err)
{
	int result = view_bind(view, mount->point, 0);

	if (result < 0)
		return 0;
	view_cut_off(view, mount->point);
	result = view_make_read_only(view, mount->point);
	return result < 0 ? not_read_only(err, result, mount->point) : 0;
}

static int cover_mount(struct view *view, const struct mount *mount,
		       struct error *err)
{
	if (mount->use != MOUNT_LAYERED)
		return bind_as_is(view, mount, err);
	if (view_tree_is_folder(mount->point) &&
	    view_layer(view, mount->point) == 0)
		return 0;
	return bind_to_read(view, mount, err);
}

/* What is mounted in the tree is no part of its layer. */
static int cover_mounts_below(struct view *view, const char *path,
			      struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < view->mounts.count && result == 0; i++)
		if (view_tree_is_below(&view->mounts.items[i], path))
			result = cover_mount(view, &view->mounts.items[i], err);
	return result;
}

/*
 * Who cannot reach a mount point, through a folder of another user, cannot
 * write there either: that it stays as it was does no harm.
 */
static int make_mounts_read_only(const struct view *view, const char *path,
				 struct error *err)
{
	int result = view_make_read_only(view, path);

	if (result < 0)
		return not_read_only(err, result, path);
	view_cut_off(view, path);
	for (size_t i = 0; i < view->mounts.count; i++) {
		const struct mount *mount = &view->mounts.items[i];

		if (!view_tree_is_below(mount, path))
			continue;
		view_cut_off(view, mount->point);
		if (mount->use != MOUNT_LAYERED)
			continue;
		result = view_make_read_only(view, mount->point);
		if (result < 0 && result != -EACCES && result != -ENOENT)
			return not_read_only(err, result, mount->point);
	}
	return 0;
}

static bool is_system_folder(const char *path)
{
	for (size_t i = 0; i < sizeof(system_folders) / sizeof(*system_folders);
	     i++)
		if (strcmp(path, system_folders[i]) == 0)
			return true;
	return false;
}

static int cover_folder(struct view *view, const char *path, int depth,
			struct error *err);

/* One that something is mounted in: its folders, each for itself. */
static int cover_folders_in(struct view *view, const char *path, int depth,
			    struct error *err)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	size_t left = ENTRIES_MAX;
	int result = 0;

	while (dir && result == 0 && left-- && (entry = readdir(dir))) {
		const struct mount *mount;
		char *name;

		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		name = xasprintf("%s/%s", strcmp(path, "/") == 0 ? "" : path,
				 entry->d_name);
		mount = mounts_find(&view->mounts, name);
		/* Other mounts have their own turn. */
		if (strcmp(mount->point, name) != 0 &&
		    view_tree_is_folder(name))
			result = cover_folder(view, name, depth + 1, err);
		free(name);
	}
	if (dir)
		(void)closedir(dir);
	return result;
}

/*
 * Not worth a layer: system folders, what the user cannot pass through, and
 * one too many. Half of them are kept for what lies in a guarded folder, as
 * hundreds of others' folders may stand beside it.
 */
static bool is_left_out(const struct view *view, const char *path)
{
	const struct place *place = places_at(&view->places, path);
	bool lies_in_guarded = place && !place->shared;

	return is_system_folder(path) ||
	       view->layers >=
		       (lies_in_guarded ? LAYERS_MAX : LAYERS_MAX / 2) ||
	       faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0;
}

/* Without a layer it stays as it is, read-only. */
static int cover_folder(struct view *view, const char *path, int depth,
			struct error *err)
{
	bool guarded = holds_guarded(view, path);
	int result;

	if ((mounts_find(&view->mounts, path)->flags & MS_RDONLY) ||
	    depth == DEPTH_MAX || (!guarded && is_left_out(view, path)))
		return 0;
	if (mounts_has_below(&view->mounts, path))
		return cover_folders_in(view, path, depth, err);
	result = view_layer(view, path);
	return result < 0 && guarded ? no_layer(err, result, path) : 0;
}

/* Where mounts are locked to what they were made in. */
static int cover_piece_by_piece(struct view *view, const char *path,
				struct error *err)
{
	int result = view_bind(view, path, MS_REC);

	if (result < 0)
		return error_set(err, result, "cannot mount %s again (%s)",
				 path, strerror(-result));
	result = make_mounts_read_only(view, path, err);
	if (result == 0)
		result = cover_folder(view, path, 0, err);
	for (size_t i = 0; i < view->mounts.count && result == 0; i++) {
		const struct mount *mount = &view->mounts.items[i];

		if (mount->use == MOUNT_LAYERED &&
		    view_tree_is_below(mount, path) &&
		    view_tree_is_folder(mount->point))
			result = cover_folder(view, mount->point, 0, err);
	}
	return result;
}

int view_cover(struct view *view, const char *path, struct error *err)
{
	/* All mounts are locked in a new user namespace; no need to try. */
	bool is_locked = view->namespaces.is_new &&
			 mounts_has_below(&view->mounts, path);

	if (!is_locked && view_layer(view, path) == 0)
		return cover_mounts_below(view, path, err);
	return cover_piece_by_piece(view, path, err);
}
