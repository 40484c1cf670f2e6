/* State of a view while it is built, for its files. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_VIEW_INTERNAL_H
#define AUTOFIT_PROBES_ISOLATION_VIEW_INTERNAL_H

#include "base/error.h"
#include "probes/isolation/isolation.h"
#include "probes/isolation/mounts.h"
#include "probes/isolation/namespaces.h"
#include "probes/isolation/places.h"

#include <stdbool.h>
#include <stddef.h>

struct view {
	const struct isolation_spec *spec;
	struct namespaces namespaces;
	struct mounts mounts; /* as they were */
	struct places places;
	char *folder; /* <scratch>/view: the layers, and root */
	char *root;   /* the new root, before it is entered */
	size_t layers;
};

/* view_mount.c: path inside the new root; the caller frees it. */
char *view_target(const struct view *view, const char *path);
/* 0 or -errno. What is bound from path can be made read-only afterwards. */
int view_layer(struct view *view, const char *path);
int view_bind(const struct view *view, const char *path, unsigned long recurse);
int view_make_read_only(const struct view *view, const char *path);
/* Nothing mounted outside from now on shows in it, but by an automounter. */
void view_cut_off(const struct view *view, const char *path);

/*
 * view_tree.c: everything from path down, in layers; path is "/" or a guarded
 * folder inside one that is written for real.
 */
int view_cover(struct view *view, const char *path, struct error *err);

/*
 * view_shm.c: a tmpfs of the view's own, with the entries that are there now:
 * those of CUDA's servers for real, all others to be read. Where that cannot
 * be, as with too many of them, it stays the real one.
 */
void view_own_shared_memory(const struct view *view);

/* Is there a server of CUDA's, which has more in common with its clients than
 * pipes? */
bool view_has_cuda_server(const struct view *view);

/* view_sockets.c: the sockets of running servers, which no layer hands on. */
void view_bind_sockets(const struct view *view);

/* view_shims.c: over programs that send work elsewhere, the spec's scripts. */
void view_cover_programs(const struct view *view);

#endif
