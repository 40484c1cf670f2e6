/* Trains on a simulated GPU: takes device memory as PyTorch would. */
/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Peak = fixed + per sample x batch size. Half of the fixed part is there
 * from the start (the weights), the other half from the first optimizer step
 * on (its state); activations are kept for the next step, as by a caching
 * allocator, and given back to the driver when an allocation fails.
 */
#define MIB (UINT64_C(1) << 20)
#define PIECE_BYTES (20 * MIB) /* as PyTorch asks for in one go */
#define PIECES_MAX 65536
#define OUT_OF_MEMORY 2

struct api {
	int (*init)(unsigned int flags);
	int (*device_get)(int *device, int ordinal);
	int (*retain)(void **context, int device);
	int (*set_current)(void *context);
	int (*allocate)(unsigned long long *pointer, size_t bytes);
	int (*release)(unsigned long long pointer);
	int (*get_info)(size_t *free_bytes, size_t *total_bytes);
	int (*error_name)(int result, const char **text);
};

struct training {
	struct api api;
	long batch_size, grad_accum, steps, fixed_mib, per_sample_kib;
	long step_ms;                          /* least duration of a step */
	unsigned long long cached[PIECES_MAX]; /* activations */
	size_t cached_count;
	uint64_t cached_bytes, kept_bytes;
};

static void load(struct api *api)
{
	static const char *const names[] = {
		"cuInit",          "cuDeviceGet",    "cuDevicePrimaryCtxRetain",
		"cuCtxSetCurrent", "cuMemAlloc_v2",  "cuMemFree_v2",
		"cuMemGetInfo_v2", "cuGetErrorName",
	};
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	_Static_assert(sizeof(*api) == sizeof(names), "a slot without a name");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *symbol = library ? dlsym(library, names[i]) : NULL;

		if (!symbol) {
			(void)fprintf(stderr, "no CUDA driver: %s\n",
				      dlerror());
			exit(1);
		}
		memcpy((char *)api + i * sizeof(symbol), &symbol,
		       sizeof(symbol));
	}
}

static void require(const struct api *api, int result, const char *what)
{
	const char *name = "unknown";

	if (!result)
		return;
	(void)api->error_name(result, &name);
	(void)fprintf(stderr, "RuntimeError: %s: CUDA error %d (%s)\n", what,
		      result, name);
	exit(1);
}

static double gib(uint64_t bytes)
{
	return (double)bytes / (double)(1024 * MIB);
}

__attribute__((noreturn)) static void
out_of_memory(const struct training *training, uint64_t bytes)
{
	uint64_t mine = training->kept_bytes + training->cached_bytes;
	size_t free_bytes = 0;
	size_t total = 0;

	(void)training->api.get_info(&free_bytes, &total);
	(void)fprintf(
		stderr,
		"Traceback (most recent call last):\n"
		"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to "
		"allocate %.2f MiB. GPU 0 has a total capacity of %.2f GiB of "
		"which %.2f GiB is free. Including non-PyTorch memory, this "
		"process has %.2f GiB memory in use. Of the allocated memory "
		"%.2f GiB is allocated by PyTorch, and %.2f GiB is reserved "
		"by PyTorch but unallocated.\n",
		(double)bytes / (double)MIB, gib(total), gib(free_bytes),
		gib(mine), gib(training->kept_bytes),
		gib(training->cached_bytes));
	exit(1);
}

static void empty_cache(struct training *training)
{
	while (training->cached_count)
		require(&training->api,
			training->api.release(
				training->cached[--training->cached_count]),
			"cuMemFree");
	training->cached_bytes = 0;
}

/* Once more after the cache was given back, as PyTorch does. */
static unsigned long long take(struct training *training, uint64_t bytes,
			       bool may_empty_cache)
{
	unsigned long long pointer = 0;
	int result = training->api.allocate(&pointer, bytes);

	if (result == OUT_OF_MEMORY && may_empty_cache) {
		empty_cache(training);
		result = training->api.allocate(&pointer, bytes);
	}
	if (result == OUT_OF_MEMORY)
		out_of_memory(training, bytes);
	require(&training->api, result, "cuMemAlloc");
	return pointer;
}

/* Weights and optimizer state: never given back. */
static void keep(struct training *training, uint64_t bytes)
{
	while (bytes) {
		uint64_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;

		(void)take(training, piece, true);
		training->kept_bytes += piece;
		bytes -= piece;
	}
}

static void forward_backward(struct training *training)
{
	uint64_t needed = (uint64_t)training->per_sample_kib * 1024 *
			  (uint64_t)training->batch_size;

	while (training->cached_bytes < needed) {
		uint64_t left = needed - training->cached_bytes;
		uint64_t piece = left < PIECE_BYTES ? left : PIECE_BYTES;

		if (training->cached_count == PIECES_MAX)
			out_of_memory(training, piece);
		/* What is cached is in use: there is nothing to give back. */
		training->cached[training->cached_count] =
			take(training, piece, false);
		training->cached_count++;
		training->cached_bytes += piece;
	}
}

static long number_of(const char *option, const char *text)
{
	char *end = NULL;
	long number = text ? strtol(text, &end, 10) : -1;

	if (!text || end == text || *end || number < 0) {
		(void)fprintf(stderr, "error: %s needs a number\n", option);
		exit(2);
	}
	return number;
}

static void parse(struct training *training, char **argv)
{
	const struct {
		const char *name;
		long *value;
	} options[] = {
		{ "--batch-size", &training->batch_size },
		{ "--grad-accum", &training->grad_accum },
		{ "--steps", &training->steps },
		{ "--fixed-mib", &training->fixed_mib },
		{ "--per-sample-kib", &training->per_sample_kib },
		{ "--step-ms", &training->step_ms },
	};
	const size_t count = sizeof(options) / sizeof(*options);

	for (char **arg = argv + 1; *arg; arg += 2) {
		size_t i = 0;

		while (i < count && strcmp(options[i].name, *arg) != 0)
			i++;
		if (i == count) {
			(void)fprintf(stderr,
				      "error: unrecognized arguments: %s\n",
				      *arg);
			exit(2);
		}
		*options[i].value = number_of(*arg, arg[1]);
	}
}

static void train(struct training *training)
{
	uint64_t fixed = (uint64_t)training->fixed_mib * MIB;
	void *context = NULL;
	int device = 0;
	const struct timespec least = {
		.tv_sec = training->step_ms / 1000,
		.tv_nsec = training->step_ms % 1000 * 1000000,
	};
	const struct api *api = &training->api;

	require(api, api->init(0), "cuInit");
	require(api, api->device_get(&device, 0), "cuDeviceGet");
	require(api, api->retain(&context, device), "cuDevicePrimaryCtxRetain");
	require(api, api->set_current(context), "cuCtxSetCurrent");
	keep(training, fixed / 2);
	for (long step = 1; step <= training->steps; step++) {
		for (long micro = 0; micro < training->grad_accum; micro++)
			forward_backward(training);
		if (step == 1)
			keep(training, fixed - fixed / 2);
		(void)nanosleep(&least, NULL);
		(void)printf("step %ld/%ld\n", step, training->steps);
		(void)fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	struct training *training = calloc(1, sizeof(*training));

	if (!training || argc < 1)
		return 1;
	training->batch_size = 8;
	training->grad_accum = 1;
	training->steps = 10;
	training->fixed_mib = 512;
	training->per_sample_kib = 1024;
	parse(training, argv);
	load(&training->api);
	train(training);
	free(training);
	return 0;
}
