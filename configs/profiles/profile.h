/* Profiles of published guides: one INI file each, see docs/profiles.md. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_PROFILES_PROFILE_H
#define AUTOFIT_CONFIGS_PROFILES_PROFILE_H

#include "base/error.h"
#include "base/profile.h"
#include "base/strlist.h"

#include <stddef.h>

/*
 * The profile called name: NAME.ini of folder (NULL: none), else the built-in
 * one. Numbers, names and the shape of each line are checked here, what
 * expressions say by profile_check (launcher/estimate/profile_tables.h).
 * -ENOENT: there is none, and err names those there are; -EINVAL: err begins
 * with file:line. The caller releases it, whatever the result.
 */
int profile_read(struct profile *profile, const char *name, const char *folder,
		 struct error *err);
/* The same of a text; path: for messages. */
int profile_parse(struct profile *profile, const char *path, const char *text,
		  size_t length, struct error *err);
void profile_release(struct profile *profile);

/* Adds the names of the built-in ones, in order. */
void profile_names(struct strlist *names);

#endif
