/* Whole small files: read with a bound, replace so that no reader sees half. */
/* SPDX-License-Identifier: MIT */
#include "base/textfile.h"

#include "base/alloc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_up_to(int fd, size_t max_bytes, struct strbuf *out)
{
	char piece[16384];
	size_t left = max_bytes;

	for (;;) {
		size_t want = left < sizeof(piece) ? left : sizeof(piece);
		/* One byte over the bound tells a cut file from a whole one. */
		ssize_t got = read(fd, piece, want ? want : 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		if (!want)
			return 1;
		assert((size_t)got <= left);
		strbuf_add(out, piece, (size_t)got);
		left -= (size_t)got;
	}
}

int textfile_read_open(int fd, const char *path, size_t max_bytes,
		       struct strbuf *out, struct error *err)
{
	int result = read_up_to(fd, max_bytes, out);

	(void)close(fd);
	if (result < 0)
		return error_set_errno(err, result, "cannot read %s", path);
	return result;
}

int textfile_read(const char *path, size_t max_bytes, struct strbuf *out,
		  struct error *err)
{
	struct stat info;
	int fd;

	/* O_NONBLOCK: opening a FIFO must not wait for a writer. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_set_errno(err, -errno, "cannot read %s", path);
	if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode)) {
		(void)close(fd);
		return error_set(err, -EINVAL,
				 "cannot read %s: not a regular file", path);
	}
	return textfile_read_open(fd, path, max_bytes, out, err);
}

int file_write_all(int fd, const void *bytes, size_t length)
{
	const char *next = bytes;

	while (length) {
		struct pollfd ready = { .fd = fd, .events = POLLOUT };
		ssize_t done = write(fd, next, length);

		if (done < 0 && errno == EAGAIN)
			(void)poll(&ready, 1, -1);
		else if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			assert((size_t)done <= length);
			next += done;
			length -= (size_t)done;
		}
	}
	return 0;
}

static char *textfile_folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* A rename is on disk only once its folder is; best effort, as on NFS. */
static void sync_folder_of(const char *path)
{
	char *folder = textfile_folder_of(path);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		(void)fsync(fd);
		(void)close(fd);
	}
	free(folder);
}

static int textfile_fill(int fd, mode_t mode, const void *data, size_t length)
{
	int result = file_write_all(fd, data, length);

	return result == 0 && fchmod(fd, mode) < 0 ? -errno : result;
}

static int textfile_fill_disk(int fd, mode_t mode, const void *data,
			      size_t length)
{
	int result = textfile_fill(fd, mode, data, length);

	return result == 0 && fsync(fd) < 0 ? -errno : result;
}

static int replace_named(const char *path, mode_t mode, const void *data,
			 size_t length)
{
	char *temporary = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC);
	int result =
		fd < 0 ? -errno : textfile_fill_disk(fd, mode, data, length);

	if (fd >= 0 && close(fd) < 0 && result == 0)
		result = -errno;
	if (result == 0 && rename(temporary, path) < 0)
		result = -errno;
	if (fd >= 0 && result < 0)
		(void)unlink(temporary);
	free(temporary);
	return result;
}

static int link_to(const char *source, const char *target)
{
	return linkat(AT_FDCWD, source, AT_FDCWD, target, AT_SYMLINK_FOLLOW) < 0
		       ? -errno
		       : 0;
}

/* No link goes over a file: it gets a name of its own for a moment. */
static int link_over(const char *source, const char *path)
{
	char *temporary = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC);
	int result = fd < 0 ? -errno : 0;

	if (fd >= 0)
		(void)close(fd);
	if (result == 0 && unlink(temporary) < 0)
		result = -errno;
	if (result == 0)
		result = link_to(source, temporary);
	if (result == 0 && rename(temporary, path) < 0) {
		result = -errno;
		(void)unlink(temporary);
	}
	free(temporary);
	return result;
}

/* Whoever is killed before the file has a name leaves nothing of it. */
static int replace_unnamed(const char *path, mode_t mode, const void *data,
			   size_t length)
{
	char *folder = textfile_folder_of(path);
	int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	int result =
		fd < 0 ? -errno : textfile_fill_disk(fd, mode, data, length);
	char *source = xasprintf("/proc/self/fd/%d", fd);

	if (result == 0)
		result = link_to(source, path);
	if (result == -EEXIST)
		result = link_over(source, path);
	if (fd >= 0)
		(void)close(fd);
	free(source);
	free(folder);
	return result;
}

int textfile_replace(const char *path, mode_t mode, const void *data,
		     size_t length, struct error *err)
{
	int result = replace_unnamed(path, mode, data, length);

	/* Not everywhere are there such files: not on NFS, for one. */
	if (result < 0)
		result = replace_named(path, mode, data, length);
	if (result < 0)
		return error_set_errno(err, result, "cannot write %s", path);
	sync_folder_of(path);
	return result;
}

static int write_through(const char *path, const void *data, size_t length)
{
	int fd = open(path,
		      O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int result = fd < 0 ? -errno : file_write_all(fd, data, length);

	if (fd >= 0 && close(fd) < 0 && result == 0)
		result = -errno;
	return result;
}

/* What a process makes has this mode; it cannot be asked without being set. */
static mode_t new_mode(void)
{
	mode_t mask = umask(0);

	(void)umask(mask);
	return 0666 & ~mask;
}

int textfile_give(const char *path, const void *data, size_t length,
		  struct error *err)
{
	struct stat info;
	char *target;
	int result;

	if (stat(path, &info) < 0)
		return textfile_replace(path, new_mode(), data, length, err);
	/* What /dev/stdout leads to may be a file that is being written. */
	if (!S_ISREG(info.st_mode) || strncmp(path, "/dev/", 5) == 0) {
		result = write_through(path, data, length);
		return result < 0 ? error_set_errno(err, result,
						    "cannot write %s", path)
				  : 0;
	}
	target = realpath(path, NULL);
	result = textfile_replace(target ? target : path, info.st_mode & 07777,
				  data, length, err);
	free(target);
	return result;
}

int textfile_can_give(const char *path, struct error *err)
{
	char *folder = textfile_folder_of(path);
	struct stat info;
	int result = 0;

	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		result = -EISDIR;
	else if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
		result = access(path, W_OK) < 0 ? -errno : 0;
	else if (stat(folder, &info) == 0 && !S_ISDIR(info.st_mode))
		result = -ENOTDIR;
	else if (access(folder, W_OK | X_OK) < 0)
		result = -errno;
	free(folder);
	return result < 0
		       ? error_set_errno(err, result, "cannot write %s", path)
		       : 0;
}

int textfile_make(const char *path, mode_t mode, const void *data,
		  size_t length, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int result = fd < 0 ? -errno : textfile_fill(fd, mode, data, length);

	if (fd >= 0 && close(fd) < 0 && result == 0)
		result = -errno;
	if (fd >= 0 && result < 0)
		(void)unlink(path);
	if (result < 0)
		return error_set_errno(err, result, "cannot write %s", path);
	return 0;
}

static int make_one(const char *path, mode_t mode)
{
	struct stat info;

	if (mkdir(path, mode) == 0)
		return 0;
	if (errno != EEXIST || stat(path, &info) < 0)
		return -errno;
	return S_ISDIR(info.st_mode) ? 0 : -ENOTDIR;
}

int folder_make(const char *path, mode_t mode, struct error *err)
{
	char *partial = xstrdup(path);
	char *slash = partial;
	int result = *path ? 0 : -ENOENT;

	while (result == 0 && slash) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		result = make_one(partial, mode);
		if (slash && result == 0)
			*slash = '/';
	}
	if (result < 0)
		(void)error_set_errno(err, result, "cannot make folder '%s'",
				      path);
	free(partial);
	return result;
}
