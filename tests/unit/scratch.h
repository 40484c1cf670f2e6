/* A temporary folder for one test, and files in it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_UNIT_SCRATCH_H
#define AUTOFIT_TESTS_UNIT_SCRATCH_H

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRATCH_MAX 64
#define SCRATCH_PATH_MAX 512

/* cmocka's setup and teardown: *state is the folder's path. */
static inline int scratch_make(void **state)
{
	char *folder = malloc(SCRATCH_MAX);

	if (!folder)
		return -1;
	(void)snprintf(folder, SCRATCH_MAX, "/tmp/autofit-test-XXXXXX");
	*state = folder;
	return mkdtemp(folder) ? 0 : -1;
}

static inline int scratch_remove_one(const char *path, const struct stat *info,
				     int kind, struct FTW *where)
{
	(void)info;
	(void)kind;
	(void)where;
	(void)remove(path);
	return 0;
}

static inline int scratch_remove(void **state)
{
	(void)nftw(*state, scratch_remove_one, 32, FTW_DEPTH | FTW_PHYS);
	free(*state);
	return 0;
}

/* folder/name in a buffer of the caller's. */
static inline const char *scratch_path(char path[SCRATCH_PATH_MAX],
				       const char *folder, const char *name)
{
	(void)snprintf(path, SCRATCH_PATH_MAX, "%s/%s", folder, name);
	return path;
}

/* Plain and quick: nothing of what is tested writes it. 0 or -1. */
static inline int scratch_write(const char *path, const void *data,
				size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t done;

	if (fd < 0)
		return -1;
	done = write(fd, data, length);
	return close(fd) == 0 && done == (ssize_t)length ? 0 : -1;
}

/* The same numbers on every run: xorshift64. */
static inline uint64_t scratch_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* length bytes other than NUL, then a NUL. */
static inline char *scratch_random_text(uint64_t *state, size_t length)
{
	char *text = malloc(length + 1);

	for (size_t i = 0; text && i < length; i++)
		text[i] = (char)(scratch_random(state) % 255 + 1);
	if (text)
		text[length] = '\0';
	return text;
}

#endif
