/* The note in a lease's file: who holds it, and whether that one lives. */
/* SPDX-License-Identifier: MIT */
#include "probes/locks/lease_note.h"

#include "base/hash.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "probes/process/proctree.h"

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
#define ID_BYTES                                                               \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

static void copy_printable(char *to, size_t size, const char *from)
{
	size_t i = 0;

	for (; from[i] && i < size - 1; i++)
		to[i] = (char)(from[i] < ' ' || from[i] > '~' ? '?' : from[i]);
	to[i] = '\0';
}

/* An id is compared: all of it, or nothing. */
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

static void parse_line(struct lease_note *note, const char *key,
		       const char *value)
{
	if (strcmp(key, "host") == 0)
		copy_printable(note->host, sizeof(note->host), value);
	else if (strcmp(key, "boot_id") == 0)
		copy_id(note->boot_id, sizeof(note->boot_id), value);
	else if (strcmp(key, "pid") == 0)
		note->pid = (pid_t)parse_number(value, INT32_MAX);
	else if (strcmp(key, "start_time") == 0)
		note->start_time = parse_number(value, UINT64_MAX);
	else if (strcmp(key, "pid_space") == 0)
		note->pid_space = parse_number(value, UINT64_MAX);
	else if (strcmp(key, "beat") == 0)
		note->beat = parse_number(value, UINT64_MAX);
	else if (strcmp(key, "token") == 0)
		copy_id(note->token, sizeof(note->token), value);
	else if (strcmp(key, "doing") == 0)
		copy_printable(note->doing, sizeof(note->doing), value);
}

/* Is the text a whole note? Its token becomes part of a file's name. */
static bool parse_note(struct lease_note *note, char *text)
{
	char *rest = text;
	char *line;

	memset(note, 0, sizeof(*note));
	while ((line = strsep(&rest, "\n")) && strcmp(line, "end") != 0) {
		char *equals = strchr(line, '=');

		if (!equals)
			return false;
		*equals = '\0';
		parse_line(note, line, equals + 1);
	}
	return line && rest && note->pid > 0 &&
	       strspn(note->token, "0123456789abcdef") == TOKEN_LENGTH;
}

static void format_note(char text[NOTE_BYTES + 1],
			const struct lease_note *note)
{
	struct lease_note clean = *note;
	int length;

	copy_printable(clean.host, sizeof(clean.host), note->host);
	copy_printable(clean.doing, sizeof(clean.doing), note->doing);
	length = snprintf(text, NOTE_BYTES + 1,
			  "host=%s\nboot_id=%s\npid=%ld\nstart_time=%" PRIu64
			  "\npid_space=%" PRIu64 "\ntoken=%s\nbeat=%" PRIu64
			  "\ndoing=%s\nend\n",
			  clean.host, clean.boot_id, (long)clean.pid,
			  clean.start_time, clean.pid_space, clean.token,
			  clean.beat, clean.doing);
	memset(text + length, '\n', NOTE_BYTES - (size_t)length);
	text[NOTE_BYTES] = '\0';
}

/* What cannot be read as a note has its content for a token: when it changes
 * that is another one, as a beat is. */
static void stand_in(struct lease_note *note, const struct stat *info,
		     const char *bytes, size_t length)
{
	const uint64_t who[] = { info->st_ino, info->st_mode,
				 (uint64_t)info->st_size,
				 (uint64_t)info->st_mtim.tv_sec,
				 (uint64_t)info->st_mtim.tv_nsec };

	memset(note, 0, sizeof(*note));
	(void)snprintf(note->token, sizeof(note->token),
		       "%016" PRIx64 "%016" PRIx64,
		       hash_bytes(who, sizeof(who)), hash_bytes(bytes, length));
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
		if (parse_note(note, copy))
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
	char text[NOTE_BYTES + 1];
	ssize_t done;

	format_note(text, note);
	do
		done = pwrite(fd, text, NOTE_BYTES, 0);
	while (done < 0 && errno == EINTR);
	if (done < 0)
		return -errno;
	return done == NOTE_BYTES ? 0 : -ENOSPC;
}

static void read_boot_id(char boot_id[40])
{
	struct strbuf text = STRBUF_INIT;
	char line[64];

	(void)textfile_read("/proc/sys/kernel/random/boot_id", sizeof(line) - 1,
			    &text, NULL);
	(void)snprintf(line, sizeof(line), "%s", strbuf_text(&text));
	line[strcspn(line, "\n")] = '\0';
	copy_id(boot_id, 40, line);
	strbuf_release(&text);
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
	copy_printable(note->doing, sizeof(note->doing), doing);
}

int lease_note_of_self(struct lease_note *self)
{
	struct proc_stat process;
	struct stat space;

	memset(self, 0, sizeof(*self));
	if (gethostname(self->host, sizeof(self->host) - 1) < 0)
		self->host[0] = '\0';
	read_boot_id(self->boot_id);
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
