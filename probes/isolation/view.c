/* A copy-on-write view of every file system, for one process and its own. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/view.h"

#include "probes/isolation/view_internal.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOUNTINFO_MAX (16 * MIB)

static int read_mounts(struct view *view, struct error *err)
{
	struct strbuf text = STRBUF_INIT;
	int result = textfile_read("/proc/self/mountinfo", MOUNTINFO_MAX, &text,
				   err);

	if (result >= 0) {
		result = result > 0 ? -E2BIG
				    : mounts_parse(&view->mounts,
						   strbuf_text(&text),
						   text.length);
		if (result < 0)
			(void)error_set(err, result,
					"cannot use the table of mounts (%s)",
					strerror(-result));
	}
	strbuf_release(&text);
	return result;
}

static int view_make_folders(const struct view *view, struct error *err)
{
	if (mkdir(view->folder, 0700) < 0 || mkdir(view->root, 0700) < 0)
		return error_set_errno(err, -errno, "cannot make %s",
				       view->root);
	return 0;
}

static bool exists(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0;
}

/* With what is mounted in it, where that did not come along. */
static int bind_for_real(const struct view *view, const char *path,
			 struct error *err)
{
	int result = view_bind(view, path, 0);

	/* Mounts that are locked can only be taken together. */
	if (result == -EINVAL)
		result = view_bind(view, path, MS_REC);
	else if (result == 0)
		for (size_t i = 0; i < view->mounts.count; i++) {
			const struct mount *mount = &view->mounts.items[i];

			if (mount->use != MOUNT_HIDDEN &&
			    path_is_within(mount->point, path) &&
			    strcmp(mount->point, path) != 0)
				(void)view_bind(view, mount->point, 0);
		}
	if (result < 0)
		return error_set(err, result, "cannot mount %s again (%s)",
				 path, strerror(-result));
	return 0;
}

/* A guarded folder that no layer covers up to now. */
static bool is_written_for_real(const struct view *view, const char *path)
{
	const struct place *above = places_above(&view->places, path);
	const struct mount *mount = mounts_find(&view->mounts, path);

	if (above && above->shared)
		return true;
	if (above && path_is_within(above->path, mount->point))
		return false;
	return mount->use == MOUNT_AS_IS && !(mount->flags & MS_RDONLY);
}

static int put_places(struct view *view, struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < view->places.count && result == 0; i++) {
		const struct place *place = &view->places.items[i];

		if (!exists(place->path))
			continue;
		if (place->shared)
			result = bind_for_real(view, place->path, err);
		else if (is_written_for_real(view, place->path))
			result = view_cover(view, place->path, err);
	}
	return result;
}

static int build(struct view *view, struct error *err)
{
	int result = namespaces_enter(&view->namespaces, err);

	if (result == 0) {
		namespaces_own_ipc(view_has_cuda_server(view));
		result = read_mounts(view, err);
	}
	if (result == 0)
		result = view_make_folders(view, err);
	if (result == 0)
		result = view_cover(view, "/", err);
	if (result == 0) {
		view_own_shared_memory(view);
		result = put_places(view, err);
	}
	if (result < 0)
		return result;
	view_bind_sockets(view);
	view_cover_programs(view);
	if (view->spec->covers)
		result = namespaces_cover(view->spec->covers, view->root, err);
	if (result < 0)
		return result;
	/* Last, so that nothing lies over it: it holds the layers as well. */
	return bind_for_real(view, view->spec->scratch, err);
}

/* The old root comes to lie on the new one, and is taken off. */
static int change_root(const struct view *view, struct error *err)
{
	if (chdir(view->root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0)
		return error_set(err, -errno, "cannot change the root (%s)",
				 strerror(errno));
	if (chdir(view->spec->working) < 0)
		return error_set_errno(err, -errno, "cannot enter %s",
				       view->spec->working);
	namespaces_seal(&view->namespaces);
	return 0;
}

int view_enter(const struct isolation_spec *spec, struct error *err)
{
	struct view view = { .spec = spec };
	int result;

	view.folder = xasprintf("%s/view", spec->scratch);
	view.root = xasprintf("%s/root", view.folder);
	places_make(&view.places, spec->shared, spec->guarded);
	result = build(&view, err);
	if (result == 0)
		result = change_root(&view, err);
	mounts_release(&view.mounts);
	places_release(&view.places);
	free(view.root);
	free(view.folder);
	return result;
}
