/* What a program is about to ask of NVIDIA's libraries, and they lack here. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_LOADER_GAPS_H
#define AUTOFIT_PROBES_PHANTOM_LOADER_GAPS_H

/* The real dlopen, or another with its contract. */
typedef void *gaps_dlopen_fn(const char *path, int flags);

/*
 * path is about to be loaded. Reads that file and those beside it that it
 * needs, and loads what NVIDIA's libraries of this process lack for them: a
 * whole library, or names of one. A file is read once. Without a folder in it
 * path is looked for beside the files so far. Nothing is said of errors: the
 * load itself will tell.
 */
void gaps_fill(const char *path, gaps_dlopen_fn *load);

#endif
