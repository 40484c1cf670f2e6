/* A copy-on-write view of every file system, for one process and its own. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_VIEW_H
#define AUTOFIT_PROBES_ISOLATION_VIEW_H

#include "base/error.h"
#include "probes/isolation/isolation.h"

/*
 * ISOLATION_VIEW of isolation_enter: namespaces, layers, a new root, and the
 * working folder in it. On failure the process is of no more use, as it may
 * be in its namespaces already; no mount is seen outside in any case.
 *
 * Shared memory (/dev/shm) is a tmpfs of the view's own, gone with it: what the
 * user has put there can be read (EROFS to a write, EBUSY to a rename or
 * removal). With more than a thousand entries it stays the real one.
 *
 * With privilege each file system gets a layer as a whole. In a user namespace
 * the kernel makes no layer over a folder in which something is mounted, so
 * everything is bound read-only and each folder without mounts in it gets its
 * own layer. What fails there, and is never written for real: a file right
 * beside a mount point and the system's own folders (EROFS), changing a file
 * of another owner or group (EOVERFLOW), renaming a folder that was there
 * before (EXDEV).
 */
int view_enter(const struct isolation_spec *spec, struct error *err);

#endif
