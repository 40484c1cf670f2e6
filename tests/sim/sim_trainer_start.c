/* What the simulated trainer does before its first step. */
/* SPDX-License-Identifier: MIT */
#include "sim_trainer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Memory that varies is whole at the third step of five. */
#define VARY_STEPS 5
#define VARY_FULL_STEP 3
#define THREADS_MAX 64

uint64_t train_activation_bytes(const struct options *options, long step)
{
	uint64_t batch = (uint64_t)options->batch_size;
	uint64_t sample = (uint64_t)options->per_sample_kib * KIB;
	uint64_t bytes = sample * batch;

	if (options->curve == CURVE_STEP)
		bytes = sample * ((batch + 7) / 8 * 8);
	if (options->curve == CURVE_QUADRATIC)
		bytes += bytes / 64 * batch;
	if (options->curve == CURVE_DIP && batch % 8 == 0)
		bytes -= bytes / 4;
	if (options->vary_pct)
		bytes -= bytes / 100 * (uint64_t)options->vary_pct *
			 (uint64_t)(VARY_STEPS - 1 -
				    step * VARY_FULL_STEP % VARY_STEPS) /
			 (VARY_STEPS - 1);
	return bytes;
}

void train_touch_host(struct trainer *trainer)
{
	const struct options *options = &trainer->options;
	size_t bytes = (size_t)options->host_mib * MIB;

	if (options->ignore_gpu)
		bytes += train_activation_bytes(options, VARY_FULL_STEP);
	if (!bytes || trainer->is_dry)
		return;
	trainer->host = malloc(bytes);
	if (!trainer->host)
		abort();
	/* Without a lasting trace nothing might be written. */
	for (size_t i = 0; i < bytes; i += 4 * KIB)
		((volatile unsigned char *)trainer->host)[i] = 1;
}

/* What no child may do after a fork: the driver refuses all of it. */
static void misuse(const struct trainer *trainer)
{
	unsigned long long pointer = 0;

	if (trainer->api.init(0) == 0 ||
	    trainer->api.alloc(&pointer, MIB) == 0 ||
	    (trainer->block_count &&
	     trainer->api.free(trainer->blocks[0].pointer) == 0)) {
		(void)fputs("CUDA works after fork\n", stderr);
		_exit(1);
	}
}

/*
 * As data loaders: forked, and without CUDA. Every second one ends at once,
 * by exit() and its handlers; the others when this process does.
 */
void train_start_workers(const struct trainer *trainer)
{
	int ends[2];

	if (!trainer->options.fork || trainer->is_dry)
		return;
	if (pipe(ends) < 0)
		abort();
	(void)fflush(NULL);
	for (long i = 0; i < trainer->options.fork; i++) {
		char byte;

		if (fork() != 0)
			continue;
		if (trainer->options.misuse)
			misuse(trainer);
		if (i % 2)
			exit(0);
		(void)close(ends[1]);
		(void)!read(ends[0], &byte, 1); /* the end of the file */
		_exit(0);
	}
	(void)close(ends[0]);
}

struct crew {
	const struct trainer *trainer;
	atomic_bool is_done;
};

/* Of the driver and not of the cache; counted by nobody. */
static struct trainer join_crew(const struct crew *crew)
{
	struct trainer mine = *crew->trainer;

	driver_require(&mine, mine.api.set_current(mine.context),
		       "cuCtxSetCurrent");
	return mine;
}

static void *allocate_much(void *argument)
{
	struct trainer mine = join_crew(argument);
	uint64_t bytes = (uint64_t)mine.options.thread_kib * KIB;

	for (long i = 0; i < mine.options.thread_pairs; i++) {
		struct block block;

		if (memory_take(&mine, bytes, &block)) {
			blocks_raise(&mine, false);
			exit(1);
		}
		memory_give(&mine, &block);
	}
	return NULL;
}

/* More than there is, of which the others must notice nothing. */
static void *ask_too_much(void *argument)
{
	const struct crew *crew = argument;
	struct trainer mine = join_crew(crew);
	struct block block;
	size_t total = 0;

	driver_require(&mine, mine.api.total_mem(&total, mine.device),
		       "cuDeviceTotalMem");
	while (!crew->is_done)
		if (!memory_take(&mine, total, &block))
			abort();
	return NULL;
}

void train_threads(struct trainer *trainer)
{
	struct crew crew = { .trainer = trainer };
	pthread_t threads[THREADS_MAX];
	pthread_t greedy;
	long count = trainer->options.threads;
	const bool is_greedy = trainer->options.greedy;

	if (trainer->is_dry)
		return;
	if (count > THREADS_MAX)
		count = THREADS_MAX;
	if (is_greedy && pthread_create(&greedy, NULL, ask_too_much, &crew))
		abort();
	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, allocate_much, &crew))
			abort();
	for (long i = 0; i < count; i++)
		(void)pthread_join(threads[i], NULL);
	crew.is_done = true;
	if (is_greedy)
		(void)pthread_join(greedy, NULL);
}

static void open_context(struct trainer *trainer)
{
	const struct api *api = &trainer->api;
	int count = 1;

	driver_require(trainer, api->init(0), "cuInit");
	if (trainer->rank > 0 && !trainer->options.one_device) {
		driver_require(trainer, api->device_count(&count),
			       "cuDeviceGetCount");
		count = count > 0 ? trainer->rank % count : 0;
	} else {
		count = 0;
	}
	driver_require(trainer, api->device_get(&trainer->device, count),
		       "cuDeviceGet");
	driver_require(trainer, api->retain(&trainer->context, trainer->device),
		       "cuDevicePrimaryCtxRetain");
	if (trainer->options.second_context)
		driver_require(trainer,
			       api->context_create(&trainer->second_context, 0,
						   trainer->device),
			       "cuCtxCreate");
	driver_require(trainer, api->set_current(trainer->context),
		       "cuCtxSetCurrent");
}

static void preallocate(struct trainer *trainer)
{
	size_t total = 0;

	if (!trainer->options.preallocate || trainer->is_dry)
		return;
	driver_require(trainer, trainer->api.total_mem(&total, trainer->device),
		       "cuDeviceTotalMem");
	total = total / 100 * (size_t)trainer->options.preallocate;
	total -= total % GRANULE_BYTES;
	if (memory_take(trainer, total, &trainer->preallocated)) {
		blocks_raise(trainer, false);
		exit(1);
	}
}

void train_start(struct trainer *trainer)
{
	void *module = NULL;

	driver_load(trainer);
	open_context(trainer);
	train_touch_host(trainer);
	memory_open(trainer);
	if (trainer->options.launches) {
		driver_require(trainer,
			       trainer->api.module_load(&module, "image"),
			       "cuModuleLoadData");
		driver_require(trainer,
			       trainer->api.function(&trainer->function, module,
						     "kernel"),
			       "cuModuleGetFunction");
	}
	preallocate(trainer);
}
