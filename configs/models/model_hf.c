/* config.json of Hugging Face: which family a model is, and its numbers. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/model_hf.h"

#include "configs/files/json_bounded.h"
#include "configs/models/model_diffusers.h"
#include "configs/models/model_hf_conv.h"
#include "configs/models/model_hf_pair.h"
#include "configs/models/model_hf_table.h"
#include "configs/models/model_hf_tower.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A config under way. */
struct hf_reading {
	struct hf_config *config;
	const char *name;
	const json_t *root;
	const json_t *model; /* root, or the language model in it */
	const struct hf_architecture *kind; /* NULL: not known */
	struct error *err;
};

static const json_t *get(const struct hf_reading *reading, const char *key)
{
	const json_t *value = json_object_get(reading->model, key);

	if (!value || json_is_null(value))
		value = json_object_get(reading->root, key);
	return json_is_null(value) ? NULL : value;
}

static bool is_true(const struct hf_reading *reading, const char *key,
		    bool other)
{
	const json_t *value = get(reading, key);

	return json_is_boolean(value) ? json_is_true(value) : other;
}

/* A whole number from 0; *value stays where the file has none. */
static int get_count(const struct hf_reading *reading, const char *key,
		     int64_t *value)
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

/* The language model in a model of several. */
static const json_t *hf_find_text(const json_t *root)
{
	static const char *const names[] = { "text_config", "llm_config",
					     "language_config" };
	const json_t *thinker = json_object_get(root, "thinker_config");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (json_is_object(json_object_get(root, names[i])))
			return json_object_get(root, names[i]);
	return json_is_object(thinker) ? hf_find_text(thinker) : root;
}

static const char *class_of(const json_t *model)
{
	return json_string_value(
		json_array_get(json_object_get(model, "architectures"), 0));
}

static const struct hf_architecture *find_kind(const json_t *model)
{
	const char *type =
		json_string_value(json_object_get(model, "model_type"));
	const char *class = class_of(model);
	const struct hf_architecture *kind = hf_architectures;

	for (; type && kind->type; kind++)
		if (strcmp(kind->type, type) == 0)
			return kind;
	if (type || !class)
		return NULL;
	for (kind = hf_architectures; kind->type; kind++)
		if (strncmp(class, kind->classes, strlen(kind->classes)) == 0)
			return kind;
	return NULL;
}

static void name_type(struct hf_reading *reading)
{
	struct hf_config *config = reading->config;
	const char *type = json_string_value(
		json_object_get(reading->model, "model_type"));

	if (!type)
		type = class_of(reading->model);
	(void)snprintf(config->type, sizeof(config->type), "%s",
		       type ? type : "");
}

static int hf_set(const struct hf_reading *reading, const char *field,
		  const char *key, int64_t value)
{
	int result = model_facts_set(&reading->config->facts, field, value,
				     reading->err);

	if (result < 0)
		return error_prefix(reading->err, "%s: %s", reading->name, key);
	return 0;
}

/* The first of the names that the file has. */
static int hf_read_key(const struct hf_reading *reading,
		       const struct hf_key *key)
{
	for (size_t i = 0; key->names[i]; i++) {
		int64_t value = 0;
		int found = get_count(reading, key->names[i], &value);

		if (found == 0)
			continue;
		if (found > 0 && value == 0 && !key->may_be_zero)
			return error_set(reading->err, -EINVAL,
					 "%s: %s is 0, which no model has",
					 reading->name, key->names[i]);
		return found < 0 ? found
				 : hf_set(reading, key->field, key->names[i],
					  value);
	}
	return 0;
}

static int read_keys(const struct hf_reading *reading)
{
	unsigned family = 1u << reading->config->facts.family;
	int result = 0;

	for (const struct hf_key *key = hf_keys; key->field && result == 0;
	     key++)
		if (key->families & family)
			result = hf_read_key(reading, key);
	return result;
}

static void hf_fill(int64_t *count, int64_t value)
{
	if (*count == 0)
		*count = value;
}

/* A text_config leaves out what is as in its class. */
static void fill_class(const struct hf_reading *reading)
{
	struct model_facts *facts = &reading->config->facts;
	const struct hf_class *class = hf_classes;

	if (reading->model == reading->root || !reading->kind)
		return;
	while (class->type && strcmp(class->type, reading->kind->type) != 0)
		class ++;
	if (!class->type)
		return;
	hf_fill(&facts->layers, class->layers);
	hf_fill(&facts->hidden, class->hidden);
	hf_fill(&facts->heads, class->heads);
	hf_fill(&facts->kv_heads, class->kv_heads);
	hf_fill(&facts->head_dim, class->head_dim);
	hf_fill(&facts->ffn, class->ffn);
	hf_fill(&facts->vocab, class->vocab);
}

static void read_flags(const struct hf_reading *reading)
{
	struct model_facts *facts = &reading->config->facts;
	unsigned flags = reading->kind ? reading->kind->flags : 0;
	bool is_tied =
		(facts->is_tied || flags & HF_TIED) && !(flags & HF_UNTIED);
	bool is_grouped =
		facts->family == MODEL_LLAMA || facts->family == MODEL_MOE;

	facts->is_tied = is_true(reading, "tie_word_embeddings", is_tied);
	facts->has_qk_norm = flags & HF_QK_NORM;
	facts->has_wide_norms = flags & HF_WIDE_NORMS;
	facts->has_sinks = facts->has_mlp_bias = flags & HF_SINKS;
	facts->has_plain_shared = flags & HF_PLAIN_SHARED;
	facts->has_qkv_bias = flags & HF_QKV_BIAS;
	if (flags & HF_FOUR_NORMS)
		facts->layer_norms = 4;
	if (!is_grouped)
		return;
	facts->has_qkv_bias = is_true(
		reading, "qkv_bias",
		is_true(reading, "attention_bias", facts->has_qkv_bias));
	facts->has_out_bias =
		is_true(reading, "attention_bias", (flags & HF_SINKS) != 0);
	if (flags & HF_SINKS)
		facts->has_qkv_bias = facts->has_out_bias;
}

static int read_window(const struct hf_reading *reading)
{
	unsigned flags = reading->kind ? reading->kind->flags : 0;
	int64_t window = 0;
	int result;

	if (!(flags & HF_WINDOW) ||
	    !is_true(reading, "use_sliding_window", true))
		return 0;
	result = get_count(reading, "sliding_window", &window);
	return result < 0 ? result
			  : hf_set(reading, "window", "sliding_window", window);
}

/* T5: "gated-gelu"; the files of mT5 and Flan say it so. */
static void read_t5(const struct hf_reading *reading)
{
	const char *projection =
		json_string_value(get(reading, "feed_forward_proj"));

	reading->config->facts.is_gated =
		is_true(reading, "is_gated_act",
			projection && strncmp(projection, "gated", 5) == 0);
}

/* Classes are labels; two of them where none is named. */
static int read_classes(const struct hf_reading *reading)
{
	const json_t *labels = get(reading, "id2label");
	const char *class = class_of(reading->root);
	int64_t classes = 0;
	int result = get_count(reading, "num_labels", &classes);

	if (result < 0)
		return result;
	if (json_is_object(labels))
		classes = (int64_t)json_object_size(labels);
	else if (result == 0 && class && strstr(class, "Classification"))
		classes = 2;
	return hf_set(reading, "classes", "id2label", classes);
}

static int read_vit(const struct hf_reading *reading)
{
	hf_fill(&reading->config->facts.image, 224);
	hf_fill(&reading->config->facts.patch, 16);
	return read_classes(reading);
}

/* Layers without experts: all but each step-th, and those that are listed. How
 * many is all that counts. */
static int read_moe(const struct hf_reading *reading)
{
	const json_t *listed = get(reading, "mlp_only_layers");
	struct model_facts *facts = &reading->config->facts;
	int64_t step = 1, dense, layer;
	int result = get_count(reading, "decoder_sparse_step", &step);

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
	int result = get_count(reading, "interleave_moe_layer_step", &step);

	if (result >= 0)
		result = get_count(reading, "intermediate_size", &width);
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
	bool is_new = is_true(reading, "new_decoder_architecture", false);
	int64_t kv_heads = facts->heads, norms = 2;
	int result = get_count(reading, "n_head_kv", &kv_heads);

	if (result >= 0)
		result = get_count(reading, "num_kv_heads", &kv_heads);
	if (result >= 0)
		result = get_count(reading, "num_ln_in_parallel_attn", &norms);
	if (result < 0)
		return result;
	if (!is_new && is_true(reading, "multi_query", true))
		kv_heads = 1;
	facts->kv_heads = kv_heads;
	facts->layer_norms = is_new ? norms : 1;
	facts->has_mlp_bias = is_true(reading, "bias", false);
	return 0;
}

/* Buckets of distances, to both sides. */
static int read_deberta(const struct hf_reading *reading)
{
	int64_t buckets = 0;
	int result = get_count(reading, "position_buckets", &buckets);

	if (result >= 0 && buckets <= 0)
		result =
			get_count(reading, "max_position_embeddings", &buckets);
	if (result < 0)
		return result;
	reading->config->facts.positions = 2 * buckets;
	return 0;
}

/* "auto", or a number. */
static int read_mamba(const struct hf_reading *reading)
{
	struct model_facts *facts = &reading->config->facts;
	const json_t *rank = get(reading, "time_step_rank");

	if (!rank || !json_is_integer(rank))
		return 0;
	return get_count(reading, "time_step_rank", &facts->step_rank) < 0
		       ? -EINVAL
		       : 0;
}

static int read_deepseek(const struct hf_reading *reading)
{
	struct model_facts *facts = &reading->config->facts;
	int64_t shared = 0, width;
	int result = get_count(reading, "n_shared_experts", &shared);

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
	int result = hf_pair_read(&reading->config->facts, reading->root,
				  reading->err);

	if (result < 0)
		(void)error_prefix(reading->err, "%s", reading->name);
	return result;
}

static int hf_read_family(const struct hf_reading *reading)
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

/* "bfloat16"; newer files call it dtype. */
static void hf_read_dtype(const struct hf_reading *reading)
{
	static const char dtype_letters[] =
		"abcdefghijklmnopqrstuvwxyz0123456789_";
	struct model_facts *facts = &reading->config->facts;
	const char *dtype = json_string_value(get(reading, "torch_dtype"));

	if (!dtype)
		dtype = json_string_value(get(reading, "dtype"));
	if (dtype && strncmp(dtype, "torch.", 6) == 0)
		dtype += 6;
	if (dtype && dtype[strspn(dtype, dtype_letters)] == '\0')
		(void)snprintf(facts->dtype, sizeof(facts->dtype), "%s", dtype);
}

static void read_packing(const struct hf_reading *reading)
{
	const json_t *packing = get(reading, "quantization_config");
	const char *method =
		json_string_value(json_object_get(packing, "quant_method"));
	int64_t bits;

	if (json_whole(json_object_get(packing, "bits"), &bits) && bits >= 1 &&
	    bits <= 8)
		reading->config->packed_bits = bits;
	/* DeepSeek-V3 and others: what torch_dtype calls bfloat16 is not. */
	if (method && strcmp(method, "fp8") == 0)
		(void)snprintf(reading->config->facts.dtype,
			       sizeof(reading->config->facts.dtype),
			       "float8_e4m3fn");
	if (method && strcmp(method, "mxfp4") == 0)
		(void)snprintf(reading->config->facts.dtype,
			       sizeof(reading->config->facts.dtype), "mxfp4");
}

static int hf_fail_unknown(const struct hf_reading *reading)
{
	const char *type = reading->config->type;

	return error_set(reading->err, -ENOTSUP,
			 "%s: the architecture '%s' is not known: give its "
			 "parameters, or a family (%s) with layers, hidden, "
			 "heads, kv_heads, ffn and vocab",
			 reading->name, *type ? type : "(no model_type)",
			 MODEL_FAMILY_NAMES);
}

static int take_diffusers(const struct hf_reading *reading)
{
	struct model_facts *facts = &reading->config->facts;
	int result = diffusers_read(facts, reading->root, reading->err);

	if (result == 0)
		result = model_facts_check(facts, reading->err);
	if (result < 0)
		(void)error_prefix(reading->err, "%s", reading->name);
	return result;
}

int hf_config_take(struct hf_config *config, const char *name,
		   const json_t *root, struct error *err)
{
	struct hf_reading reading = {
		.config = config,
		.name = name,
		.root = root,
		.model = hf_pair_is(root) ? root : hf_find_text(root),
		.err = err,
	};
	int result;

	memset(config, 0, sizeof(*config));
	if (diffusers_is(root))
		return take_diffusers(&reading);
	reading.kind = find_kind(reading.model);
	if (reading.kind)
		model_facts_init(&config->facts, reading.kind->family);
	name_type(&reading);
	hf_read_dtype(&reading);
	read_packing(&reading);
	result = read_keys(&reading);
	if (result < 0)
		return result;
	fill_class(&reading);
	read_flags(&reading);
	result = hf_read_family(&reading);
	if (result == 0)
		result = read_window(&reading);
	if (result < 0)
		return result;
	if (!reading.kind)
		return hf_fail_unknown(&reading);
	if (!hf_pair_is(root))
		hf_towers_read(&config->facts, root);
	model_facts_complete(&config->facts);
	if (model_facts_check(&config->facts, err) < 0)
		return error_prefix(err, "%s", name);
	return 0;
}

bool hf_config_is(const json_t *root)
{
	return json_object_get(root, "model_type") ||
	       json_object_get(root, "architectures") || diffusers_is(root);
}

int hf_config_read(struct hf_config *config, const char *name, const char *text,
		   size_t length, struct error *err)
{
	json_t *root = json_bounded(name, text, length, false, err);
	int result;

	memset(config, 0, sizeof(*config));
	if (!root)
		return err ? err->code : -EINVAL;
	result = hf_config_take(config, name, root, err);
	json_decref(root);
	return result;
}
