/* The mounts a view consists of: a layer, a bind, a bind only to be read. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/view_internal.h"

#include "base/alloc.h"
#include "probes/isolation/layer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

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
