/* The tables of one model: changes, techniques, generation, GPUs. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate_views.h"

#include "base/alloc.h"
#include "base/units.h"
#include "estimator/options.h"
#include "launcher/estimate/estimate_recipes.h"
#include "launcher/estimate/estimate_usage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add_together(const struct estimate_case *all, struct strlist *notes)
{
	enum memory_option_kind kinds[MEMORY_OPTION_KINDS];
	struct strbuf line = STRBUF_INIT;
	struct memory_option together;
	char bytes[BYTES_TEXT_MAX];
	int count = estimate_combination(&all->run, all->gpu.usable_bytes,
					 kinds, &together, NULL);

	for (int i = 0; i < count; i++)
		strbuf_addf(&line, "%s%s", i ? " + " : "fits with ",
			    memory_option_words(kinds[i]));
	if (count > 0)
		strlist_addf(
			notes, "%s: up to %s", strbuf_text(&line),
			bytes_format(bytes, (uint64_t)together.high_bytes));
	else if (!together.fits)
		strlist_add(notes, "not even all of them together fit: --need "
				   "MODEL says which GPUs would do");
	strbuf_release(&line);
}

int estimate_fill_options(const struct estimate_case *all,
			  struct report_table *table, struct strlist *notes,
			  struct error *err)
{
	struct memory_option *options =
		xcalloc(MEMORY_OPTION_KINDS, sizeof(*options));
	int count = estimate_options(&all->run, all->gpu.usable_bytes, options,
				     MEMORY_OPTION_KINDS, err);

	for (int i = 0; i < count; i++) {
		report_table_add_text(table,
				      memory_option_name(options[i].kind));
		report_table_add_text(table,
				      memory_option_words(options[i].kind));
		report_table_add_number(table, options[i].saved_bytes);
		report_table_add_number(table, options[i].peak_bytes);
		report_table_add_number(table, options[i].high_bytes);
		report_table_add_number(table, options[i].fits);
		report_table_add_text(table,
				      memory_option_cost(options[i].kind));
	}
	free(options);
	if (count >= 0)
		add_together(all, notes);
	return count < 0 ? count : 0;
}

static void none(struct workload *run)
{
	run->peft = PEFT_NONE;
	run->weights = WEIGHTS_AS_COMPUTED;
	run->checkpointing = CHECKPOINT_NONE;
	run->residual_fp32 = false;
	run->task = run->task == TASK_INFERENCE ? TASK_TRAIN : run->task;
}

static void checkpointing(struct workload *run)
{
	none(run);
	run->checkpointing = CHECKPOINT_FULL;
}

static void small_optimizer(struct workload *run)
{
	checkpointing(run);
	run->optimizer = optimizer_find("adamw_8bit");
}

static void adafactor(struct workload *run)
{
	checkpointing(run);
	run->optimizer = optimizer_find("adafactor");
}

static void lora(struct workload *run)
{
	none(run);
	run->peft = PEFT_LORA;
	run->rank = run->rank ? run->rank : LORA_RANK;
}

static void lora_checkpointing(struct workload *run)
{
	lora(run);
	run->checkpointing = CHECKPOINT_FULL;
}

static void lora_int8(struct workload *run)
{
	lora_checkpointing(run);
	run->weights = WEIGHTS_INT8;
	run->residual_fp32 = true;
}

static void qlora(struct workload *run)
{
	lora_checkpointing(run);
	run->weights = WEIGHTS_NF4_DOUBLE;
	run->residual_fp32 = true;
}

static void inference(struct workload *run)
{
	none(run);
	run->task = TASK_INFERENCE;
}

static const struct technique {
	const char *name;
	void (*apply)(struct workload *run);
} techniques[] = {
	{ "full", none },
	{ "full, checkpointing", checkpointing },
	{ "same, 8-bit AdamW", small_optimizer },
	{ "same, Adafactor", adafactor },
	{ "LoRA", lora },
	{ "LoRA, checkpointing", lora_checkpointing },
	{ "same, weights in 8 bit", lora_int8 },
	{ "same, in 4 bit (QLoRA)", qlora },
	{ "generation", inference },
};

int estimate_fill_compare(const struct estimate_case *all,
			  struct report_table *table, struct strlist *notes,
			  struct error *err)
{
	struct estimate estimate;

	(void)err;
	for (size_t i = 0; i < sizeof(techniques) / sizeof(*techniques); i++) {
		report_table_add_text(table, techniques[i].name);
		for (int regime = 0; regime < REGIMES; regime++) {
			struct workload run = all->run;

			techniques[i].apply(&run);
			run.regime = (enum regime)regime;
			if (estimate_memory(&run, &estimate, NULL) < 0)
				report_table_add_none(table);
			else
				report_table_add_number(
					table, estimate.peak[TIER_PROCESS]);
		}
	}
	strlist_add(notes,
		    "amp: fp32 weights, cast in each pass; bf16: everything 16 "
		    "bit; master: 16 bit and an fp32 copy; fp8: inputs of "
		    "matrices in 8 bit");
	return 0;
}

static void add_use(struct report_table *table, const struct estimate *estimate,
		    const char *what)
{
	const int64_t *parts = estimate->parts[estimate->phase];

	report_table_add_text(table, what);
	report_table_add_number(
		table, parts[PART_WEIGHTS] + parts[PART_MASTER] +
			       parts[PART_CASTS] + parts[PART_ADAPTERS]);
	report_table_add_number(table, parts[PART_GRADIENTS] +
					       parts[PART_OPTIMIZER] +
					       parts[PART_STEP]);
	report_table_add_number(table, parts[PART_ACTIVATIONS] +
					       parts[PART_LOSS] +
					       parts[PART_LAYER]);
	report_table_add_number(table, parts[PART_KV_CACHE]);
	report_table_add_number(table, estimate->peak[TIER_PROCESS]);
}

static int64_t estimate_tables_percent(int64_t a, int64_t b)
{
	return b > 0 ? (int64_t)((double)a / (double)b * 100 + 0.5) : 0;
}

int estimate_fill_generation(const struct estimate_case *all,
			     struct report_table *table, struct strlist *notes,
			     struct error *err)
{
	struct workload training = all->run, generation = all->run;
	struct estimate trained, generated;

	if (training.task == TASK_INFERENCE)
		recipe_apply(RECIPE_FULL, &all->options->estimate, &training);
	recipe_apply(RECIPE_GENERATION, &all->options->estimate, &generation);
	if (estimate_memory(&training, &trained, err) < 0 ||
	    estimate_memory(&generation, &generated, err) < 0)
		return -EINVAL;
	add_use(table, &trained, "training");
	report_table_add_number(
		table, estimate_tables_percent(trained.peak[TIER_PROCESS],
					       generated.peak[TIER_PROCESS]));
	add_use(table, &generated, "generation");
	report_table_add_number(table, 100);
	strlist_addf(notes,
		     "generation keeps %s weights and a KV cache; training "
		     "keeps gradients, states and activations, and no cache",
		     generation.regime == REGIME_FP32 ? "fp32" : "16-bit");
	return 0;
}

static int by_memory(const void *a, const void *b)
{
	const struct gpu_model *one = a, *other = b;

	if (one->usable_bytes != other->usable_bytes)
		return one->usable_bytes < other->usable_bytes ? -1 : 1;
	return strcmp(one->name, other->name);
}

static void estimate_tables_add_gpu(const struct estimate_case *all,
				    const struct gpu_model *gpu,
				    struct report_table *table)
{
	int64_t usable = usage_budget(&all->run, (int64_t)gpu->usable_bytes);
	struct workload run = all->run;
	struct estimate estimate;
	int64_t largest = 0, micro = 0, accum = 0;
	enum usage_band band = BAND_NO;

	run.gpu_bytes = (int64_t)gpu->usable_bytes;
	run.compute_major = gpu->compute_major;
	if (estimate_memory(&run, &estimate, NULL) == 0) {
		band = usage_band(&estimate, usable);
		largest = estimate_largest(&run, usable, false,
					   all->options->batch.max_micro, NULL);
	}
	if (all->effective_batch)
		micro = estimate_split(all->effective_batch, run.data_parallel,
				       largest, &accum);
	report_table_add_text(table, gpu->name);
	report_table_add_number(table, usable);
	report_table_add_text(table, usage_band_name(band));
	report_table_add_count(table, largest);
	report_table_add_count(table, micro);
	report_table_add_count(table, accum);
}

int estimate_fill_gpus(const struct estimate_case *all,
		       struct report_table *table, struct strlist *notes,
		       struct error *err)
{
	size_t size = all->gpus.count * sizeof(*all->gpus.items);
	struct gpu_model *sorted = xmalloc(size ? size : 1);

	if (all->effective_batch && all->run.data_parallel &&
	    all->effective_batch % all->run.data_parallel != 0) {
		free(sorted);
		return error_set(err, -EINVAL,
				 "--effective-batch %lld is no multiple of the "
				 "%lld GPUs that share it",
				 (long long)all->effective_batch,
				 (long long)all->run.data_parallel);
	}
	memcpy(sorted, all->gpus.items, size);
	qsort(sorted, all->gpus.count, sizeof(*sorted), by_memory);
	for (size_t i = 0; i < all->gpus.count; i++)
		estimate_tables_add_gpu(all, &sorted[i], table);
	free(sorted);
	strlist_add(notes, "largest batch: what surely fits, by the upper edge "
			   "of the estimate");
	if (all->effective_batch)
		strlist_addf(notes, "batch x accumulation x %lld GPUs = %lld",
			     (long long)all->run.data_parallel,
			     (long long)all->effective_batch);
	else
		strlist_add(notes, "--effective-batch N adds the split of "
				   "that batch for each");
	return 0;
}
