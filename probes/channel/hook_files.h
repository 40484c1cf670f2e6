/* Files that the processes of a probe leave behind through the step hook. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_CHANNEL_HOOK_FILES_H
#define AUTOFIT_PROBES_CHANNEL_HOOK_FILES_H

#include "base/strbuf.h"

#include <stddef.h>

/* Is called with the whole text of one file; it may hold any bytes. */
typedef void hook_file_cb(void *context, const struct strbuf *text);

/*
 * Reads the files folder/name.<pid>, in no order: at most files_max of them,
 * and bytes_max of each. The command could write there whatever it likes, so
 * only regular files are opened, and no link is followed.
 */
struct hook_files {
	const char *name;
	size_t files_max, bytes_max;
};

void hook_files_read(const char *folder, const struct hook_files *files,
		     hook_file_cb *on_file, void *context);

/*
 * Into another folder those that a rank of another node has left. Its process
 * numbers may be those of other ranks too, so the rank's becomes part of them.
 * A file that is there already stays.
 */
void hook_files_copy(const char *from, const char *to, int rank);

#endif
