/* Names of options: how they are compared. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_NAMES_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_NAMES_H

#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>

/* Byte for byte, but "-" and "_" are one. */
bool name_equal(const char *a, size_t a_length, const char *b, size_t b_length);
/* Are these its first bytes? */
bool name_starts(const char *name, const char *start, size_t length);

/* Names up to this length take part; longer ones are no knobs. */
#define NAME_MAX_BYTES 160
/* "--Batch-Size" as "batch_size"; false when it is too long. */
bool name_normalise(char out[NAME_MAX_BYTES], const char *name, size_t length);
/*
 * Does a name of a preset (see struct preset_knob) say what was typed? bare:
 * typed as key=value.
 */
bool name_matches(const char *entry, const char *typed, size_t length,
		  bool bare);
/* Place of the first name that matches in the list, or its count. */
size_t names_find(const struct strlist *names, const char *typed, size_t length,
		  bool bare);
/* A name that must never be taken for a knob. */
bool name_is_decoy(const struct strlist *decoys, const char *typed,
		   size_t length);

/*
 * fnmatch without flags. A pattern in which "*" is all that is special, as in
 * most, is matched by bytes: in a locale of several bytes fnmatch first makes
 * wide characters of both.
 */
bool glob_matches(const char *pattern, const char *text);

/* Is name target_batch_size, where other is source_batch_size? */
bool name_is_counterpart(const char *name, const char *other);

#endif
