/* Copies of config files on disk, beside the originals or among the state. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_CONFIG_COPIES_H
#define AUTOFIT_LAUNCHER_REQUEST_CONFIG_COPIES_H

#include "base/error.h"
#include "launcher/command/rewrite/rewrite.h"

/*
 * Writes each copy, with the mode of its original; one that is there with the
 * same text stays as it is. On failure those it made are removed again.
 */
int config_copies_write(const struct rewrite *rewrite, struct error *err);

/* Appends the absolute paths of the copies. */
void config_copies_paths(const struct rewrite *rewrite, struct strlist *out);

/* Removes files of these paths whose names are those of copies. */
void config_copies_remove(const struct strlist *paths);

#endif
