/* Copies of config files and scripts on disk, beside the originals or among the
 * state. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_CONFIG_COPIES_H
#define AUTOFIT_LAUNCHER_REQUEST_CONFIG_COPIES_H

#include "base/error.h"
#include "launcher/command/rewrite/rewrite.h"

/*
 * Writes each copy, with the mode of its original; one that is there with the
 * same text stays as it is. On failure those it made are removed again. Copies
 * of scripts, which only a run needs, where has_scripts.
 */
int config_copies_write(const struct rewrite *rewrite, bool has_scripts,
			struct error *err);

/* Appends the absolute paths of the copies. */
void config_copies_paths(const struct rewrite *rewrite, struct strlist *out);

/* Is a copy among them that is to lie over a script? */
bool config_copies_cover(const struct rewrite *rewrite);
/* Appends each script that a copy is to lie over, and the copy. */
void config_copies_covers(const struct rewrite *rewrite, struct strlist *out);

/*
 * From here on the scripts that have copies are these, for this process and
 * what it starts. Does nothing where none has.
 */
int config_copies_lay(const struct rewrite *rewrite, struct error *err);

/* Removes files of these paths whose names are those of copies. */
void config_copies_remove(const struct strlist *paths);

#endif
