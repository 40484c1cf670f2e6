/* config.json of Hugging Face: what only some families have. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/config/model_hf_reading.h"

#include "configs/files/json_bounded.h"
#include "configs/models/config/model_hf_conv.h"
#include "configs/models/config/model_hf_number.h"
#include "configs/models/config/model_hf_pair.h"
#include "configs/models/config/model_hf_swin.h"

#include <errno.h>
#include <string.h>

const json_t *hf_get(const struct hf_reading *reading, const char *key)
{
	const json_t *value = json_object_get(reading->model, key);

	if (!value || json_is_null(value))
		value = json_object_get(reading->root, key);
	return json_is_null(value) ? NULL : value;
}

bool hf_true(const struct hf_reading *reading, const char *key, bool other)
{
	const json_t *value = hf_get(reading, key);

	return json_is_boolean(value) ? json_is_true(value) : other;
}

int hf_count(const struct hf_reading *reading, const char *key, int64_t *value)
{
	const json_t *json = json_object_get(reading->model, key);
	int64_t count;

	if (!json || json_is_null(json))
		return 0;
	if (!json_whole(json, &count) || count < 0)
		return error_set(reading->err, -EINVAL,
				 "%s: %s is not a whole number from 0",
				 reading->name, key);
	*value = count;
	return 1;
}

int hf_set(const struct hf_reading *reading, const char *field, const char *key,
	   int64_t value)
{
	int result = model_facts_set(&reading->config->facts, field, value,
				     reading->err);

	if (result < 0)
		return error_prefix(reading->err, "%s: %s", reading->name, key);
	return 0;
}

const char *hf_class_of(const json_t *model)
{
	return json_string_value(
		json_array_get(json_object_get(model, "architectures"), 0));
}

void hf_fill(int64_t *count, int64_t value)
{
	if (*count == 0)
		*count = value;
}

/* T5: "gated-gelu"; the files of mT5 and Flan say it so. */
static void read_t5(const struct hf_reading *reading)
{
	const char *projection =
		json_string_value(hf_get(reading, "feed_forward_proj"));

	reading->config->facts.is_gated =
		hf_true(reading, "is_gated_act",
			projection && strncmp(projection, "gated", 5) == 0);
}

/* Classes are labels; two of them where none is named. */
static int read_classes(const struct hf_reading *reading)
{
	const json_t *labels = hf_get(reading, "id2label");
	const char *class = hf_class_of(reading->root);
	int64_t classes = 0;
	int result = hf_count(reading, "num_labels", &classes);

	if (result < 0)
		return result;
	if (json_is_object(labels))
		classes = (int64_t)json_object_size(labels);
	else if (result == 0 && class && strstr(class, "Classification"))
		classes = 2;
	return hf_set(reading, "classes", "id2label", classes);
}

/* The MLP is so many times as wide, or gated and two thirds of that, in eights.
 */
static int read_dinov2(const struct hf_reading *reading)
{
	struct model_facts *facts = &reading->config->facts;
	int64_t ratio = 4;
	int result = hf_number(reading->model, "mlp_ratio", 16, &ratio,
			       reading->err);

	if (result < 0)
		return error_prefix(reading->err, "%s", reading->name);
	facts->has_layer_scale = true;
	facts->is_gated = hf_true(reading, "use_swiglu_ffn", false);
	facts->ffn = facts->hidden * ratio;
	if (facts->is_gated)
		facts->ffn = (facts->ffn * 2 / 3 + 7) / 8 * 8;
	hf_fill(&facts->patch, 14);
	return 0;
}

static int read_vit(const struct hf_reading *reading)
{
	if (reading->kind->flags & HF_LAYER_SCALE) {
		int result = read_dinov2(reading);

		if (result < 0)
			return result;
	}
	hf_fill(&reading->config->facts.image, 224);
	hf_fill(&reading->config->facts.patch, 16);
	return read_classes(reading);
}

/* Layers without experts: all but each step-th, and those that are listed. How
 * many is all that counts. */
static int read_moe(const struct hf_reading *reading)
{
	const json_t *listed = hf_get(reading, "mlp_only_layers");
	struct model_facts *facts = &reading->config->facts;
	int64_t step = 1, dense, layer;
	int result = hf_count(reading, "decoder_sparse_step", &step);

	if (result < 0)
		return result;
	dense = step > 0 ? facts->layers - facts->layers / step : facts->layers;
	for (size_t i = 0; i < json_array_size(listed); i++)
		if (json_whole(json_array_get(listed, i), &layer) &&
		    layer >= 0 && layer < facts->layers && step > 0 &&
		    (layer + 1) % step == 0)
			dense++;
	return hf_set(reading, "dense_layers", "mlp_only_layers", dense);
}

/* Llama 4: each step-th layer has experts, whose width is intermediate_size,
 * and so has what all tokens go through. */
static int read_llama4(const struct hf_reading *reading)
{
	struct model_facts *facts = &reading->config->facts;
	int64_t step = 1, width = 0;
	int result = hf_count(reading, "interleave_moe_layer_step", &step);

	if (result >= 0)
		result = hf_count(reading, "intermediate_size", &width);
	if (result < 0)
		return result;
	if (step > 0)
		facts->dense_layers = facts->layers - facts->layers / step;
	facts->expert_ffn = facts->shared_ffn = width;
	return 0;
}

/* Old ones have as many heads of keys as of queries, or one; new ones a few,
 * and a second norm. */
static int read_falcon(const struct hf_reading *reading)
{
	struct model_facts *facts = &reading->config->facts;
	bool is_new = hf_true(reading, "new_decoder_architecture", false);
	int64_t kv_heads = facts->heads, norms = 2;
	int result = hf_count(reading, "n_head_kv", &kv_heads);

	if (result >= 0)
		result = hf_count(reading, "num_kv_heads", &kv_heads);
	if (result >= 0)
		result = hf_count(reading, "num_ln_in_parallel_attn", &norms);
	if (result < 0)
		return result;
	if (!is_new && hf_true(reading, "multi_query", true))
		kv_heads = 1;
	facts->kv_heads = kv_heads;
	facts->layer_norms = is_new ? norms : 1;
	facts->has_mlp_bias = hf_true(reading, "bias", false);
	return 0;
}

/* Buckets of distances, to both sides. */
static int read_deberta(const struct hf_reading *reading)
{
	int64_t buckets = 0;
	int result = hf_count(reading, "position_buckets", &buckets);

	if (result >= 0 && buckets <= 0)
		result = hf_count(reading, "max_position_embeddings", &buckets);
	if (result < 0)
		return result;
	reading->config->facts.positions = 2 * buckets;
	return 0;
}

/* "auto", or a number. */
static int read_mamba(const struct hf_reading *reading)
{
	struct model_facts *facts = &reading->config->facts;
	const json_t *rank = hf_get(reading, "time_step_rank");

	if (!rank || !json_is_integer(rank))
		return 0;
	return hf_count(reading, "time_step_rank", &facts->step_rank) < 0
		       ? -EINVAL
		       : 0;
}

static int read_deepseek(const struct hf_reading *reading)
{
	struct model_facts *facts = &reading->config->facts;
	int64_t shared = 0, width;
	int result = hf_count(reading, "n_shared_experts", &shared);

	if (result < 0)
		return result;
	if (__builtin_mul_overflow(shared, facts->expert_ffn, &width))
		width = INT64_MAX;
	return hf_set(reading, "shared_ffn", "n_shared_experts", width);
}

static int read_conv(const struct hf_reading *reading)
{
	int result = hf_conv_read(&reading->config->facts, reading->kind->type,
				  reading->model, reading->err);

	if (result == 0)
		return read_classes(reading);
	(void)error_prefix(reading->err, "%s", reading->name);
	return result;
}

static int read_towers(const struct hf_reading *reading)
{
	struct model_facts *facts = &reading->config->facts;
	int result;

	if (hf_pair_is(reading->root)) {
		result = hf_pair_read(facts, reading->root, reading->err);
	} else {
		result = read_classes(reading);
		if (result == 0)
			result = hf_swin_read(facts, reading->root,
					      reading->err);
	}
	if (result < 0)
		(void)error_prefix(reading->err, "%s", reading->name);
	return result;
}

int hf_read_family(const struct hf_reading *reading)
{
	switch ((int)reading->config->facts.family) {
	case MODEL_T5:
		read_t5(reading);
		return 0;
	case MODEL_VIT:
		return read_vit(reading);
	case MODEL_MOE:
		return reading->kind->flags & HF_PLAIN_SHARED
			       ? read_llama4(reading)
			       : read_moe(reading);
	case MODEL_FALCON:
		return read_falcon(reading);
	case MODEL_DEBERTA:
		return read_deberta(reading);
	case MODEL_MAMBA:
		return read_mamba(reading);
	case MODEL_DEEPSEEK:
		return read_deepseek(reading);
	case MODEL_CONV:
		return read_conv(reading);
	case MODEL_COUNTED:
		return read_towers(reading);
	default:
		return 0;
	}
}
