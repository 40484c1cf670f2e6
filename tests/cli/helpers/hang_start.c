/* A trainer that takes long to start, or hangs above some size. */
/* SPDX-License-Identifier: MIT */
/*
 * hang_start [--batch-size N] [--steps N] [--start KIND] [--seconds N]
 *            [--hang-above N] [--stubborn 1]
 *
 * For so many seconds it shows no sign of life but one of this KIND: output,
 * io, cpu, memory; or none at all. Then it takes 1 MiB per sample and trains.
 * Above --hang-above samples it stands still instead, before it takes any.
 * Stubborn, it does not end on SIGTERM.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MEBIBYTE ((size_t)1 << 20)
#define PAUSE_NS 100000000L
#define STEP_NS 5000000L

struct settings {
	long batch_size, steps, seconds, hang_above, stubborn;
	const char *start;
};

static void pause_ns(long ns)
{
	const struct timespec time = { 0, ns };

	(void)nanosleep(&time, NULL);
}

static void take_memory(size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(3);
	memset(memory, 1, bytes);
}

static void read_something(void)
{
	char bytes[4096];
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)!read(fd, bytes, sizeof(bytes));
	(void)close(fd);
}

static void burn(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 10;

	while (clock() < end)
		continue;
}

static void live(const char *kind)
{
	if (strcmp(kind, "cpu") == 0) {
		burn();
		return;
	}
	if (strcmp(kind, "output") == 0)
		(void)!write(STDOUT_FILENO, ".", 1);
	else if (strcmp(kind, "io") == 0)
		read_something();
	else if (strcmp(kind, "memory") == 0)
		take_memory(MEBIBYTE / 4);
	pause_ns(PAUSE_NS);
}

static void train(const struct settings *settings)
{
	take_memory((size_t)settings->batch_size * MEBIBYTE);
	for (long step = 1; step <= settings->steps; step++) {
		pause_ns(STEP_NS);
		(void)printf("\nstep %ld/%ld\n", step, settings->steps);
		(void)fflush(stdout);
	}
}

static void parse(struct settings *settings, int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		long number = strtol(argv[i + 1], NULL, 10);

		if (strcmp(argv[i], "--batch-size") == 0)
			settings->batch_size = number;
		else if (strcmp(argv[i], "--steps") == 0)
			settings->steps = number;
		else if (strcmp(argv[i], "--seconds") == 0)
			settings->seconds = number;
		else if (strcmp(argv[i], "--hang-above") == 0)
			settings->hang_above = number;
		else if (strcmp(argv[i], "--stubborn") == 0)
			settings->stubborn = number;
		else if (strcmp(argv[i], "--start") == 0)
			settings->start = argv[i + 1];
		else
			exit(2);
	}
}

int main(int argc, char **argv)
{
	struct settings settings = { .batch_size = 8,
				     .steps = 20,
				     .start = "silent" };
	time_t end;

	parse(&settings, argc, argv);
	if (settings.stubborn)
		(void)signal(SIGTERM, SIG_IGN);
	end = time(NULL) + settings.seconds;
	while (time(NULL) < end)
		live(settings.start);
	while (settings.hang_above && settings.batch_size > settings.hang_above)
		(void)pause();
	train(&settings);
	return 0;
}
