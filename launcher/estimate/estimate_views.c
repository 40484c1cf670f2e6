/* The tables of `autofit estimate`, and what they share. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate_views.h"

#include "launcher/estimate/estimate_usage.h"

bool estimate_is_plain(const struct estimate_request *request)
{
	return !request->compare && !request->all_gpus &&
	       !request->generation && !request->fit && !request->need &&
	       !request->profile;
}

static bool wants_options(const struct estimate_case *all)
{
	struct estimate estimate;

	return all->has_model && all->gpu.usable_bytes &&
	       estimate_is_plain(&all->options->estimate) &&
	       estimate_memory(&all->run, &estimate, NULL) == 0 &&
	       usage_band(&estimate, all->gpu.usable_bytes) >= BAND_TIGHT;
}

static bool wants_compare(const struct estimate_case *all)
{
	return all->has_model && all->options->estimate.compare;
}

static bool wants_generation(const struct estimate_case *all)
{
	return all->has_model && all->options->estimate.generation;
}

static bool wants_gpus(const struct estimate_case *all)
{
	return all->has_model && all->options->estimate.all_gpus;
}

static bool wants_fit(const struct estimate_case *all)
{
	return all->options->estimate.fit != NULL;
}

static bool wants_need(const struct estimate_case *all)
{
	return all->options->estimate.need != NULL;
}

static const struct report_table_column option_columns[] = {
	{ "option", NULL, TABLE_TEXT },
	{ "words", "change", TABLE_TEXT },
	{ "saved_bytes", "saves", TABLE_BYTES },
	{ "process_bytes", "needs", TABLE_BYTES },
	{ "high_bytes", "up to", TABLE_BYTES },
	{ "fits", "fits", TABLE_FLAG },
	{ "cost", "cost", TABLE_TEXT },
	{ NULL, NULL, TABLE_TEXT },
};

static const struct report_table_column compare_columns[] = {
	{ "technique", "technique", TABLE_TEXT },
	{ "fp32", "fp32", TABLE_BYTES },
	{ "amp", "amp", TABLE_BYTES },
	{ "bf16", "bf16", TABLE_BYTES },
	{ "master", "master", TABLE_BYTES },
	{ "fp8", "fp8", TABLE_BYTES },
	{ NULL, NULL, TABLE_TEXT },
};

static const struct report_table_column generation_columns[] = {
	{ "what", "what", TABLE_TEXT },
	{ "weights_bytes", "weights", TABLE_BYTES },
	{ "states_bytes", "gradients, states", TABLE_BYTES },
	{ "activations_bytes", "activations, loss", TABLE_BYTES },
	{ "kv_cache_bytes", "KV cache", TABLE_BYTES },
	{ "process_bytes", "process", TABLE_BYTES },
	{ "ratio_percent", "% of generation", TABLE_COUNT },
	{ NULL, NULL, TABLE_TEXT },
};

static const struct report_table_column gpu_columns[] = {
	{ "gpu", "GPU", TABLE_TEXT },
	{ "usable_bytes", "usable", TABLE_BYTES },
	{ "band", "", TABLE_TEXT },
	{ "largest_batch", "largest batch", TABLE_COUNT },
	{ "micro_batch", "batch", TABLE_COUNT },
	{ "grad_accum", "accumulation", TABLE_COUNT },
	{ NULL, NULL, TABLE_TEXT },
};

static const struct report_table_column fit_columns[] = {
	{ "model", "model", TABLE_TEXT },
	{ "parameters", NULL, TABLE_COUNT },
	{ "full_bytes", "full", TABLE_BYTES },
	{ "full_batch", "max", TABLE_BESIDE },
	{ "lora_bytes", "LoRA", TABLE_BYTES },
	{ "lora_batch", "max", TABLE_BESIDE },
	{ "qlora_bytes", "QLoRA", TABLE_BYTES },
	{ "qlora_batch", "max", TABLE_BESIDE },
	{ "generation_bytes", "generate", TABLE_BYTES },
	{ "generation_batch", "max", TABLE_BESIDE },
	{ NULL, NULL, TABLE_TEXT },
};

static const struct report_table_column need_columns[] = {
	{ "recipe", "", TABLE_TEXT },
	{ "level", "level", TABLE_TEXT },
	{ "micro_batch", "batch", TABLE_COUNT },
	{ "gpu_bytes", "each GPU", TABLE_BYTES },
	{ "gpus", "GPUs", TABLE_COUNT },
	{ "gpu", "GPU", TABLE_TEXT },
	{ "provider", NULL, TABLE_TEXT },
	{ "instance", NULL, TABLE_TEXT },
	{ "instance_gpus", NULL, TABLE_COUNT },
	{ "instance_gpu", NULL, TABLE_TEXT },
	{ NULL, "cloud instance, with its GPUs", TABLE_TEXT },
	{ NULL, NULL, TABLE_TEXT },
};

const struct estimate_view estimate_views[] = {
	{ "options", "What would save memory, most first", option_columns,
	  wants_options, estimate_fill_options },
	{ "compare", "Techniques and precisions, each of the process",
	  compare_columns, wants_compare, estimate_fill_compare },
	{ "generation", "Training beside generation", generation_columns,
	  wants_generation, estimate_fill_generation },
	{ "gpus", "GPUs", gpu_columns, wants_gpus, estimate_fill_gpus },
	{ "fit", "What fits", fit_columns, wants_fit, estimate_fill_fit },
	{ "need", "What is needed", need_columns, wants_need,
	  estimate_fill_need },
	{ .key = NULL },
};
