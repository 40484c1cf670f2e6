/* Which process this is, and which are gone: by /proc/<pid>/stat. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/ledger/process.h"

#include "probes/preload/ledger/raw.h"

#include <errno.h>
#include <string.h>

/* Fields of the file as proc(5) counts them; the name is field 2. */
#define FIELD_THREADS 20
#define FIELD_START_TIME 22
#define STAT_MAX 1024

struct stat_line {
	uint64_t pid, threads, start_time;
	char state;
};

static uint64_t number_at(const char *text)
{
	uint64_t number = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		number = number * 10 + (uint64_t)(*text - '0');
	return number;
}

/* The name may hold anything: what follows begins behind the last ")". */
static bool parse(const char *text, struct stat_line *line)
{
	const char *at = strrchr(text, ')');

	if (!at || at[1] != ' ' || !at[2])
		return false;
	at += 2;
	*line = (struct stat_line){ .pid = number_at(text), .state = *at };
	for (int field = 3; field < FIELD_START_TIME; field++) {
		at = strchr(at, ' ');
		if (!at)
			return false;
		at++;
		if (field + 1 == FIELD_THREADS)
			line->threads = number_at(at);
	}
	line->start_time = number_at(at);
	return line->start_time > 0;
}

/* 1; 0: there is no such process; -1: it cannot be told. */
static int read_stat(const char *path, struct stat_line *line)
{
	char text[STAT_MAX];
	int fd = raw_open(path, O_RDONLY);
	long length;
	bool is_gone;

	if (fd < 0)
		return errno == ENOENT || errno == ESRCH ? 0 : -1;
	length = raw_read(fd, text, sizeof(text) - 1);
	is_gone = length < 0 && errno == ESRCH;
	raw_close(fd);
	if (length <= 0)
		return is_gone ? 0 : -1;
	text[length] = '\0';
	return parse(text, line) ? 1 : -1;
}

static int read_process(uint32_t pid, struct stat_line *line)
{
	static const char head[] = "/proc/";
	static const char tail[] = "/stat";
	char path[sizeof(head) + 10 + sizeof(tail)];
	char digits[10];
	size_t count = 0;
	char *at = path;

	do {
		digits[count++] = (char)('0' + pid % 10);
		pid /= 10;
	} while (pid);
	for (size_t i = 0; head[i]; i++)
		*at++ = head[i];
	while (count)
		*at++ = digits[--count];
	for (size_t i = 0; i < sizeof(tail); i++)
		*at++ = tail[i];
	return read_stat(path, line);
}

void process_self(struct process_id *id)
{
	struct stat_line line;
	int saved = errno;

	if (read_stat("/proc/self/stat", &line) == 1)
		*id = (struct process_id){ (uint32_t)line.pid,
					   line.start_time };
	else
		*id = (struct process_id){ (uint32_t)syscall(SYS_getpid), 0 };
	errno = saved;
}

bool process_is_dead(uint32_t pid, uint64_t start_time)
{
	struct stat_line line;
	int saved = errno;
	int result;

	if (!start_time)
		return false;
	result = read_process(pid, &line);
	/* Not there: but only if this is a /proc. */
	if (!result && read_stat("/proc/self/stat", &line) != 1)
		result = -1;
	errno = saved;
	if (result <= 0)
		return !result;
	if (line.start_time != start_time)
		return true;
	/* A main thread that ended leaves a zombie while others go on. */
	return (line.state == 'Z' || line.state == 'X') && line.threads <= 1;
}
