/* A program that prints without measure: bars, colours, NULs, long lines. */
/* SPDX-License-Identifier: MIT */
/*
 * flood [--batch-size N] [--flood-mb MB] [--oom host|cuda] [--exit-code N]
 *
 * Prints so many megabytes on stdout, as fast as they are read, with one line
 * "step i/n" per 100 kB. With --oom the line of an allocator that gives up
 * stands in the middle. At the end "n of them" goes to stderr.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES 100000
#define CHUNKS 32
#define LONG_LINE_BYTES 1000000
/* Every so many chunks a long line. */
#define LONG_LINE_EVERY 64

struct flood {
	long megabytes, exit_code;
	const char *oom;
	char noise[CHUNKS][CHUNK_BYTES];
	char long_line[LONG_LINE_BYTES];
	uint32_t state;
	long steps, step;
};

static void put(const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t count = write(STDOUT_FILENO, bytes, length);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			_exit(3);
		bytes += count;
		length -= (size_t)count;
	}
}

static uint32_t next(struct flood *flood)
{
	flood->state ^= flood->state << 13;
	flood->state ^= flood->state >> 17;
	flood->state ^= flood->state << 5;
	return flood->state;
}

/* Invalid UTF-8, NUL and control bytes among it; neither \n nor \r. */
static void fill_noise(struct flood *flood, char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		bytes[i] = (char)(next(flood) >> 24);
		if (bytes[i] == '\n' || bytes[i] == '\r')
			bytes[i] = '\0';
	}
}

/* One line of filler; none of them is a step or says anything of memory. */
static size_t add_line(struct flood *flood, char *at)
{
	unsigned number = next(flood) % 100000;
	size_t length;

	switch (number % 4) {
	case 0:
		return (size_t)sprintf(at,
				       "Loading checkpoint shards: %3u%%|##    "
				       "| %u/100 [00:01<00:09, 9.7it/s]\r",
				       number % 100, number % 100);
	case 1:
		return (size_t)sprintf(at,
				       "\033[2K\033[1;3%um[worker %u]\033[0m "
				       "\033]0;title\007reads shard %u\n",
				       number % 8, number % 16, number);
	case 2:
		length = 20 + number % 100;
		fill_noise(flood, at, length);
		at[length] = '\n';
		return length + 1;
	default:
		return (size_t)sprintf(at,
				       "2026-02-03 11:02:14 INFO caf\xc3\xa9 "
				       "\xff\xfe %u tokens read\n",
				       number);
	}
}

/* Whole lines only, so that a step begins on a line of its own. */
static void fill_chunk(struct flood *flood, char *chunk)
{
	size_t length = 0;

	while (length < CHUNK_BYTES - 256)
		length += add_line(flood, chunk + length);
	memset(chunk + length, '.', CHUNK_BYTES - 1 - length);
	chunk[CHUNK_BYTES - 1] = '\n';
}

static void put_step(struct flood *flood)
{
	const char *color = "", *plain = "";
	char line[128];
	int length;

	flood->step++;
	if (flood->step % 3 == 0) {
		color = "\033[32m";
		plain = "\033[0m";
	}
	length = sprintf(line, "%sstep%s %s%ld%s/%ld loss 2.17%s", color, plain,
			 color, flood->step, plain, flood->steps,
			 flood->step % 2 ? " \xff\n" : "\r");
	put(line, (size_t)length);
}

static void put_oom(const struct flood *flood)
{
	static const char host[] =
		"\033[31mRuntimeError: [enforce fail at alloc_cpu.cpp:66] . "
		"DefaultCPUAllocator: can't allocate memory: you tried to "
		"allocate 1073741824 bytes. \xff\xfe\033[0m\n";
	static const char cuda[] =
		"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to "
		"allocate 2.00 MiB (GPU 0; 79.15 GiB total capacity)\n";

	if (flood->oom && strcmp(flood->oom, "host") == 0)
		put(host, sizeof(host) - 1);
	else if (flood->oom)
		put(cuda, sizeof(cuda) - 1);
}

static void put_all(struct flood *flood)
{
	flood->steps = flood->megabytes * 1000000 / CHUNK_BYTES;
	for (long i = 0; i < flood->steps; i++) {
		put(flood->noise[i % CHUNKS], CHUNK_BYTES);
		if (i % LONG_LINE_EVERY == 0)
			put(flood->long_line, LONG_LINE_BYTES);
		put_step(flood);
		if (i == flood->steps / 2)
			put_oom(flood);
	}
}

static void parse(struct flood *flood, int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--flood-mb") == 0)
			flood->megabytes = strtol(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--exit-code") == 0)
			flood->exit_code = strtol(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--oom") == 0)
			flood->oom = argv[i + 1];
		else if (strcmp(argv[i], "--batch-size") != 0)
			exit(2);
	}
}

int main(int argc, char **argv)
{
	static struct flood flood = { .megabytes = 1, .state = 2463534242U };

	parse(&flood, argc, argv);
	for (int i = 0; i < CHUNKS; i++)
		fill_chunk(&flood, flood.noise[i]);
	fill_noise(&flood, flood.long_line, LONG_LINE_BYTES);
	flood.long_line[LONG_LINE_BYTES - 1] = '\n';
	put_all(&flood);
	(void)fprintf(stderr, "%ld of them\n", flood.steps);
	return (int)flood.exit_code;
}
