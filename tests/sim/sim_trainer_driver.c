/* Reaches the driver by the ways that programs use. */
/* SPDX-License-Identifier: MIT */
#include "sim_trainer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SIM_TRAINER_LINKED
/* NOLINTBEGIN(readability-identifier-naming): the driver's names */
#	define CALL(field, base, elf, version, stream, arguments)             \
		extern int elf arguments;
TRAINER_CALLS(CALL)
#	undef CALL
/* NOLINTEND(readability-identifier-naming) */
#endif

#define PER_THREAD_FLAG 2
/* Where the variants per thread begin, for functions older than that. */
#define PER_THREAD_VERSION 7000

struct row {
	const char *base, *elf;
	int version;
	bool has_stream;
	size_t offset;
};

static const struct row rows[] = {
#define CALL(field, base, elf, version, stream, arguments)                     \
	{ #base, #elf, version, stream, offsetof(struct api, field) },
	TRAINER_CALLS(CALL)
#undef CALL
};
#define ROW_COUNT (sizeof(rows) / sizeof(*rows))

typedef int get_proc_v1(const char *, void **, int, uint64_t);
typedef int get_proc_v2(const char *, void **, int, uint64_t, int *);

struct way {
	void *library;
	get_proc_v1 *v1;
	get_proc_v2 *v2;
	bool is_per_thread;
};

__attribute__((noreturn)) static void no_driver(const char *what)
{
	const char *reason = dlerror();

	(void)fprintf(stderr, "no CUDA driver: %s\n", reason ? reason : what);
	exit(1);
}

/* Function pointers come as data pointers; ISO C has no cast for that. */
static void set(void *function, void *address)
{
	memcpy(function, &address, sizeof(address));
}

static void open_way(struct way *way, const struct options *options)
{
	void *address = NULL;

	way->is_per_thread = options->per_thread;
	way->library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!way->library)
		no_driver("libcuda.so.1");
	if (options->access == ACCESS_GPA) {
		set(&way->v1, dlsym(way->library, "cuGetProcAddress"));
		if (!way->v1)
			no_driver("cuGetProcAddress");
	}
	if (options->access != ACCESS_GPA2)
		return;
	/* As libcudart 12 and 13: one symbol, a first call that asks for
	 * nothing, and then itself, once more, through itself. */
	set(&way->v2, dlsym(way->library, "cuGetProcAddress_v2"));
	if (!way->v2)
		no_driver("cuGetProcAddress_v2");
	(void)way->v2("", &address, 0, 0, NULL);
	(void)way->v2("cuGetProcAddress", &address, 11030, 0, NULL);
	address = NULL;
	if (way->v2("cuGetProcAddress", &address, 12000, 0, NULL) == 0 &&
	    address)
		set(&way->v2, address);
}

static void *find(const struct way *way, const struct row *row)
{
	bool is_per_thread = way->is_per_thread && row->has_stream;
	uint64_t flags = is_per_thread ? PER_THREAD_FLAG : 0;
	int version = row->version;
	void *address = NULL;
	char name[64];

	if (is_per_thread && version < PER_THREAD_VERSION)
		version = PER_THREAD_VERSION;
	if (way->v2)
		return way->v2(row->base, &address, version, flags, NULL) == 0
			       ? address
			       : NULL;
	if (way->v1)
		return way->v1(row->base, &address, version, flags) == 0
			       ? address
			       : NULL;
	(void)snprintf(name, sizeof(name), "%s%s", row->elf,
		       is_per_thread ? "_ptsz" : "");
	return dlsym(way->library, name);
}

#ifdef SIM_TRAINER_LINKED
static void link_all(struct api *api)
{
#	define CALL(field, base, elf, version, stream, arguments)             \
		api->field = elf;
	TRAINER_CALLS(CALL)
#	undef CALL
}
#else
static void link_all(struct api *api)
{
	(void)api;
	(void)fputs("error: --access link: use sim_trainer_linked\n", stderr);
	exit(BAD_USAGE);
}
#endif

/* In place of a function that an old driver does not have. */
static int missing(void)
{
	(void)fputs("no CUDA driver: it has no such function\n", stderr);
	exit(1);
}

/* In a dry run: every function of the driver. */
static int nothing(void)
{
	return 0;
}

void driver_load(struct trainer *trainer)
{
	struct way way = { 0 };
	int (*substitute)(void) = trainer->is_dry ? nothing : missing;

	if (!trainer->is_dry && trainer->options.access == ACCESS_LINK) {
		link_all(&trainer->api);
		return;
	}
	if (!trainer->is_dry)
		open_way(&way, &trainer->options);
	for (size_t i = 0; i < ROW_COUNT; i++) {
		char *field = (char *)&trainer->api + rows[i].offset;
		void *address = trainer->is_dry ? NULL : find(&way, &rows[i]);

		if (address)
			set(field, address);
		else
			memcpy(field, &substitute, sizeof(substitute));
	}
}

void driver_require(const struct trainer *trainer, int result, const char *what)
{
	const char *name = NULL;

	if (!result)
		return;
	(void)trainer->api.error_name(result, &name);
	(void)fprintf(stderr, "RuntimeError: %s: CUDA error %d (%s)\n", what,
		      result, name ? name : "unknown");
	exit(1);
}

void driver_ask_nvml(const struct trainer *trainer)
{
	struct {
		unsigned long long total, free, used;
	} memory = { 0 };
	int (*init)(void) = NULL;
	int (*by_index)(unsigned int, void **) = NULL;
	int (*get_memory)(void *, void *) = NULL;
	void *device = NULL;
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	if (!library)
		no_driver("libnvidia-ml.so.1");
	set(&init, dlsym(library, "nvmlInit_v2"));
	set(&by_index, dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
	set(&get_memory, dlsym(library, "nvmlDeviceGetMemoryInfo"));
	if (!init || !by_index || !get_memory || init() ||
	    by_index((unsigned int)trainer->device, &device) ||
	    get_memory(device, &memory)) {
		(void)fputs("nvml failed\n", stderr);
		exit(1);
	}
	(void)printf("nvml total=%llu free=%llu used=%llu\n", memory.total,
		     memory.free, memory.used);
}
