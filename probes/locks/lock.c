/* One tuning per device: a flock that the keeper of a probe shares. */
/* SPDX-License-Identifier: MIT */
#include "probes/locks/lock.h"

#include "base/strbuf.h"
#include "configs/files/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MAX_BYTES 100
#define NOTE_BYTES_MAX 1024

static void clean_name(char clean[NAME_MAX_BYTES + 1], const char *name)
{
	size_t i = 0;

	for (; name[i] && i < NAME_MAX_BYTES; i++)
		clean[i] = name[i];
	clean[i] = '\0';
	for (char *at = clean; *(at += strspn(at, NOTE_ID_BYTES));)
		*at = '_';
	if (clean[0] == '.' || clean[0] == '\0')
		clean[0] = '_';
	clean[i ? i : 1] = '\0';
}

static const struct note_field lock_note_fields[] = {
	NOTE_FIELD("pid", NOTE_PID, struct lock_note, pid),
	NOTE_FIELD("command", NOTE_WORDS, struct lock_note, command),
	NOTE_FIELD("probe_id", NOTE_ID, struct lock_note, probe_id),
	NOTE_FIELD("boot_id", NOTE_ID, struct lock_note, boot_id),
	NOTE_FIELD("probe_start", NOTE_COUNT, struct lock_note, probe_start),
	NOTE_FIELD("scratch", NOTE_PATH, struct lock_note, scratch),
	{ 0 },
};

static void lock_read_note(int fd, struct lock_note *note)
{
	char text[NOTE_BYTES_MAX + 1];
	ssize_t length = pread(fd, text, NOTE_BYTES_MAX, 0);

	text[length > 0 ? length : 0] = '\0';
	/* Its holder may have been killed while it wrote: what is whole counts.
	 * After "end" may stand what is left of a longer note. */
	(void)note_parse(lock_note_fields, note, text);
}

/* A file of ours that nobody else can open. */
static int lock_check_file(int fd, const char *path, struct error *err)
{
	struct stat info;

	if (fstat(fd, &info) < 0)
		return error_set_errno(err, -errno, "cannot use lock %s", path);
	if (!S_ISREG(info.st_mode))
		return error_set(err, -EINVAL,
				 "cannot use lock %s: not a regular file",
				 path);
	if (info.st_uid != geteuid())
		return error_set(err, -EPERM,
				 "cannot use lock %s: it belongs to another "
				 "user",
				 path);
	if (fchmod(fd, 0600) < 0)
		return error_set_errno(err, -errno, "cannot use lock %s", path);
	return 0;
}

static int lock_open_file(const char *path, struct error *err)
{
	int result;
	int fd;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		  0600);
	if (fd < 0)
		return error_set_errno(err, -errno, "cannot open lock %s",
				       path);
	result = lock_check_file(fd, path, err);
	if (result == 0)
		return fd;
	(void)close(fd);
	return result;
}

static int lock_try(struct lock *lock, const char *name, struct lock_note *left,
		    struct error *err)
{
	int result;

	do
		result = flock(lock->fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
	while (result == -EINTR);
	lock_read_note(lock->fd, left);
	if (result == -EWOULDBLOCK && left->pid)
		return error_set(err, result,
				 "%s is being tuned by process %ld: %s", name,
				 (long)left->pid, left->command);
	if (result == -EWOULDBLOCK)
		return error_set(err, result,
				 "%s is being tuned by another process", name);
	if (result < 0)
		return error_set_errno(err, result, "cannot lock %s",
				       lock->path);
	return 0;
}

int lock_take(struct lock *lock, const char *folder, const char *name,
	      struct lock_note *left, struct error *err)
{
	char clean[NAME_MAX_BYTES + 1];
	int length;
	int result;

	memset(left, 0, sizeof(*left));
	lock->fd = -1;
	clean_name(clean, name);
	length = snprintf(lock->path, sizeof(lock->path), "%s/%s.lock", folder,
			  clean);
	if (length < 0 || (size_t)length >= sizeof(lock->path))
		return error_set_errno(err, -ENAMETOOLONG,
				       "cannot open a lock in %s", folder);
	result = paths_make(folder, err);
	if (result < 0)
		return result;
	result = lock_open_file(lock->path, err);
	if (result < 0)
		return result;
	lock->fd = result;
	result = lock_try(lock, clean, left, err);
	if (result < 0) {
		(void)close(lock->fd);
		lock->fd = -1;
	}
	return result;
}

/* Written before it is cut: whoever dies in between left a note. */
static int write_note(int fd, const struct strbuf *text)
{
	ssize_t done;

	do
		done = pwrite(fd, text->data, text->length, 0);
	while (done < 0 && errno == EINTR);
	if (done >= 0 && (size_t)done < text->length)
		return -ENOSPC;
	return done < 0 || ftruncate(fd, done) < 0 || fsync(fd) < 0 ? -errno
								    : 0;
}

int lock_write(struct lock *lock, const struct lock_note *note,
	       struct error *err)
{
	struct strbuf text = STRBUF_INIT;
	int result;

	note_format(lock_note_fields, note, &text);
	result = write_note(lock->fd, &text);
	strbuf_release(&text);
	if (result < 0)
		return error_set_errno(err, result, "cannot write %s",
				       lock->path);
	return 0;
}

void lock_release(struct lock *lock)
{
	if (lock->fd < 0)
		return;
	(void)!ftruncate(lock->fd, 0); /* a stale note is cleared by the next */
	/* No LOCK_UN: a keeper that is still there keeps the lock. */
	(void)close(lock->fd);
	lock->fd = -1;
}
