/* What the preload library costs a program, on the simulated driver. */
/* SPDX-License-Identifier: MIT */
/*
 * Build it with -O2 and without sanitizers. Usage: preload [--rounds N]
 *
 * Each round is a process of its own, in turn without and with the library.
 * A real driver takes longer for each of these calls, so that the share of the
 * library is smaller there; nothing here says how much.
 */
/* USES base */
#include "probes/preload/ledger/page.h"
#include "tests/bench/times.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS_MAX 101
#define PAIRS 20000
#define LAUNCHES 200000
/* The fastest of so many calls in a row counts: on a machine that does other
 * work as well most are interrupted. */
#define CHUNK 1000
#define BLOCK_BYTES ((size_t)2 << 20)
#define PATH_BYTES 256

enum figure {
	FIRST_CALL,
	PAIR,
	POOL_PAIR,
	POOL_QUESTIONS,
	POOL_GROWS,
	LAUNCH,
	RESIDENT,
	FIGURES
};

static const struct {
	const char *name, *unit;
	double divisor;
} figures[FIGURES] = {
	{ "from the start to the end of cuInit", "ms", 1e6 },
	{ "cuMemAlloc and cuMemFree", "ns", 1 },
	{ "cuMemAllocAsync and cuMemFreeAsync", "ns", 1 },
	{ "  calls of the driver it adds to that", "ns", 1 },
	{ "the same, and cuStreamSynchronize", "ns", 1 },
	{ "cuLaunchKernel", "ns", 1 },
	{ "resident bytes of the page", "KiB", 1024 },
};

struct folder {
	char path[PATH_BYTES / 2];
	char page[PATH_BYTES], state[PATH_BYTES];
};

static double now_ns(void)
{
	return times_ns(CLOCK_MONOTONIC);
}

/* The least of the chunks that end with call number i, 1 the first. */
struct chunks {
	double begun, least;
};

static struct chunks chunks_begin(void)
{
	return (struct chunks){ .begun = times_ns(CLOCK_PROCESS_CPUTIME_ID) };
}

static void chunks_count(struct chunks *chunks, int calls)
{
	double now;

	if (calls % CHUNK)
		return;
	now = times_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (calls == CHUNK || now - chunks->begun < chunks->least)
		chunks->least = now - chunks->begun;
	chunks->begun = times_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Function pointers come as data pointers; ISO C has no cast for that. */
static void find(void *function, void *library, const char *name)
{
	void *address = library ? dlsym(library, name) : NULL;

	if (!address) {
		(void)fprintf(stderr, "no %s\n", name);
		_exit(1);
	}
	memcpy(function, &address, sizeof(address));
}

static void require(int result, const char *what)
{
	if (!result)
		return;
	(void)fprintf(stderr, "%s: CUDA error %d\n", what, result);
	_exit(1);
}

static void *open_driver(void)
{
	int (*init)(unsigned int);
	int (*retain)(void **, int);
	int (*set_current)(void *);
	void *context = NULL;
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	find(&init, library, "cuInit");
	find(&retain, library, "cuDevicePrimaryCtxRetain");
	find(&set_current, library, "cuCtxSetCurrent");
	require(init(0), "cuInit");
	require(retain(&context, 0), "cuDevicePrimaryCtxRetain");
	require(set_current(context), "cuCtxSetCurrent");
	return library;
}

static double measure_pairs(void *library)
{
	int (*allocate)(unsigned long long *, size_t);
	int (*release)(unsigned long long);
	unsigned long long pointer = 0;
	struct chunks chunks;

	find(&allocate, library, "cuMemAlloc_v2");
	find(&release, library, "cuMemFree_v2");
	chunks = chunks_begin();
	for (int i = 0; i < PAIRS; i++) {
		require(allocate(&pointer, BLOCK_BYTES), "cuMemAlloc");
		require(release(pointer), "cuMemFree");
		chunks_count(&chunks, i + 1);
	}
	return chunks.least / CHUNK;
}

/* In the order of the default stream; waiting gives the memory back. */
static double measure_pool_pairs(void *library, bool with_wait)
{
	int (*allocate)(unsigned long long *, size_t, void *);
	int (*release)(unsigned long long, void *);
	int (*wait)(void *);
	unsigned long long pointer = 0;
	struct chunks chunks;

	find(&allocate, library, "cuMemAllocAsync");
	find(&release, library, "cuMemFreeAsync");
	find(&wait, library, "cuStreamSynchronize");
	chunks = chunks_begin();
	for (int i = 0; i < PAIRS; i++) {
		require(allocate(&pointer, BLOCK_BYTES, NULL),
			"cuMemAllocAsync");
		require(release(pointer, NULL), "cuMemFreeAsync");
		if (with_wait)
			require(wait(NULL), "cuStreamSynchronize");
		chunks_count(&chunks, i + 1);
	}
	return chunks.least / CHUNK;
}

/* What the library asks the driver for each such pair: whose memory it is, and
 * how much that pool holds. */
static double measure_pool_questions(void *library)
{
	int (*allocate)(unsigned long long *, size_t, void *);
	int (*release)(unsigned long long, void *);
	int (*ask)(unsigned int, unsigned int *, void **, unsigned long long);
	int (*ask_pool)(void *, int, void *);
	/* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, _MEMPOOL_HANDLE */
	unsigned int names[] = { 9, 17 };
	unsigned long long pointer = 0;
	unsigned long long bytes = 0;
	void *pool = NULL;
	int device = 0;
	void *answers[] = { &device, &pool };
	struct chunks chunks;

	find(&allocate, library, "cuMemAllocAsync");
	find(&release, library, "cuMemFreeAsync");
	find(&ask, library, "cuPointerGetAttributes");
	find(&ask_pool, library, "cuMemPoolGetAttribute");
	require(allocate(&pointer, BLOCK_BYTES, NULL), "cuMemAllocAsync");
	chunks = chunks_begin();
	for (int i = 0; i < PAIRS; i++) {
		require(ask(2, names, answers, pointer),
			"cuPointerGetAttributes");
		/* CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT */
		require(ask_pool(pool, 5, &bytes), "cuMemPoolGetAttribute");
		chunks_count(&chunks, i + 1);
	}
	require(release(pointer, NULL), "cuMemFreeAsync");
	return chunks.least / CHUNK;
}

static double measure_launches(void *library)
{
	int (*load)(void **, const void *);
	int (*function)(void **, void *, const char *);
	int (*launch)(void *, unsigned int, unsigned int, unsigned int,
		      unsigned int, unsigned int, unsigned int, unsigned int,
		      void *, void **, void **);
	void *module = NULL;
	void *kernel = NULL;
	struct chunks chunks;

	find(&load, library, "cuModuleLoadData");
	find(&function, library, "cuModuleGetFunction");
	find(&launch, library, "cuLaunchKernel");
	require(load(&module, "image"), "cuModuleLoadData");
	require(function(&kernel, module, "kernel"), "cuModuleGetFunction");
	chunks = chunks_begin();
	for (int i = 0; i < LAUNCHES; i++) {
		require(launch(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL),
			"cuLaunchKernel");
		chunks_count(&chunks, i + 1);
	}
	return chunks.least / CHUNK;
}

/* What of the file at path this process has in memory. */
static double resident_bytes(const char *path)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	char line[PATH_BYTES * 2];
	bool is_ours = false;
	double bytes = 0;

	while (file && fgets(line, sizeof(line), file)) {
		/* Only the lines of a mapping hold a dash before a blank. */
		if (strcspn(line, "-") < strcspn(line, " "))
			is_ours = strstr(line, path) != NULL;
		else if (is_ours && strncmp(line, "Rss:", 4) == 0)
			bytes += strtod(line + 4, NULL) * 1024;
	}
	if (file)
		(void)fclose(file); /* only read */
	return bytes;
}

static void measure(int out, double begun, const char *page_path)
{
	double results[FIGURES];
	void *library = open_driver();

	results[FIRST_CALL] = now_ns() - begun;
	results[PAIR] = measure_pairs(library);
	results[POOL_PAIR] = measure_pool_pairs(library, false);
	results[POOL_QUESTIONS] = measure_pool_questions(library);
	results[POOL_GROWS] = measure_pool_pairs(library, true);
	results[LAUNCH] = measure_launches(library);
	results[RESIDENT] = resident_bytes(page_path);
	if (write(out, results, sizeof(results)) != (ssize_t)sizeof(results))
		_exit(1);
	_exit(0);
}

static void set(const char *name, const char *value)
{
	if (setenv(name, value, 1) < 0)
		_exit(1);
}

/* This program once more, as another process, to measure. */
static void become(const struct folder *folder, bool with_library, int out)
{
	char number[16];
	char begun[32];

	set("LD_LIBRARY_PATH", TEST_BINARY_DIR "/sim");
	set("AUTOFIT_SIM_STATE", folder->state);
	set("AUTOFIT_SIM_DEVICES", "Sim:80G:0:300M");
	set(PRELOAD_PATH_VARIABLE, folder->page);
	if (with_library)
		set("LD_PRELOAD", TEST_BINARY_DIR "/libautofit_preload.so");
	(void)snprintf(number, sizeof(number), "%d", out);
	(void)snprintf(begun, sizeof(begun), "%.0f", now_ns());
	(void)execl("/proc/self/exe", "preload", "--measure", number, begun,
		    folder->page, (char *)NULL);
	_exit(1);
}

static int write_page(const char *path)
{
	const struct preload_header header = {
		.magic = PRELOAD_MAGIC,
		.version = PRELOAD_VERSION,
		.slots = PRELOAD_SLOTS,
		.size = sizeof(struct preload_page),
	};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int result = -1;

	if (fd < 0)
		return -1;
	if (ftruncate(fd, PRELOAD_PAGE_OFFSET +
				  (off_t)sizeof(struct preload_page)) == 0 &&
	    pwrite(fd, &header, sizeof(header), PRELOAD_PAGE_OFFSET) ==
		    (ssize_t)sizeof(header))
		result = 0;
	(void)close(fd); /* a test's file */
	return result;
}

static int run_round(const struct folder *folder, bool with_library,
		     double results[FIGURES])
{
	ssize_t length;
	int ends[2];
	int status = 0;
	pid_t pid;

	if (write_page(folder->page) < 0 || pipe(ends) < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		become(folder, with_library, ends[1]);
	(void)close(ends[1]);
	length = read(ends[0], results, FIGURES * sizeof(*results));
	(void)close(ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return -1;
	return length == (ssize_t)(FIGURES * sizeof(*results)) ? 0 : -1;
}

static void print_row(enum figure figure, const double least[2])
{
	double without = least[0] / figures[figure].divisor;
	double with = least[1] / figures[figure].divisor;

	printf("%-36s %10.1f %10.1f %10.1f %-4s", figures[figure].name, without,
	       with, with - without, figures[figure].unit);
	if (without > 0)
		printf(" %.2fx", with / without);
	printf("\n");
}

/* The least of all rounds: other work on the machine only slows. */
static int run_all(const struct folder *folder, long rounds)
{
	double least[FIGURES][2] = { 0 };

	for (long round = 0; round < rounds * 2; round++) {
		double results[FIGURES];
		bool with = round % 2;

		if (run_round(folder, with, results) < 0) {
			(void)fputs("preload: a round failed\n", stderr);
			return 1;
		}
		for (int i = 0; i < FIGURES; i++)
			if (round < 2 || results[i] < least[i][with])
				least[i][with] = results[i];
	}
	printf("simulated driver, the least of %ld rounds\n", rounds);
	printf("%-36s %10s %10s %10s\n", "", "without", "with", "more");
	for (int i = 0; i < FIGURES; i++)
		print_row((enum figure)i, least[i]);
	return 0;
}

int main(int argc, char **argv)
{
	struct folder folder = { .path = "/tmp/preload-XXXXXX" };
	long rounds = 11;
	char *end = NULL;
	int status;

	if (argc == 5 && strcmp(argv[1], "--measure") == 0)
		measure((int)strtol(argv[2], NULL, 10), strtod(argv[3], NULL),
			argv[4]);
	if (argc == 3 && strcmp(argv[1], "--rounds") == 0)
		rounds = strtol(argv[2], &end, 10);
	if ((argc != 1 && !end) || (end && *end) || rounds < 1 ||
	    rounds > ROUNDS_MAX) {
		(void)fputs("usage: preload [--rounds N], N up to 101\n",
			    stderr);
		return 2;
	}
	if (!mkdtemp(folder.path)) {
		perror(folder.path);
		return 1;
	}
	(void)snprintf(folder.page, sizeof(folder.page), "%s/page",
		       folder.path);
	(void)snprintf(folder.state, sizeof(folder.state), "%s/state",
		       folder.path);
	status = run_all(&folder, rounds);
	(void)unlink(folder.page);
	(void)unlink(folder.state);
	(void)rmdir(folder.path);
	return status;
}
