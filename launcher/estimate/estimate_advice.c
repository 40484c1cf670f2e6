/* Advice: what trains on a GPU, and which GPU a model needs. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate_views.h"

#include "base/alloc.h"
#include "base/units.h"
#include "configs/models/instances.h"
#include "launcher/estimate/estimate_recipes.h"
#include "launcher/options/options_estimate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPUS_MOST 8
/* A share of what is usable, where more than the least is asked for. */
#define COMFORT_PERCENT 90
/* What is larger is no answer to "what fits". */
#define BATCH_SHOWN_MAX 4096

/* One of each size; known by name. */
static const char *const sizes[] = {
	"gpt2",         "gpt2-medium",   "qwen2.5-0.5b", "gpt2-large",
	"llama-3.2-1b", "qwen2.5-1.5b",  "llama-3.2-3b", "llama-2-7b",
	"llama-3.1-8b", "llama-2-13b",   "qwen2.5-14b",  "qwen2.5-32b",
	"mixtral-8x7b", "llama-3.1-70b", "qwen2.5-72b",
};

static void add_recipe(const struct estimate_case *all,
		       const struct model_facts *model, enum recipe recipe,
		       int64_t usable_bytes, struct report_table *table)
{
	struct workload run = all->run;
	struct estimate estimate;
	int64_t largest;

	run.model = model;
	run.gpu_bytes = usable_bytes;
	recipe_apply(recipe, &all->options->estimate, &run);
	if (model->positions && model->positions < run.sequence)
		run.sequence = model->positions;
	if (estimate_memory(&run, &estimate, NULL) < 0) {
		report_table_add_none(table);
		report_table_add_none(table);
		return;
	}
	report_table_add_number(table, estimate.peak[TIER_PROCESS]);
	largest = estimate_largest(&run, usable_bytes, false, BATCH_SHOWN_MAX,
				   NULL);
	report_table_add_count(table, largest);
}

static void estimate_advice_add_size(const struct estimate_case *all,
				     const struct model_facts *model,
				     const char *name, int64_t usable_bytes,
				     struct report_table *table)
{
	int64_t parameters = 0;

	(void)model_parameters(model, &parameters, NULL);
	report_table_add_text(table, name);
	report_table_add_number(table, parameters);
	for (int recipe = 0; recipe < RECIPES; recipe++)
		add_recipe(all, model, (enum recipe)recipe, usable_bytes,
			   table);
}

/* "24GiB", "24", or the name of a GPU. */
static int fit_bytes(const struct estimate_case *all, int64_t *usable_bytes,
		     struct strlist *notes, struct error *err)
{
	const char *text = all->options->estimate.fit;
	const struct gpu_model *gpu;
	char words[BYTES_TEXT_MAX];
	uint64_t bytes = 0;

	if (gpu_memory_parse(text, &bytes, NULL) < 0) {
		gpu = gpu_catalogue_find(&all->gpus, text, err);
		if (!gpu)
			return error_prefix(err, "--fit");
		bytes = gpu->usable_bytes;
		strlist_addf(notes, "%s: %s usable", gpu->name,
			     bytes_format(words, bytes));
	}
	*usable_bytes = (int64_t)bytes;
	return 0;
}

int estimate_fill_fit(const struct estimate_case *all,
		      struct report_table *table, struct strlist *notes,
		      struct error *err)
{
	struct estimate_case each = *all;
	int64_t usable_bytes = 0;
	const struct model_facts *model;

	if (fit_bytes(all, &usable_bytes, notes, err) < 0)
		return -EINVAL;
	if (!each.run.micro_batch)
		each.run.micro_batch = 1;
	if (!each.run.sequence)
		each.run.sequence = ESTIMATE_SEQUENCE;
	if (all->has_model)
		estimate_advice_add_size(&each, &all->model,
					 all->model.name[0] ? all->model.name
							    : "this model",
					 usable_bytes, table);
	for (size_t i = 0;
	     !all->has_model && i < sizeof(sizes) / sizeof(*sizes); i++) {
		model = model_table_find(&all->known, sizes[i], NULL);
		if (model)
			estimate_advice_add_size(&each, model, sizes[i],
						 usable_bytes, table);
	}
	strlist_addf(
		notes,
		"memory of a process at batch %lld, sequence %lld (or what "
		"the model has), activations checkpointed; full: amp with "
		"AdamW; adapters of rank %lld; max: the largest batch that "
		"surely fits, - none",
		(long long)each.run.micro_batch, (long long)each.run.sequence,
		(long long)(each.run.rank ? each.run.rank : LORA_RANK));
	return 0;
}

struct level {
	const char *name;
	int64_t training_batch, generation_batch;
	enum checkpointing checkpointing;
	int64_t percent; /* of what is usable */
};

static const struct level levels[] = {
	{ "minimum", 1, 1, CHECKPOINT_FULL, 100 },
	{ "recommended", 4, 8, CHECKPOINT_FULL, COMFORT_PERCENT },
	{ "ideal", 16, 32, CHECKPOINT_NONE, COMFORT_PERCENT },
};

/* Bytes that one of count such GPUs needs; INT64_MAX: it cannot be. */
static int64_t need_of(const struct workload *run, enum recipe recipe,
		       int64_t count, const struct gpu_model *gpu)
{
	struct workload spread = *run;
	struct estimate estimate;

	recipe_spread(recipe, count, &spread);
	/* A level's batch is that of all GPUs. */
	if (recipe != RECIPE_GENERATION && count > 1)
		spread.micro_batch = (run->micro_batch + count - 1) / count;
	spread.gpu_bytes = (int64_t)gpu->usable_bytes;
	spread.compute_major = gpu->compute_major;
	if (estimate_memory(&spread, &estimate, NULL) < 0)
		return INT64_MAX;
	return estimate.high[TIER_PROCESS];
}

static bool does_fit(int64_t need, int64_t usable_bytes, int64_t percent)
{
	return need <= usable_bytes / 100 * percent;
}

/* Less memory in all wins, then fewer GPUs. */
static bool is_less(int64_t total, int64_t count, int64_t best_total,
		    int64_t best_count)
{
	return best_count == 0 || total < best_total ||
	       (total == best_total && count < best_count);
}

struct choice {
	const char *name, *provider;
	const char *gpu; /* of an instance */
	int64_t count, total, need;
};

static void choose_gpus(const struct estimate_case *all,
			const struct workload *run, enum recipe recipe,
			const struct level *level, struct choice *best)
{
	for (size_t i = 0; i < all->gpus.count; i++) {
		const struct gpu_model *gpu = &all->gpus.items[i];
		int64_t usable = (int64_t)gpu->usable_bytes;

		/* autofit cannot watch them yet. */
		if (strncmp(gpu->name, "AMD ", 4) == 0)
			continue;
		for (int64_t n = 1; n <= GPUS_MOST; n *= 2) {
			int64_t need;

			if (!is_less(n * usable, n, best->total, best->count))
				break;
			need = need_of(run, recipe, n, gpu);
			if (!does_fit(need, usable, level->percent))
				continue;
			*best = (struct choice){ .name = gpu->name,
						 .count = n,
						 .total = n * usable,
						 .need = need };
			break;
		}
	}
}

static void choose_instance(const struct instances *instances,
			    const struct workload *run, enum recipe recipe,
			    const struct level *level, struct choice *best)
{
	for (size_t i = 0; i < instances->count; i++) {
		const struct instance *one = &instances->items[i];
		int64_t usable = (int64_t)one->gpu.usable_bytes;
		int64_t need;

		if (!is_less(one->count * usable, one->count, best->total,
			     best->count))
			continue;
		need = need_of(run, recipe, one->count, &one->gpu);
		if (does_fit(need, usable, level->percent))
			*best = (struct choice){ .name = one->name,
						 .provider = one->provider,
						 .gpu = one->gpu.name,
						 .count = one->count,
						 .total = one->count * usable,
						 .need = need };
	}
}

/* "g5.xlarge, 1 x NVIDIA A10G": the GPU beside it may be another one. */
static void add_rented(struct report_table *table, const struct choice *rented)
{
	char *words;

	if (!rented->count) {
		report_table_add_none(table);
		return;
	}
	words = xasprintf("%s, %lld x %s", rented->name,
			  (long long)rented->count, rented->gpu);
	report_table_add_text(table, words);
	free(words);
}

static void add_level(const struct estimate_case *all,
		      const struct instances *instances, enum recipe recipe,
		      const struct level *level, struct report_table *table)
{
	struct choice gpus = { .count = 0 }, rented = { .count = 0 };
	struct workload run = all->run;

	recipe_apply(recipe, &all->options->estimate, &run);
	run.micro_batch = recipe == RECIPE_GENERATION ? level->generation_batch
						      : level->training_batch;
	if (recipe != RECIPE_GENERATION)
		run.checkpointing = level->checkpointing;
	choose_gpus(all, &run, recipe, level, &gpus);
	choose_instance(instances, &run, recipe, level, &rented);
	report_table_add_text(table, recipe_title(recipe));
	report_table_add_text(table, level->name);
	report_table_add_number(table, run.micro_batch);
	report_table_add_count(table, gpus.need);
	report_table_add_count(table, gpus.count);
	report_table_add_text(table, gpus.name);
	report_table_add_text(table, rented.provider);
	report_table_add_text(table, rented.name);
	report_table_add_count(table, rented.count);
	report_table_add_text(table, rented.gpu);
	add_rented(table, &rented);
}

int estimate_fill_need(const struct estimate_case *all,
		       struct report_table *table, struct strlist *notes,
		       struct error *err)
{
	static const enum recipe order[] = { RECIPE_QLORA, RECIPE_LORA,
					     RECIPE_FULL, RECIPE_GENERATION };
	char *path =
		all->folder ? xasprintf("%s/instances.csv", all->folder) : NULL;
	struct instances instances;

	(void)err;
	instances_load(&instances, path, &all->gpus, notes);
	for (size_t i = 0; i < RECIPES; i++)
		for (size_t j = 0; j < sizeof(levels) / sizeof(*levels); j++)
			add_level(all, &instances, order[i], &levels[j], table);
	instances_release(&instances);
	free(path);
	strlist_addf(
		notes,
		"sequence %lld; minimum: batch 1, checkpointed, fits by "
		"the upper edge; recommended: 4 (generation 8) in %d%% of "
		"it; ideal: 16 without checkpointing (generation 32); on "
		"several GPUs sharded (FSDP), the batch too, or each layer "
		"shared for generation; the instance is chosen by "
		"itself, over all of its GPUs; -: more than %d GPUs",
		(long long)all->run.sequence, COMFORT_PERCENT, GPUS_MOST);
	return 0;
}
