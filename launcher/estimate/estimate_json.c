/* The JSON object of `autofit estimate`, but for its tables. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate_text.h"

#include "launcher/estimate/estimate_usage.h"
#include "launcher/estimate/estimate_views.h"
#include "launcher/options/options_estimate.h"
#include "launcher/report/json.h"

static json_t *object(void)
{
	return json_checked(json_object());
}

static json_t *model_json(const struct estimate_case *all)
{
	const char *place = (const char *)&all->model;
	json_t *root = object();

	json_put(root, "name",
		 json_text(all->model.name[0] ? all->model.name : NULL));
	json_put(root, "source", json_text(all->source));
	json_put(root, "family",
		 json_text(model_family_name(all->model.family)));
	for (const struct model_field *field = model_fields; field->name;
	     field++)
		json_put(root, field->name,
			 field->is_flag
				 ? json_boolean(*(const bool *)(place +
								field->offset))
				 : json_count(
					   *(const int64_t *)(place +
							      field->offset)));
	return root;
}

static json_t *run_json(const struct estimate_case *all)
{
	const struct workload *run = &all->run;
	json_t *root = object();

	json_put(root, "task", json_text(task_words[run->task]));
	json_put(root, "micro_batch", json_integer(run->micro_batch));
	json_put(root, "sequence", json_integer(run->sequence));
	json_put(root, "completion", json_count(run->completion));
	json_put(root, "grad_accum",
		 json_integer(run->grad_accum ? run->grad_accum : 1));
	json_put(root, "precision", json_text(regime_words[run->regime]));
	json_put(root, "quantize", json_text(weights_words[run->weights]));
	json_put(root, "optimizer",
		 json_text(run->optimizer ? run->optimizer->name : "adamw"));
	json_put(root, "peft", json_text(peft_words[run->peft]));
	json_put(root, "rank", json_count(run->rank));
	json_put(root, "attention", json_text(attention_words[run->attention]));
	json_put(root, "checkpointing",
		 json_text(checkpointing_words[run->checkpointing]));
	json_put(root, "loss", json_text(loss_words[run->loss]));
	json_put(root, "sharding", json_text(sharding_words[run->sharding]));
	json_put(root, "offload", json_text(offload_words[run->offload]));
	json_put(root, "gpus", json_integer(all->gpu_count));
	json_put(root, "data_parallel", json_integer(run->data_parallel));
	json_put(root, "effective_batch", json_count(all->effective_batch));
	return root;
}

/* The bytes of each phase, not only of the one that is the peak. */
static json_t *part_json(const struct estimate *estimate, int part)
{
	json_t *root = object();

	for (int i = 0; i < PEAK_PHASES; i++)
		json_put(root, peak_phase_name((enum peak_phase)i),
			 json_integer(estimate->parts[i][part]));
	return root;
}

static bool is_anywhere(const struct estimate *estimate, int part)
{
	for (int i = 0; i < PEAK_PHASES; i++)
		if (estimate->parts[i][part])
			return true;
	return false;
}

static json_t *lines_json(const struct estimate *estimate)
{
	const int64_t *parts = estimate->parts[estimate->phase];
	json_t *array = json_checked(json_array());

	for (int i = 0; i < PARTS; i++) {
		json_t *line;

		if (!is_anywhere(estimate, i))
			continue;
		line = object();
		json_put(line, "part", json_text(part_name((enum part)i)));
		json_put(line, "tier",
			 json_text(tier_name(part_tier((enum part)i))));
		json_put(line, "bytes", json_integer(parts[i]));
		json_put(line, "phases", part_json(estimate, i));
		json_append(array, line);
	}
	return array;
}

static json_t *phases_json(const struct estimate *estimate)
{
	json_t *root = object();

	for (int i = 0; i < PEAK_PHASES; i++)
		json_put(root, peak_phase_name((enum peak_phase)i),
			 json_count(estimate->allocated[i]));
	return root;
}

static json_t *peaks_json(const struct estimate *estimate)
{
	json_t *root = object();

	for (int i = 0; i < TIERS; i++) {
		json_t *peak = object();

		json_put(peak, "bytes", json_integer(estimate->peak[i]));
		json_put(peak, "low_bytes", json_integer(estimate->low[i]));
		json_put(peak, "high_bytes", json_integer(estimate->high[i]));
		json_put(root, tier_name((enum tier)i), peak);
	}
	return root;
}

static json_t *gpu_json(const struct estimate_case *all,
			const struct estimate *estimate)
{
	int64_t usable = all->gpu.usable_bytes;
	json_t *root;

	if (!usable)
		return json_null();
	root = object();
	json_put(root, "name", json_text(all->gpu.name));
	json_put(root, "usable_bytes", json_integer(usable));
	if (!estimate)
		return root;
	json_put(root, "band",
		 json_text(usage_band_name(usage_band(estimate, usable))));
	json_put(root, "fits",
		 json_boolean(estimate->high[TIER_PROCESS] <= usable));
	json_put(root, "largest_batch",
		 json_integer(estimate_largest(&all->run, usable, false,
					       all->options->batch.max_micro,
					       NULL)));
	return root;
}

static json_t *engine_json(const struct estimate_case *all,
			   const struct estimate *estimate)
{
	struct usage_cache room;
	json_t *root;

	if (!estimate || !usage_cache_room(&all->run, estimate,
					   all->gpu.usable_bytes, &room))
		return json_null();
	root = object();
	json_put(root, "budget_bytes", json_integer(all->gpu.usable_bytes));
	json_put(root, "kv_cache_bytes", json_integer(room.bytes));
	json_put(root, "kv_cache_tokens", json_integer(room.tokens));
	json_put(root, "sequences", json_integer(room.sequences));
	return root;
}

static void put_estimate(json_t *root, const struct estimate_case *all,
			 const struct estimate *estimate)
{
	json_put(root, "parameters", json_integer(estimate->parameters));
	json_put(root, "trained_parameters", json_integer(estimate->trainable));
	json_put(root, "model", model_json(all));
	json_put(root, "run", run_json(all));
	json_put(root, "lines", lines_json(estimate));
	json_put(root, "peak", peaks_json(estimate));
	json_put(root, "phase", json_text(peak_phase_name(estimate->phase)));
	json_put(root, "allocated_bytes", phases_json(estimate));
	json_put(root, "fixed_bytes", json_integer(estimate->fixed_bytes));
	json_put(root, "sample_bytes", json_integer(estimate->sample_bytes));
}

json_t *estimate_json(const struct estimate_case *all,
		      const struct estimate *estimate)
{
	static const char *const keys[] = {
		"parameters",  "trained_parameters",
		"model",       "run",
		"lines",       "peak",
		"phase",       "allocated_bytes",
		"fixed_bytes", "sample_bytes",
	};
	json_t *root = object();

	json_put(root, "schema", json_text("autofit.estimate/1"));
	json_put(root, "autofit_version", json_text(AUTOFIT_VERSION));
	for (size_t i = 0; !estimate && i < sizeof(keys) / sizeof(*keys); i++)
		json_put(root, keys[i], json_null());
	if (estimate)
		put_estimate(root, all, estimate);
	json_put(root, "assumed", json_texts(&all->assumed));
	json_put(root, "not_read", json_texts(&all->notes));
	json_put(root, "gpu", gpu_json(all, estimate));
	json_put(root, "engine", engine_json(all, estimate));
	return root;
}
