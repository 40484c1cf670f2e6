/* Copies of files that nothing keeps a probe from changing, to be put back. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/compare/kept_files.h"

#include "base/alloc.h"
#include "probes/isolation/compare/snapshot_changes.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Blocks of file systems that can share them are at most that large. */
#define ALIGNMENT INT64_C(65536)
#define PIECE_BYTES ((size_t)1 << 20)
#define NANOSECONDS INT64_C(1000000000)

/* From one file into another: where, and what is left to be copied. */
struct kept_copy {
	int from, to;
	int64_t from_start, to_start;
	int64_t size;
	uint64_t *left; /* bytes that may still be copied; NULL: all */
	char *piece;
};

static int put_piece(const struct kept_copy *copy, int64_t at, ssize_t length)
{
	for (ssize_t done = 0; done < length;) {
		ssize_t put = pwrite(copy->to, copy->piece + done,
				     (size_t)(length - done),
				     copy->to_start + at + done);

		if (put < 0 && errno != EINTR)
			return -errno;
		done += put > 0 ? put : 0;
	}
	return 0;
}

/* One stretch of data, without holes. */
static int copy_data(const struct kept_copy *copy, int64_t at, int64_t end)
{
	while (at < end) {
		size_t want = end - at < (int64_t)PIECE_BYTES
				      ? (size_t)(end - at)
				      : PIECE_BYTES;
		ssize_t got = pread(copy->from, copy->piece, want,
				    copy->from_start + at);
		int result;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		assert((size_t)got <= want);
		if (copy->left && *copy->left < (uint64_t)got)
			return -E2BIG;
		if (copy->left)
			*copy->left -= (uint64_t)got;
		result = put_piece(copy, at, got);
		if (result < 0)
			return result;
		at += got;
	}
	return 0;
}

/* Holes stay holes. */
static int copy_stretches(const struct kept_copy *copy)
{
	int64_t at = 0;
	int result = 0;

	while (result == 0 && at < copy->size) {
		off_t data =
			lseek(copy->from, copy->from_start + at, SEEK_DATA);
		off_t hole;

		if (data < 0 && errno == ENXIO)
			break;
		if (data < 0)
			return copy_data(copy, at, copy->size);
		data -= copy->from_start;
		hole = lseek(copy->from, copy->from_start + data, SEEK_HOLE);
		hole = hole < 0 ? copy->size : hole - copy->from_start;
		if (hole > copy->size)
			hole = copy->size;
		if (data >= hole)
			break;
		result = copy_data(copy, data, hole);
		at = hole;
	}
	return result;
}

static int copy_bytes(struct kept_copy *copy)
{
	int result;

	copy->piece = xmalloc(PIECE_BYTES);
	result = copy_stretches(copy);
	free(copy->piece);
	return result;
}

static bool shares_blocks(const struct kept_copy *copy)
{
	const struct file_clone_range range = {
		.src_fd = copy->from,
		.src_offset = (uint64_t)copy->from_start,
		.src_length = 0,
		.dest_offset = (uint64_t)copy->to_start,
	};

	return copy->size && ioctl(copy->to, FICLONERANGE, &range) == 0;
}

/* Gone or forbidden meanwhile: then a probe does not find it either. */
static int keep_file(struct kept_files *kept, size_t index,
		     const struct snapshot_file *file, int64_t *end,
		     uint64_t *left)
{
	struct kept_copy copy = { .to = kept->fd,
				  .to_start = *end,
				  .size = (int64_t)file->size,
				  .left = left };
	int result = 0;

	assert(*end >= 0 && *end % ALIGNMENT == 0);
	copy.from = open(file->path,
			 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (copy.from < 0)
		return 0;
	if (!shares_blocks(&copy))
		result = copy_bytes(&copy);
	(void)close(copy.from);
	if (result < 0)
		return result;
	kept->places[index] = *end;
	*end += (copy.size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return 0;
}

static int open_nameless(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *name;

	if (fd >= 0)
		return fd;
	name = xasprintf("%s/kept-XXXXXX", folder);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		(void)unlink(name);
	free(name);
	return fd < 0 ? -errno : fd;
}

int kept_files_take(struct kept_files *kept, const struct snapshot *before,
		    const char *folder, uint64_t max_bytes, struct error *err)
{
	struct snapshot_file file;
	uint64_t left = max_bytes;
	int64_t end = 0;
	size_t count = 0;
	int result = 0;

	kept->fd = open_nameless(folder);
	if (kept->fd < 0)
		return error_set_errno(err, kept->fd, "cannot write in %s",
				       folder);
	while (snapshot_file_at(before, count, &file))
		count++;
	kept->places = xcalloc(count + 1, sizeof(*kept->places));
	for (size_t i = 0; i < count && result == 0; i++) {
		kept->places[i] = -1;
		(void)snapshot_file_at(before, i, &file);
		if (S_ISREG(file.mode))
			result = keep_file(kept, i, &file, &end, &left);
	}
	if (result == -E2BIG)
		return error_set(err, result,
				 "too much to keep a copy of: more than %llu "
				 "MiB, up to %s",
				 (unsigned long long)(max_bytes >> 20),
				 file.path);
	if (result < 0)
		return error_set_errno(err, result, "cannot keep a copy of %s",
				       file.path);
	return 0;
}

/* ------------------------------------------------------------- putting back */

static int set_times(int fd, const struct snapshot_file *file)
{
	const struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_sec = file->modified_ns / NANOSECONDS,
		  .tv_nsec = file->modified_ns % NANOSECONDS },
	};

	return futimens(fd, times) < 0 ? -errno : 0;
}

/* The file itself where it is the same one still, so that what is linked to it
 * is right as well. */
static int open_to_put(const struct snapshot_file *file)
{
	struct stat info;
	int fd;

	if (lstat(file->path, &info) == 0) {
		if (S_ISREG(info.st_mode) && info.st_ino == file->inode) {
			(void)chmod(file->path, 0600);
			fd = open(file->path,
				  O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
			return fd < 0 ? -errno : fd;
		}
		if ((S_ISDIR(info.st_mode) ? rmdir(file->path)
					   : unlink(file->path)) < 0)
			return -errno;
	}
	fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

static int put_file(const struct kept_files *kept, int64_t place,
		    const struct snapshot_file *file)
{
	struct kept_copy copy = { .from = kept->fd,
				  .from_start = place,
				  .size = (int64_t)file->size };
	int result;

	if (place < 0)
		return -EACCES;
	assert(place % ALIGNMENT == 0);
	copy.to = open_to_put(file);
	if (copy.to < 0)
		return copy.to;
	result = ftruncate(copy.to, 0) < 0 || ftruncate(copy.to, copy.size) < 0
			 ? -errno
			 : copy_bytes(&copy);
	if (fchmod(copy.to, file->mode & 07777) < 0 && result == 0)
		result = -errno;
	if (result == 0)
		result = set_times(copy.to, file);
	(void)close(copy.to);
	return result;
}

static int put_folder(const struct snapshot_file *file)
{
	struct stat info;

	if (lstat(file->path, &info) == 0 && !S_ISDIR(info.st_mode) &&
	    unlink(file->path) < 0)
		return -errno;
	if (mkdir(file->path, 0700) < 0 && errno != EEXIST)
		return -errno;
	return chmod(file->path, file->mode & 07777) < 0 ? -errno : 0;
}

static int put_link(const struct snapshot_file *file)
{
	if (unlink(file->path) < 0 && errno != ENOENT && rmdir(file->path) < 0)
		return -errno;
	return symlink(file->target, file->path) < 0 ? -errno : 0;
}

static int put_entry(const struct kept_files *kept, int64_t place,
		     const struct snapshot_file *file)
{
	if (S_ISREG(file->mode))
		return put_file(kept, place, file);
	if (S_ISDIR(file->mode))
		return put_folder(file);
	return S_ISLNK(file->mode) ? put_link(file) : 0;
}

int kept_files_put_back(const struct kept_files *kept,
			const struct snapshot *before,
			const struct snapshot *after, struct error *err)
{
	struct strlist paths = STRLIST_INIT;
	struct snapshot_file file;
	size_t next = 0;
	int result = 0;

	(void)snapshot_differences(&paths, before, after, SIZE_MAX);
	/* Both in order of path: folders before what is in them. */
	for (size_t i = 0; snapshot_file_at(before, i, &file); i++) {
		int code;

		while (next < paths.count &&
		       strcmp(paths.items[next], file.path) < 0)
			next++;
		if (next == paths.count ||
		    strcmp(paths.items[next], file.path) != 0)
			continue;
		code = put_entry(kept, kept->places[i], &file);
		if (code < 0 && result == 0)
			result = error_set_errno(
				err, code, "cannot put back %s", file.path);
	}
	strlist_release(&paths);
	return result;
}

void kept_files_release(struct kept_files *kept)
{
	if (kept->fd >= 0)
		(void)close(kept->fd);
	free(kept->places);
	*kept = (struct kept_files){ .fd = -1 };
}
