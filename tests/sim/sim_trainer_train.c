/* The phases of a training, and what memory each of them takes. */
/* SPDX-License-Identifier: MIT */
#include "sim_trainer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * Half of the fixed part is there from the start (the weights), the other
 * half from the first optimizer step on (its state); activations are given
 * back to the allocator before the optimizer steps.
 */
#define COPY_BYTES KIB

static void say(const struct trainer *trainer, const char *what, long step)
{
	if (trainer->is_dry || trainer->rank > 0)
		return;
	(void)printf("%s %ld/%ld\n", what, step, trainer->options.steps);
	(void)fflush(stdout);
}

void train_pause(const struct trainer *trainer, long us)
{
	const struct timespec least = {
		.tv_sec = us / 1000000,
		.tv_nsec = us % 1000000 * 1000,
	};

	if (!trainer->is_dry)
		(void)nanosleep(&least, NULL);
}

static void pause_for_step(const struct trainer *trainer)
{
	const struct options *options = &trainer->options;

	train_pause(trainer, options->step_ms * 1000 +
				     options->sample_us * options->batch_size *
					     options->grad_accum);
}

int train_on_host(struct trainer *trainer)
{
	train_touch_host(trainer);
	for (long step = 1; step <= trainer->options.steps; step++) {
		if (step == trainer->options.kill_step)
			ranks_kill(trainer);
		ranks_meet(trainer);
		pause_for_step(trainer);
		say(trainer, "step", step);
	}
	return 0;
}

static void compute(const struct trainer *trainer)
{
	for (long i = 0; i < trainer->options.launches; i++)
		driver_require(trainer,
			       trainer->api.launch(trainer->function, 1, 1, 1,
						   32, 1, 1, 0, NULL, NULL,
						   NULL),
			       "cuLaunchKernel");
	if (trainer->options.launches)
		driver_require(trainer, trainer->api.synchronize(NULL),
			       "cuStreamSynchronize");
}

/* Too short for whoever looks from time to time. */
static int spike(struct trainer *trainer)
{
	struct block block;
	uint64_t bytes = (uint64_t)trainer->options.spike_mib * MIB;
	int result = bytes ? memory_take(trainer, bytes, &block) : 0;

	if (result && trainer->options.retry == RETRY_PYTORCH) {
		blocks_empty_cache(trainer);
		result = memory_take(trainer, bytes, &block);
	}
	if (result)
		return result;
	ranks_meet(trainer);
	if (bytes)
		memory_give(trainer, &block);
	return 0;
}

static void copy_in(struct trainer *trainer, const void *host)
{
	unsigned long long pointer =
		trainer->block_count ? trainer->blocks[0].pointer : 0;

	if (host && pointer)
		driver_require(
			trainer,
			trainer->api.copy_in(pointer, host, COPY_BYTES, NULL),
			"cuMemcpyHtoDAsync");
}

static int run_step(struct trainer *trainer, long step)
{
	const struct options *options = &trainer->options;
	uint64_t fixed = (uint64_t)options->fixed_mib * MIB;
	int result = 0;

	for (long i = 0; i < options->grad_accum && !result; i++) {
		blocks_give(trainer, BLOCK_STEP);
		result = blocks_take(trainer,
				     train_activation_bytes(options, step),
				     BLOCK_STEP);
	}
	if (!result)
		result = spike(trainer);
	if (result)
		return result;
	compute(trainer);
	blocks_give(trainer, BLOCK_STEP);
	if (step == 1)
		result = blocks_take(trainer, fixed - fixed / 2, BLOCK_STATE);
	if (!result)
		result = blocks_take(trainer, (uint64_t)options->leak_kib * KIB,
				     BLOCK_STATE);
	return result;
}

static int evaluate(struct trainer *trainer, long step)
{
	uint64_t bytes = (uint64_t)trainer->options.eval_kib * KIB;
	int result;

	say(trainer, "eval", step);
	result = blocks_take(trainer, bytes, BLOCK_STEP);
	if (!result)
		ranks_meet(trainer);
	blocks_give(trainer, BLOCK_STEP);
	return result;
}

static void start_over_by_exec(const struct trainer *trainer)
{
	char **argv = trainer->argv;
	size_t kept = 0;

	for (size_t i = 0; argv[i]; i++)
		if (strcmp(argv[i], "--exec-after") == 0)
			i++;
		else
			argv[kept++] = argv[i];
	argv[kept] = NULL;
	(void)execv("/proc/self/exe", argv);
	abort();
}

static void between_steps(const struct trainer *trainer, long step)
{
	if (trainer->is_dry)
		return;
	if (step == trainer->options.kill_step)
		ranks_kill(trainer);
	if (trainer->options.exec_after && step > trainer->options.exec_after)
		start_over_by_exec(trainer);
}

static int run_steps(struct trainer *trainer)
{
	const struct options *options = &trainer->options;
	uint64_t host_bytes = (uint64_t)options->host_kib * KIB;
	int result = 0;

	for (long step = 1; step <= options->steps && !result; step++) {
		void *host = NULL;

		between_steps(trainer, step);
		if (host_bytes)
			host = memory_take_host(trainer, host_bytes);
		copy_in(trainer, host);
		result = run_step(trainer, step);
		if (host_bytes)
			memory_give_host(trainer, host, host_bytes);
		if (result)
			break;
		pause_for_step(trainer);
		say(trainer, "step", step);
		if (options->eval_every && step % options->eval_every == 0)
			result = evaluate(trainer, step);
	}
	return result;
}

static void save(struct trainer *trainer)
{
	static char host[COPY_BYTES];

	say(trainer, "save", trainer->options.steps);
	if (trainer->block_count && trainer->blocks[0].pointer)
		driver_require(trainer,
			       trainer->api.copy_out(host,
						     trainer->blocks[0].pointer,
						     sizeof(host), NULL),
			       "cuMemcpyDtoHAsync");
}

static void report(const struct trainer *trainer)
{
	const struct count *count = &trainer->count;
	size_t free_bytes = 0;
	size_t total = 0;
	size_t device_total = 0;

	(void)trainer->api.get_info(&free_bytes, &total);
	(void)trainer->api.total_mem(&device_total, trainer->device);
	(void)printf("report rank=%d granted=%llu refused=%llu current=%llu "
		     "peak=%llu managed_peak=%llu host_peak=%llu free=%zu "
		     "total=%zu device_total=%zu batch=%ld\n",
		     trainer->rank, (unsigned long long)count->granted,
		     (unsigned long long)count->refused,
		     (unsigned long long)count->current,
		     (unsigned long long)count->peak,
		     (unsigned long long)count->managed_peak,
		     (unsigned long long)count->host_peak, free_bytes, total,
		     device_total, trainer->options.batch_size);
	(void)fflush(stdout);
}

static void release(struct trainer *trainer)
{
	trainer->options.allocator = ALLOCATOR_PLAIN;
	blocks_give(trainer, BLOCK_STATE);
	blocks_give(trainer, BLOCK_WEIGHTS);
	blocks_empty_cache(trainer);
	if (trainer->preallocated.bytes)
		memory_give(trainer, &trainer->preallocated);
	memory_close(trainer);
	if (trainer->second_context)
		driver_require(
			trainer,
			trainer->api.context_destroy(trainer->second_context),
			"cuCtxDestroy");
	driver_require(trainer, trainer->api.context_release(trainer->device),
		       "cuDevicePrimaryCtxRelease");
}

/* As HF's auto_find_batch_size: what the attempt took is given up. */
static bool halve(struct trainer *trainer)
{
	blocks_raise(trainer, trainer->options.catch == CATCH_QUIET);
	if (trainer->options.catch == CATCH_NONE)
		return false;
	blocks_give(trainer, BLOCK_STEP);
	blocks_give(trainer, BLOCK_STATE);
	blocks_empty_cache(trainer);
	trainer->options.batch_size /= 2;
	if (trainer->options.catch == CATCH_HALVE)
		(void)fprintf(stderr, "Decreasing batch size to: %ld\n",
			      trainer->options.batch_size);
	if (trainer->options.batch_size)
		return true;
	(void)fputs("RuntimeError: No executable batch size found, reached "
		    "zero.\n",
		    stderr);
	return false;
}

static void print_need(const struct trainer *trainer)
{
	const struct count *count = &trainer->count;

	(void)printf("need %llu rounded %llu managed %llu host %llu\n",
		     (unsigned long long)count->peak,
		     (unsigned long long)count->rounded_peak,
		     (unsigned long long)count->managed_peak,
		     (unsigned long long)count->host_peak);
}

static int finish(struct trainer *trainer, int result)
{
	if (trainer->is_dry) {
		print_need(trainer);
		return 0;
	}
	if (!result)
		ranks_meet(trainer);
	if (trainer->options.save && !result)
		save(trainer);
	if (trainer->options.report)
		report(trainer);
	if (trainer->options.ask_nvml)
		driver_ask_nvml(trainer);
	if (trainer->options.release && !result)
		release(trainer);
	return result ? 1 : 0;
}

int train(struct trainer *trainer)
{
	uint64_t fixed = (uint64_t)trainer->options.fixed_mib * MIB;
	int result;

	train_start(trainer);
	train_pause(trainer, trainer->options.context_ms * 1000);
	result = blocks_take(trainer, fixed / 2, BLOCK_WEIGHTS);
	if (result) {
		blocks_raise(trainer, false);
		return finish(trainer, result);
	}
	train_start_workers(trainer);
	train_threads(trainer);
	do
		result = run_steps(trainer);
	while (result && halve(trainer));
	return finish(trainer, result);
}
