/* One tuning per device: a flock that the keeper of a probe shares. */
/* SPDX-License-Identifier: MIT */
#include "probes/locks/lock.h"

#include "base/strbuf.h"
#include "configs/files/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MAX_BYTES 100
#define NOTE_BYTES_MAX 1024
#define ID_BYTES                                                               \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

static void clean_name(char clean[NAME_MAX_BYTES + 1], const char *name)
{
	size_t i = 0;

	for (; name[i] && i < NAME_MAX_BYTES; i++)
		clean[i] = name[i];
	clean[i] = '\0';
	for (char *at = clean; *(at += strspn(at, ID_BYTES));)
		*at = '_';
	if (clean[0] == '.' || clean[0] == '\0')
		clean[0] = '_';
	clean[i ? i : 1] = '\0';
}

/* What a terminal would act on becomes a question mark. */
static void copy_printable(char *to, size_t size, const char *from)
{
	size_t i = 0;

	for (; from[i] && i < size - 1; i++)
		to[i] = from[i];
	to[i] = '\0';
	for (char *at = to; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	if (from[i] && size > 4)
		memcpy(to + size - 4, "...", 4);
}

/* An id is compared with those of processes: all of it, or nothing. */
static void copy_id(char *to, size_t size, const char *from)
{
	size_t length = strlen(from);

	if (length >= size || strspn(from, ID_BYTES) != length)
		length = 0;
	memcpy(to, from, length);
	to[length] = '\0';
}

static uint64_t parse_number(const char *text, uint64_t largest)
{
	uint64_t number;

	if (!*text || text[strspn(text, "0123456789")])
		return 0;
	errno = 0;
	number = strtoull(text, NULL, 10);
	return errno || number > largest ? 0 : number;
}

static void read_line(struct lock_note *note, const char *key,
		      const char *value)
{
	if (strcmp(key, "pid") == 0)
		note->pid = (pid_t)parse_number(value, INT32_MAX);
	else if (strcmp(key, "command") == 0)
		copy_printable(note->command, sizeof(note->command), value);
	else if (strcmp(key, "probe_id") == 0)
		copy_id(note->probe_id, sizeof(note->probe_id), value);
	else if (strcmp(key, "boot_id") == 0)
		copy_id(note->boot_id, sizeof(note->boot_id), value);
	else if (strcmp(key, "probe_start") == 0)
		note->probe_start = parse_number(value, UINT64_MAX);
	else if (strcmp(key, "scratch") == 0)
		copy_printable(note->scratch, sizeof(note->scratch), value);
}

static void read_note(int fd, struct lock_note *note)
{
	char text[NOTE_BYTES_MAX + 1];
	ssize_t length = pread(fd, text, NOTE_BYTES_MAX, 0);
	char *rest = text;
	char *line;

	memset(note, 0, sizeof(*note));
	if (length <= 0)
		return;
	text[length] = '\0';
	/* After "end" may stand what is left of a longer note. */
	while ((line = strsep(&rest, "\n")) && strcmp(line, "end") != 0) {
		char *equals = strchr(line, '=');

		if (!rest || !equals)
			continue;
		*equals = '\0';
		read_line(note, line, equals + 1);
	}
}

/* A file of ours that nobody else can open. */
static int check_file(int fd, const char *path, struct error *err)
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

static int open_file(const char *path, struct error *err)
{
	int result;
	int fd;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		  0600);
	if (fd < 0)
		return error_set_errno(err, -errno, "cannot open lock %s",
				       path);
	result = check_file(fd, path, err);
	if (result == 0)
		return fd;
	(void)close(fd);
	return result;
}

static int take(struct lock *lock, const char *name, struct lock_note *left,
		struct error *err)
{
	int result;

	do
		result = flock(lock->fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
	while (result == -EINTR);
	read_note(lock->fd, left);
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
	result = open_file(lock->path, err);
	if (result < 0)
		return result;
	lock->fd = result;
	result = take(lock, clean, left, err);
	if (result < 0) {
		(void)close(lock->fd);
		lock->fd = -1;
	}
	return result;
}

static void format_note(struct strbuf *text, const struct lock_note *note)
{
	struct lock_note clean;

	/* What is written is what would be read. */
	copy_printable(clean.command, sizeof(clean.command), note->command);
	copy_id(clean.probe_id, sizeof(clean.probe_id), note->probe_id);
	copy_id(clean.boot_id, sizeof(clean.boot_id), note->boot_id);
	strbuf_addf(text, "pid=%ld\ncommand=%s\n", (long)note->pid,
		    clean.command);
	strbuf_addf(text, "probe_id=%s\nboot_id=%s\nprobe_start=%" PRIu64 "\n",
		    clean.probe_id, clean.boot_id, note->probe_start);
	/* One that does not round-trip would name another folder. */
	copy_printable(clean.scratch, sizeof(clean.scratch), note->scratch);
	if (strcmp(clean.scratch, note->scratch) == 0)
		strbuf_addf(text, "scratch=%s\n", clean.scratch);
	strbuf_adds(text, "end\n");
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

	format_note(&text, note);
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
