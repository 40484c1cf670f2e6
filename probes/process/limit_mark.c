/* A mark that a process hands on to all it starts, whatever they throw away. */
/* SPDX-License-Identifier: MIT */
#include "probes/process/limit_mark.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIMITS_MAX 8192
#define LIMITS_ROW "\nMax realtime timeout"
#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

/* From 2^61 on and below 2^62, so that none is near infinity or zero. */
static uint64_t limit_mark_number(const char *mark)
{
	uint64_t hash = FNV_OFFSET;

	for (; *mark; mark++)
		hash = (hash ^ (unsigned char)*mark) * FNV_PRIME;
	return UINT64_C(1) << 61 | hash >> 3;
}

void limit_mark_set(const char *mark)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_RTTIME, &limit) < 0 ||
	    limit.rlim_cur != RLIM_INFINITY || limit.rlim_max != RLIM_INFINITY)
		return;
	limit.rlim_cur = limit.rlim_max = limit_mark_number(mark);
	(void)setrlimit(RLIMIT_RTTIME, &limit);
}

bool limit_mark_is_at(int folder_fd, const char *mark)
{
	char text[LIMITS_MAX];
	int fd = openat(folder_fd, "limits", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *row;
	char number[24];

	if (fd >= 0)
		(void)close(fd);
	if (length <= 0)
		return false;
	assert((size_t)length < sizeof(text));
	text[length] = '\0';
	row = strstr(text, LIMITS_ROW);
	if (!row)
		return false;
	/* The soft limit, the hard one, and their unit. */
	row += strlen(LIMITS_ROW);
	row += strspn(row, " ");
	row += strcspn(row, " \n");
	row += strspn(row, " ");
	(void)snprintf(number, sizeof(number), "%" PRIu64,
		       limit_mark_number(mark));
	length = (ssize_t)strlen(number);
	return strncmp(row, number, (size_t)length) == 0 &&
	       strchr(" \n", row[length]);
}
