/* How long an estimate takes: one, and every GPU with every model. */
/* SPDX-License-Identifier: MIT */
/*
 * Build it with -O2 and without sanitizers. Usage:
 *   build/release/bench/estimate
 *
 * It is processor time, the median of many rounds: an estimate waits for
 * nothing. Exits with 1 where one estimate of any model takes more than 10 us,
 * or the whole catalogue more than 50 ms.
 */
/* USES estimator configs */
#include "configs/models/gpus.h"
#include "configs/models/models.h"
#include "estimator/estimator.h"
#include "tests/bench/times.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 21
#define REPEATS 1000
#define ONE_LIMIT_US 10.0
#define ALL_LIMIT_US 50000.0
#define BATCH_MOST 4096

static double spent_us(void)
{
	return times_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e3;
}

static struct workload workload_of(const struct model_facts *facts)
{
	return (struct workload){ .model = facts,
				  .micro_batch = 4,
				  .sequence = 2048,
				  .regime = REGIME_BF16,
				  .peft = PEFT_LORA,
				  .rank = 16,
				  .targets = TARGETS_ALL };
}

/* Microseconds of one estimate; below 0: it failed. */
static double one_us(const struct model_facts *facts)
{
	struct workload work = workload_of(facts);
	struct estimate estimate;
	double start = spent_us();

	for (int i = 0; i < REPEATS; i++)
		if (estimate_memory(&work, &estimate, NULL) < 0)
			return -1;
	return (spent_us() - start) / REPEATS;
}

/* Whether it fits, and how much it takes: of each GPU with each model. */
static double fits_us(const struct gpu_catalogue *gpus,
		      const struct model_table *models, size_t *count)
{
	double start = spent_us();

	*count = 0;
	for (size_t i = 0; i < gpus->count; i++)
		for (size_t j = 0; j < models->count; j++) {
			struct workload work =
				workload_of(&models->items[j].facts);
			struct estimate estimate;

			work.gpu_bytes = (int64_t)gpus->items[i].usable_bytes;
			if (estimate_memory(&work, &estimate, NULL) == 0)
				*count += estimate.high[TIER_PROCESS] <=
					  work.gpu_bytes;
		}
	return spent_us() - start;
}

/* The largest batch of each model on each GPU. */
static double largest_us(const struct gpu_catalogue *gpus,
			 const struct model_table *models, size_t *count)
{
	double start = spent_us();

	*count = 0;
	for (size_t i = 0; i < gpus->count; i++)
		for (size_t j = 0; j < models->count; j++) {
			struct workload work =
				workload_of(&models->items[j].facts);
			int64_t usable = (int64_t)gpus->items[i].usable_bytes;

			*count += estimate_largest(&work, usable, false,
						   BATCH_MOST, NULL) > 0;
		}
	return spent_us() - start;
}

static double worst_us(const struct model_table *models)
{
	double worst = 0;

	for (size_t i = 0; i < models->count; i++) {
		double rounds[ROUNDS], median;

		for (int j = 0; j < ROUNDS; j++)
			rounds[j] = one_us(&models->items[i].facts);
		median = times_median(rounds, ROUNDS);
		if (rounds[0] < 0)
			return -1;
		worst = median > worst ? median : worst;
	}
	return worst;
}

typedef double sweep_fn(const struct gpu_catalogue *gpus,
			const struct model_table *models, size_t *count);

static double median_us(sweep_fn *sweep, const struct gpu_catalogue *gpus,
			const struct model_table *models, size_t *count)
{
	double rounds[ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		rounds[i] = sweep(gpus, models, count);
	return times_median(rounds, ROUNDS);
}

int main(void)
{
	struct gpu_catalogue gpus = { 0 };
	struct model_table models = { 0 };
	struct strlist warnings = STRLIST_INIT;
	double one, all, largest;
	size_t fitting, largest_count;

	gpu_catalogue_load(&gpus, NULL, &warnings);
	model_table_load(&models, NULL, &warnings);
	one = worst_us(&models);
	all = median_us(fits_us, &gpus, &models, &fitting);
	largest = median_us(largest_us, &gpus, &models, &largest_count);
	(void)printf("one estimate, slowest of %zu models: %.2f us\n",
		     models.count, one);
	(void)printf("%zu GPUs x %zu models, does it fit: %.1f ms (%zu fit)\n",
		     gpus.count, models.count, all / 1e3, fitting);
	(void)printf("%zu GPUs x %zu models, largest batch: %.1f ms (%zu)\n",
		     gpus.count, models.count, largest / 1e3, largest_count);
	strlist_release(&warnings);
	model_table_release(&models);
	gpu_catalogue_release(&gpus);
	return one >= 0 && one < ONE_LIMIT_US && all < ALL_LIMIT_US ? 0 : 1;
}
