/* Options files of project, user and site, found and read. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_FILES_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_FILES_H

#include "base/strbuf.h"
#include "launcher/options/options.h"

#define OPTIONS_FILES_MAX 3
#define OPTIONS_FILE_BYTES_MAX ((size_t)256 * 1024)

struct options_files_read {
	struct options_file items[OPTIONS_FILES_MAX];
	size_t count;
	/* What items point to. */
	char *paths[OPTIONS_FILES_MAX];
	struct strbuf texts[OPTIONS_FILES_MAX];
};

/*
 * ./.autofit.ini, the user's autofit.ini (configs/files/paths.h), the site's.
 * One that is missing is passed over; one that belongs to another user than the
 * caller, root or the owner of its folder, or that others may write to, or that
 * cannot be read, is passed over with a warning. Of these, one that is neither
 * the caller's nor root's nor the site's is foreign. The caller releases it.
 */
void options_files_read(struct options_files_read *files,
			const struct strlist *environment,
			struct strlist *warnings);
void options_files_release(struct options_files_read *files);

#endif
