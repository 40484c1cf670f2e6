/* The note in a lease's file: who holds it, and whether that one lives. */
/* SPDX-License-Identifier: MIT */
#include "probes/locks/lease_note.h"

#include "base/hash.h"
#include "base/strbuf.h"
#include "probes/process/proctree.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* All notes are as long, so that a beat never changes the size. */
#define NOTE_BYTES 1024
#define TOKEN_LENGTH 32

static const struct note_field lease_note_fields[] = {
	NOTE_FIELD("host", NOTE_WORDS, struct lease_note, host),
	NOTE_FIELD("boot_id", NOTE_ID, struct lease_note, boot_id),
	NOTE_FIELD("pid", NOTE_PID, struct lease_note, pid),
	NOTE_FIELD("start_time", NOTE_COUNT, struct lease_note, start_time),
	NOTE_FIELD("pid_space", NOTE_COUNT, struct lease_note, pid_space),
	NOTE_FIELD("token", NOTE_ID, struct lease_note, token),
	NOTE_FIELD("beat", NOTE_COUNT, struct lease_note, beat),
	NOTE_FIELD("doing", NOTE_WORDS, struct lease_note, doing),
	{ 0 },
};

/* Its token becomes part of a file's name. */
static bool lease_note_parse(struct lease_note *note, char *text)
{
	return note_parse(lease_note_fields, note, text) && note->pid > 0 &&
	       strspn(note->token, "0123456789abcdef") == TOKEN_LENGTH;
}

/* What cannot be read as a note has its content for a token: when it changes
 * that is another one, as a beat is. */
static void stand_in(struct lease_note *note, const struct stat *info,
		     const char *bytes, size_t length)
{
	char who[128] = "";

	(void)snprintf(who, sizeof(who), "%ju %ju %jd %jd %ld",
		       (uintmax_t)info->st_ino, (uintmax_t)info->st_mode,
		       (intmax_t)info->st_size, (intmax_t)info->st_mtim.tv_sec,
		       info->st_mtim.tv_nsec);
	memset(note, 0, sizeof(*note));
	(void)snprintf(note->token, sizeof(note->token),
		       "%016" PRIx64 "%016" PRIx64,
		       hash_bytes(who, strlen(who)), hash_bytes(bytes, length));
}

int lease_note_read(int fd, struct lease_note *note)
{
	char text[NOTE_BYTES + 1];
	struct stat info;
	ssize_t length;

	if (fstat(fd, &info) < 0)
		return -errno;
	length = S_ISREG(info.st_mode) ? pread(fd, text, NOTE_BYTES, 0) : 0;
	if (length < 0)
		return -errno;
	text[length] = '\0';
	if (length == NOTE_BYTES && info.st_size == NOTE_BYTES &&
	    strlen(text) == NOTE_BYTES) {
		char copy[NOTE_BYTES + 1];

		memcpy(copy, text, sizeof(copy));
		if (lease_note_parse(note, copy))
			return 0;
	}
	stand_in(note, &info, text, (size_t)length);
	return -EINVAL;
}

int lease_note_look(const char *file, struct lease_note *note)
{
	struct stat info;
	int result;
	int fd;

	fd = open(file,
		  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0) {
		result = lease_note_read(fd, note);
		(void)close(fd);
		/* ESTALE: replaced on the server while it was read. */
		return result < 0 && result != -EINVAL ? result : 1;
	}
	if (errno == ENOENT)
		return 0;
	result = -errno;
	/* A link, a socket, a file without permission. */
	if (lstat(file, &info) < 0)
		return errno == ENOENT ? 0 : result;
	stand_in(note, &info, "", 0);
	return 1;
}

int lease_note_write(int fd, const struct lease_note *note)
{
	struct strbuf text = STRBUF_INIT;
	ssize_t done;

	note_format(lease_note_fields, note, &text);
	assert(text.length <= NOTE_BYTES);
	while (text.length < NOTE_BYTES)
		strbuf_addch(&text, '\n');
	do
		done = pwrite(fd, text.data, NOTE_BYTES, 0);
	while (done < 0 && errno == EINTR);
	strbuf_release(&text);
	if (done < 0)
		return -errno;
	return done == NOTE_BYTES ? 0 : -ENOSPC;
}

int lease_note_renew(struct lease_note *note)
{
	unsigned char bytes[TOKEN_LENGTH / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(note->token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

void lease_note_say(struct lease_note *note, const char *doing)
{
	note_copy_words(note->doing, sizeof(note->doing), doing);
}

int lease_note_of_self(struct lease_note *self)
{
	struct proc_stat process;
	struct stat space;

	memset(self, 0, sizeof(*self));
	if (gethostname(self->host, sizeof(self->host) - 1) < 0)
		self->host[0] = '\0';
	note_boot_id(self->boot_id);
	self->pid = getpid();
	if (proctree_stat(self->pid, &process) == 0)
		self->start_time = process.start_time;
	if (stat("/proc/self/ns/pid", &space) == 0)
		self->pid_space = space.st_ino;
	return lease_note_renew(self);
}

bool lease_note_is_gone(const struct lease_note *note,
			const struct lease_note *self)
{
	struct proc_stat process;

	/* A container can share host name and boot, and hide its processes. */
	if (note->pid <= 0 || !self->boot_id[0] || !self->pid_space ||
	    note->pid_space != self->pid_space ||
	    strcmp(note->boot_id, self->boot_id) != 0 ||
	    strcmp(note->host, self->host) != 0)
		return false;
	/* Where /proc hides the processes of others kill() still tells. */
	if (kill(note->pid, 0) < 0 && errno == ESRCH)
		return true;
	if (proctree_stat(note->pid, &process) < 0)
		return false;
	return process.state == 'Z' || process.state == 'X' ||
	       (note->start_time && process.start_time != note->start_time);
}
