/* The process that uses a GPU for the self-test: a step, then a wait. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/selftest/selftest.h"

#include "probes/observers/gpu/cuda_api.h"
#include "probes/observers/selftest/selftest_api.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Of an element of the array, and how many stand in a row of it. */
#define ARRAY_FORMAT_FLOAT 0x20
#define ARRAY_WIDTH ((size_t)4096)
/* Of the version that cuMemAlloc has had since CUDA 3.2. */
#define LOOKED_VERSION 3020
#define MANAGED_GLOBAL 1
#define ALLOCATION_PINNED 1
#define WORDS 3

#define SELFTEST_SLOT(member, symbol)                                          \
	{                                                                      \
		offsetof(struct selftest_api, member), symbol                  \
	}

static const struct {
	size_t offset;
	const char *symbol;
} selftest_slots[] = {
	SELFTEST_SLOT(init, "cuInit"),
	SELFTEST_SLOT(driver_version, "cuDriverGetVersion"),
	SELFTEST_SLOT(device_get, "cuDeviceGet"),
	SELFTEST_SLOT(total_mem, "cuDeviceTotalMem_v2"),
	SELFTEST_SLOT(context_retain, "cuDevicePrimaryCtxRetain"),
	SELFTEST_SLOT(context_release, "cuDevicePrimaryCtxRelease_v2"),
	SELFTEST_SLOT(context_set, "cuCtxSetCurrent"),
	SELFTEST_SLOT(memory_info, "cuMemGetInfo_v2"),
	SELFTEST_SLOT(lookup, "cuGetProcAddress_v2"),
	SELFTEST_SLOT(linear, "cuMemAlloc_v2"),
	SELFTEST_SLOT(linear_free, "cuMemFree_v2"),
	SELFTEST_SLOT(pool, "cuMemAllocAsync"),
	SELFTEST_SLOT(pool_free, "cuMemFreeAsync"),
	SELFTEST_SLOT(stream_wait, "cuStreamSynchronize"),
	SELFTEST_SLOT(virtual, "cuMemCreate"),
	SELFTEST_SLOT(virtual_free, "cuMemRelease"),
	SELFTEST_SLOT(array, "cuArrayCreate_v2"),
	SELFTEST_SLOT(array_free, "cuArrayDestroy"),
	SELFTEST_SLOT(managed, "cuMemAllocManaged"),
	SELFTEST_SLOT(host, "cuMemHostAlloc"),
	SELFTEST_SLOT(host_free, "cuMemFreeHost"),
};

static_assert(sizeof(selftest_slots) / sizeof(*selftest_slots) ==
		      sizeof(struct selftest_api) / sizeof(void *),
	      "a slot of struct selftest_api has no symbol");

/* The process under way. */
struct serving {
	struct selftest_api api;
	int fd; /* the socket to autofit */
	int ordinal, device;
	int32_t driver_version;
	int64_t init_us;
};

/* A block of any kind; of which member is set its kind says. */
struct block {
	unsigned long long place;
	void *handle;
};

static unsigned int take_linear(const struct serving *serving,
				struct block *block)
{
	return serving->api.linear ? serving->api.linear(&block->place,
							 SELFTEST_BLOCK_BYTES)
				   : SELFTEST_NO_FUNCTION;
}

static unsigned int give_linear(const struct serving *serving,
				const struct block *block)
{
	return serving->api.linear_free ? serving->api.linear_free(block->place)
					: SELFTEST_NO_FUNCTION;
}

/* As the CUDA runtime finds it. */
static unsigned int take_looked(const struct serving *serving,
				struct block *block)
{
	unsigned int (*linear)(unsigned long long *place, size_t bytes);
	void *found = NULL;

	if (!serving->api.lookup ||
	    serving->api.lookup("cuMemAlloc", &found, LOOKED_VERSION, 0,
				NULL) ||
	    !found)
		return SELFTEST_NO_FUNCTION;
	/* POSIX: a pointer from dlsym may be used as a function. */
	memcpy(&linear, &found, sizeof(linear));
	return linear(&block->place, SELFTEST_BLOCK_BYTES);
}

/*
 * A copy that asks as well, as data loaders do by mistake, and ends: a real
 * driver answers it nothing. What the process holds must not change by that.
 */
static unsigned int take_forked(const struct serving *serving,
				struct block *block)
{
	unsigned int answer = take_linear(serving, block);
	struct block own = { 0 };
	pid_t copy;

	if (answer)
		return answer;
	copy = fork();
	if (copy == 0) {
		if (take_linear(serving, &own) == 0)
			(void)give_linear(serving, &own);
		_Exit(EXIT_SUCCESS);
	}
	while (copy > 0 && waitpid(copy, NULL, 0) < 0 && errno == EINTR)
		;
	return answer;
}

static unsigned int take_pool(const struct serving *serving,
			      struct block *block)
{
	if (!serving->api.pool || !serving->api.pool_free ||
	    !serving->api.stream_wait)
		return SELFTEST_NO_FUNCTION;
	return serving->api.pool(&block->place, SELFTEST_BLOCK_BYTES, NULL);
}

/* The pool gives it back when its stream is waited for. */
static unsigned int give_pool(const struct serving *serving,
			      const struct block *block)
{
	unsigned int answer = serving->api.pool_free(block->place, NULL);

	return answer ? answer : serving->api.stream_wait(NULL);
}

static unsigned int take_virtual(const struct serving *serving,
				 struct block *block)
{
	/* CUmemAllocationProp begins in the same way, and its rest is zero. */
	const struct pool_properties properties = {
		.allocation_type = ALLOCATION_PINNED,
		.location = { .type = LOCATION_DEVICE, .id = serving->device },
	};

	if (!serving->api.virtual || !serving->api.virtual_free)
		return SELFTEST_NO_FUNCTION;
	return serving->api.virtual(&block->place, SELFTEST_BLOCK_BYTES,
				    &properties, 0);
}

static unsigned int give_virtual(const struct serving *serving,
				 const struct block *block)
{
	return serving->api.virtual_free(block->place);
}

static unsigned int take_array(const struct serving *serving,
			       struct block *block)
{
	const struct array_descriptor descriptor = {
		.width = ARRAY_WIDTH,
		.height = SELFTEST_BLOCK_BYTES / (ARRAY_WIDTH * sizeof(float)),
		.format = ARRAY_FORMAT_FLOAT,
		.channels = 1,
	};

	if (!serving->api.array || !serving->api.array_free)
		return SELFTEST_NO_FUNCTION;
	return serving->api.array(&block->handle, &descriptor);
}

static unsigned int give_array(const struct serving *serving,
			       const struct block *block)
{
	return serving->api.array_free(block->handle);
}

static unsigned int take_managed(const struct serving *serving,
				 struct block *block)
{
	return serving->api.managed ? serving->api.managed(&block->place,
							   SELFTEST_BLOCK_BYTES,
							   MANAGED_GLOBAL)
				    : SELFTEST_NO_FUNCTION;
}

static unsigned int take_pinned(const struct serving *serving,
				struct block *block)
{
	if (!serving->api.host || !serving->api.host_free)
		return SELFTEST_NO_FUNCTION;
	return serving->api.host(&block->handle, SELFTEST_BLOCK_BYTES, 0);
}

static unsigned int give_pinned(const struct serving *serving,
				const struct block *block)
{
	return serving->api.host_free(block->handle);
}

static const struct {
	const char *name;
	unsigned int (*take)(const struct serving *serving,
			     struct block *block);
	unsigned int (*give)(const struct serving *serving,
			     const struct block *block);
} selftest_kinds[SELFTEST_KINDS] = {
	[SELFTEST_LINEAR] = { "cuMemAlloc", take_linear, give_linear },
	[SELFTEST_LOOKED] = { "cuMemAlloc, as the CUDA runtime finds it",
			      take_looked, give_linear },
	[SELFTEST_FORKED] = { "cuMemAlloc, with a copy of the process",
			      take_forked, give_linear },
	[SELFTEST_POOL] = { "cuMemAllocAsync", take_pool, give_pool },
	[SELFTEST_VIRTUAL] = { "cuMemCreate", take_virtual, give_virtual },
	[SELFTEST_ARRAY] = { "cuArrayCreate", take_array, give_array },
	[SELFTEST_MANAGED] = { "cuMemAllocManaged", take_managed, give_linear },
	[SELFTEST_HOST] = { "cuMemHostAlloc", take_pinned, give_pinned },
};

const char *selftest_kind_name(enum selftest_kind kind)
{
	return selftest_kinds[kind].name;
}

static bool selftest_load(struct serving *serving)
{
	void *library = dlopen(CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
	for (size_t i = 0; i < sizeof(selftest_slots) / sizeof(*selftest_slots);
	     i++) {
		void *symbol = dlsym(library, selftest_slots[i].symbol);

		memcpy((char *)&serving->api + selftest_slots[i].offset,
		       &symbol, sizeof(symbol));
	}
	return serving->api.init && serving->api.device_get &&
	       serving->api.context_retain && serving->api.context_release &&
	       serving->api.context_set && serving->api.memory_info &&
	       serving->api.total_mem;
}

/* Tells the step, and waits until autofit has looked. */
static void tell_step(const struct serving *serving, struct selftest_step step)
{
	size_t free_bytes = 0;
	size_t total_bytes = 0;
	char go;

	step.driver_version = serving->driver_version;
	step.init_us = serving->init_us;
	if (step.stage > SELFTEST_STARTED &&
	    serving->api.memory_info(&free_bytes, &total_bytes) == 0) {
		step.free_bytes = free_bytes;
		step.total_bytes = total_bytes;
	}
	if (send(serving->fd, &step, sizeof(step), MSG_NOSIGNAL) < 0 ||
	    recv(serving->fd, &go, sizeof(go), 0) != (ssize_t)sizeof(go))
		_Exit(EXIT_FAILURE); /* nobody is there any more */
}

static int64_t now_us(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* always there */
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* False: there is nothing to go on with. */
static bool serve_start(struct serving *serving)
{
	struct selftest_step step = { .stage = SELFTEST_STARTED };
	int64_t begun_us = now_us();
	void *context = NULL;
	int version = 0;

	step.answer = serving->api.init(0);
	serving->init_us = now_us() - begun_us;
	if (serving->api.driver_version &&
	    serving->api.driver_version(&version) == 0)
		serving->driver_version = version;
	tell_step(serving, step);
	if (step.answer)
		return false;
	step.stage = SELFTEST_CONTEXT;
	step.answer =
		serving->api.device_get(&serving->device, serving->ordinal);
	if (!step.answer)
		step.answer =
			serving->api.context_retain(&context, serving->device);
	if (!step.answer)
		step.answer = serving->api.context_set(context);
	tell_step(serving, step);
	return step.answer == 0;
}

static void serve_kind(const struct serving *serving, enum selftest_kind kind)
{
	struct selftest_step step = { .stage = SELFTEST_TAKEN,
				      .kind = kind,
				      .asked_bytes = SELFTEST_BLOCK_BYTES };
	struct block block = { 0 };

	step.answer = selftest_kinds[kind].take(serving, &block);
	tell_step(serving, step);
	if (step.answer)
		return;
	step.stage = SELFTEST_GIVEN;
	step.answer = selftest_kinds[kind].give(serving, &block);
	tell_step(serving, step);
}

/* Nothing is granted, on any card: so much no card has. */
static void serve_refusal(const struct serving *serving)
{
	struct selftest_step step = { .stage = SELFTEST_REFUSED,
				      .answer = SELFTEST_NO_FUNCTION };
	unsigned long long place = 0;
	size_t total = 0;

	if (serving->api.linear && serving->api.linear_free &&
	    serving->api.total_mem(&total, serving->device) == 0) {
		step.asked_bytes = total + GIB;
		step.answer = serving->api.linear(&place, step.asked_bytes);
		if (!step.answer)
			(void)serving->api.linear_free(place);
	}
	tell_step(serving, step);
}

static void serve_fill(const struct serving *serving)
{
	struct selftest_step step = { .stage = SELFTEST_FILLED,
				      .asked_bytes = SELFTEST_BLOCK_BYTES };
	struct block blocks[SELFTEST_BLOCKS_MAX] = { { 0 } };
	size_t count = 0;

	while (count < SELFTEST_BLOCKS_MAX && !step.answer) {
		step.answer = take_linear(serving, &blocks[count]);
		if (!step.answer)
			count++;
	}
	step.granted_bytes = count * SELFTEST_BLOCK_BYTES;
	tell_step(serving, step);
	while (count > 0)
		(void)give_linear(serving, &blocks[--count]);
}

static void serve_all(struct serving *serving, const char *what)
{
	struct selftest_step over = { .stage = SELFTEST_OVER };

	if (!serve_start(serving))
		return;
	for (int kind = 0; kind < SELFTEST_KINDS && strcmp(what, "cap") != 0;
	     kind++)
		serve_kind(serving, (enum selftest_kind)kind);
	if (strcmp(what, "cap") == 0)
		serve_fill(serving);
	else if (strcmp(what, "refusal") == 0)
		serve_refusal(serving);
	tell_step(serving, over);
	(void)serving->api.context_release(serving->device);
}

int selftest_serve(const char *const arguments[], size_t count)
{
	struct serving serving = { .fd = -1 };
	int64_t numbers[2];

	if (count != WORDS ||
	    integer_parse(arguments[0], &numbers[0], NULL) < 0 ||
	    integer_parse(arguments[1], &numbers[1], NULL) < 0 ||
	    numbers[0] < 0 || numbers[0] > INT32_MAX || numbers[1] < 0 ||
	    numbers[1] >= GPU_MAX)
		return EXIT_FAILURE;
	serving.fd = (int)numbers[0];
	serving.ordinal = (int)numbers[1];
	if (!selftest_load(&serving))
		return EXIT_FAILURE;
	serve_all(&serving, arguments[2]);
	return EXIT_SUCCESS;
}
