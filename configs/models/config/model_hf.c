/* config.json of Hugging Face: which family a model is, and its numbers. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/config/model_hf.h"

#include "configs/files/json_bounded.h"
#include "configs/models/config/model_diffusers.h"
#include "configs/models/config/model_hf_pair.h"
#include "configs/models/config/model_hf_reading.h"
#include "configs/models/config/model_hf_table.h"
#include "configs/models/config/model_hf_tower.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

static const struct hf_architecture *find_kind(const json_t *model)
{
	const char *type =
		json_string_value(json_object_get(model, "model_type"));
	const char *class = hf_class_of(model);
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
		type = hf_class_of(reading->model);
	(void)snprintf(config->type, sizeof(config->type), "%s",
		       type ? type : "");
}

/* The first of the names that the file has. */
static int hf_read_key(const struct hf_reading *reading,
		       const struct hf_key *key)
{
	for (size_t i = 0; key->names[i]; i++) {
		int64_t value = 0;
		int found = hf_count(reading, key->names[i], &value);

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

	facts->is_tied = hf_true(reading, "tie_word_embeddings", is_tied);
	facts->has_qk_norm = flags & HF_QK_NORM;
	facts->has_wide_norms = flags & HF_WIDE_NORMS;
	facts->has_sinks = facts->has_mlp_bias = flags & HF_SINKS;
	facts->has_plain_shared = flags & HF_PLAIN_SHARED;
	facts->has_qkv_bias = flags & HF_QKV_BIAS;
	if (flags & HF_FOUR_NORMS)
		facts->layer_norms = 4;
	if (!is_grouped)
		return;
	facts->has_qkv_bias = hf_true(
		reading, "qkv_bias",
		hf_true(reading, "attention_bias", facts->has_qkv_bias));
	facts->has_out_bias =
		hf_true(reading, "attention_bias", (flags & HF_SINKS) != 0);
	if (flags & HF_SINKS)
		facts->has_qkv_bias = facts->has_out_bias;
}

static int read_window(const struct hf_reading *reading)
{
	unsigned flags = reading->kind ? reading->kind->flags : 0;
	int64_t window = 0;
	int result;

	if (!(flags & HF_WINDOW) ||
	    !hf_true(reading, "use_sliding_window", true))
		return 0;
	result = hf_count(reading, "sliding_window", &window);
	return result < 0 ? result
			  : hf_set(reading, "window", "sliding_window", window);
}

/* "bfloat16"; newer files call it dtype. */
static void hf_read_dtype(const struct hf_reading *reading)
{
	static const char dtype_letters[] =
		"abcdefghijklmnopqrstuvwxyz0123456789_";
	struct model_facts *facts = &reading->config->facts;
	const char *dtype = json_string_value(hf_get(reading, "torch_dtype"));

	if (!dtype)
		dtype = json_string_value(hf_get(reading, "dtype"));
	if (dtype && strncmp(dtype, "torch.", 6) == 0)
		dtype += 6;
	if (dtype && dtype[strspn(dtype, dtype_letters)] == '\0')
		(void)snprintf(facts->dtype, sizeof(facts->dtype), "%s", dtype);
}

static void read_packing(const struct hf_reading *reading)
{
	const json_t *packing = hf_get(reading, "quantization_config");
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
