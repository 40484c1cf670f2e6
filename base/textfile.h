/* Whole small files: read with a bound, replace so that no reader sees half. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_TEXTFILE_H
#define AUTOFIT_BASE_TEXTFILE_H

#include "base/error.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <sys/types.h>

/*
 * Append at most max_bytes of the file to out. A longer file is cut there and
 * 1 is returned; 0 when it was read whole. Never blocks: what is not a regular
 * file (or a file of /proc) is -EINVAL.
 */
int textfile_read(const char *path, size_t max_bytes, struct strbuf *out,
		  struct error *err);

/* The same of a file that is open, which it closes. */
int textfile_read_open(int fd, const char *path, size_t max_bytes,
		       struct strbuf *out, struct error *err);

/*
 * Write to a new file, fsync, put it in the place of path, fsync the folder. On
 * failure path is what it was and nothing is left beside it; nor is it when the
 * process is killed, where the file system has files without a name.
 */
int textfile_replace(const char *path, mode_t mode, const void *data,
		     size_t length, struct error *err);

/*
 * Write to a path that the user named: through links, and into a pipe or a
 * device as it is (a pipe that nobody reads is -ENXIO). A file is replaced as
 * above and keeps its mode; a new one has what the umask lets it have.
 */
int textfile_give(const char *path, const void *data, size_t length,
		  struct error *err);

/* Could that be done now? Touches nothing. 0 or -errno. */
int textfile_can_give(const char *path, struct error *err);

/*
 * Write a file that was not there, for processes of this machine: nobody waits
 * for the disk, and a crash of the machine may lose it. -EEXIST where there is
 * one. On failure there is none.
 */
int textfile_make(const char *path, mode_t mode, const void *data,
		  size_t length, struct error *err);

/* mkdir -p; every folder that is made gets mode. */
int folder_make(const char *path, mode_t mode, struct error *err);

/* Writes all of it, also to a descriptor that does not block. 0 or -errno. */
int file_write_all(int fd, const void *bytes, size_t length);

#endif
