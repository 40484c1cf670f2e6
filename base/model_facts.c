/* Facts about a model: their names and limits, and which belong together. */
/* SPDX-License-Identifier: MIT */
#include "base/model_facts.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* No model is near these, and products of three of them fit 63 bits. */
#define LAYERS_MOST INT64_C(100000)
#define WIDTH_MOST INT64_C(1000000)
#define VOCAB_MOST INT64_C(100000000)
#define PARAMETERS_MOST INT64_C(1000000000000000)

#define FIELD_NAME_MAX 32

#define COUNT(member, limit, words)                                            \
	{                                                                      \
		.name = #member, .most = (limit), .help = (words),             \
		.offset = offsetof(struct model_facts, member)                 \
	}
#define FLAG(title, member, words)                                             \
	{                                                                      \
		.name = (title), .most = 1, .help = (words), .is_flag = true,  \
		.offset = offsetof(struct model_facts, member)                 \
	}

const struct model_field model_fields[] = {
	COUNT(layers, LAYERS_MOST, "layers, of the encoder where there is one"),
	COUNT(decoder_layers, LAYERS_MOST, "layers of the decoder"),
	COUNT(hidden, WIDTH_MOST, "width of the residual stream"),
	COUNT(heads, WIDTH_MOST, "attention heads"),
	COUNT(kv_heads, WIDTH_MOST, "heads of keys and values"),
	COUNT(head_dim, WIDTH_MOST, "width of one head"),
	COUNT(ffn, WIDTH_MOST, "inner width of the MLP"),
	COUNT(vocab, VOCAB_MOST, "rows of the embedding"),
	COUNT(positions, VOCAB_MOST, "learned positions"),
	COUNT(token_types, WIDTH_MOST, "token types (BERT)"),
	COUNT(embedding, WIDTH_MOST, "width of the embedding (OPT)"),
	COUNT(layer_norms, 16, "norms of one layer"),
	COUNT(experts, WIDTH_MOST, "experts of a layer"),
	COUNT(experts_per_token, WIDTH_MOST, "experts that a token goes to"),
	COUNT(expert_ffn, WIDTH_MOST, "inner width of one expert"),
	COUNT(shared_ffn, WIDTH_MOST, "inner width of the shared experts"),
	COUNT(dense_layers, LAYERS_MOST, "first layers without experts"),
	COUNT(q_rank, WIDTH_MOST, "rank of compressed queries (MLA)"),
	COUNT(kv_rank, WIDTH_MOST, "rank of compressed keys and values"),
	COUNT(nope_dim, WIDTH_MOST, "width of a head without positions"),
	COUNT(rope_dim, WIDTH_MOST, "width of a head with positions"),
	COUNT(value_dim, WIDTH_MOST, "width of a head's values"),
	COUNT(image, WIDTH_MOST, "pixels along an image's side"),
	COUNT(patch, WIDTH_MOST, "pixels along a patch's side"),
	COUNT(channels, WIDTH_MOST, "channels of an image"),
	COUNT(classes, VOCAB_MOST, "classes"),
	COUNT(window, VOCAB_MOST, "tokens of sliding attention"),
	COUNT(tower, PARAMETERS_MOST,
	      "parameters of towers for images or sound"),
	COUNT(decoder_positions, VOCAB_MOST, "positions of the decoder"),
	COUNT(state, WIDTH_MOST, "state of each channel (Mamba)"),
	COUNT(step_rank, WIDTH_MOST, "rank of the time step (Mamba)"),
	COUNT(kernel, 1000, "width of the convolution (Mamba)"),
	COUNT(activations, PARAMETERS_MOST,
	      "elements kept of a sample (convolutions, diffusion)"),
	COUNT(adapted, PARAMETERS_MOST,
	      "inputs and outputs of all matrices with adapters"),
	FLAG("tied", is_tied, "the head is the embedding"),
	FLAG("gated", is_gated, "an MLP has three matrices"),
	FLAG("qkv_bias", has_qkv_bias, "q, k and v have biases"),
	FLAG("out_bias", has_out_bias, "the output of attention has one"),
	FLAG("qk_norm", has_qk_norm, "q and k are normed"),
	FLAG("wide_norms", has_wide_norms, "q and k normed over all heads"),
	FLAG("mlp_bias", has_mlp_bias, "MLP, router and experts have biases"),
	FLAG("sinks", has_sinks, "attention has sinks"),
	FLAG("plain_shared", has_plain_shared,
	     "shared experts have no gate of their own"),
	FLAG("layer_scale", has_layer_scale,
	     "attention and MLP are scaled (DINOv2)"),
	COUNT(parameters, PARAMETERS_MOST, "all parameters"),
	COUNT(stored_bytes, INT64_MAX, "bytes of the weights on disk"),
	{ .name = NULL },
};

static const struct family {
	const char *name;
	bool is_tied, is_gated; /* if nothing else is said */
	const char *needs;      /* what it cannot be counted without */
} families[MODEL_FAMILIES] = {
	[MODEL_UNKNOWN] = { "unknown", false, false, "parameters" },
	[MODEL_GPT2] = { "gpt2", true, false,
			 "layers hidden heads ffn vocab positions" },
	[MODEL_LLAMA] = { "llama", false, true,
			  "layers hidden heads kv_heads head_dim ffn vocab" },
	[MODEL_PHI] = { "phi", false, false, "layers hidden heads ffn vocab" },
	[MODEL_NEOX] = { "neox", false, false,
			 "layers hidden heads ffn vocab" },
	[MODEL_OPT] = { "opt", true, false,
			"layers hidden heads ffn vocab positions embedding" },
	[MODEL_BERT] = { "bert", true, false,
			 "layers hidden heads ffn vocab positions "
			 "token_types" },
	[MODEL_T5] = { "t5", true, false,
		       "layers decoder_layers hidden heads head_dim ffn "
		       "vocab" },
	[MODEL_VIT] = { "vit", false, false,
			"layers hidden heads ffn image patch channels" },
	[MODEL_MOE] = { "moe", false, true,
			"layers hidden heads kv_heads head_dim vocab experts "
			"experts_per_token expert_ffn" },
	[MODEL_DEEPSEEK] = { "deepseek", false, true,
			     "layers hidden heads vocab kv_rank nope_dim "
			     "rope_dim value_dim experts experts_per_token "
			     "expert_ffn" },
	[MODEL_FALCON] = { "falcon", true, false,
			   "layers hidden heads kv_heads head_dim ffn vocab "
			   "layer_norms" },
	[MODEL_BLOOM] = { "bloom", true, false,
			  "layers hidden heads ffn vocab" },
	[MODEL_GPTJ] = { "gptj", false, false,
			 "layers hidden heads ffn vocab" },
	[MODEL_DISTILBERT] = { "distilbert", true, false,
			       "layers hidden heads ffn vocab positions" },
	[MODEL_DEBERTA] = { "deberta", true, false,
			    "layers hidden heads ffn vocab positions" },
	[MODEL_WHISPER] = { "whisper", true, false,
			    "layers decoder_layers hidden heads head_dim ffn "
			    "vocab positions decoder_positions channels" },
	[MODEL_MAMBA] = { "mamba", true, false,
			  "layers hidden ffn vocab state step_rank kernel" },
	[MODEL_GPTNEO] = { "gptneo", true, false,
			   "layers hidden heads ffn vocab positions" },
	[MODEL_BART] = { "bart", true, false,
			 "layers decoder_layers hidden heads ffn vocab "
			 "positions" },
	[MODEL_COUNTED] = { "counted", false, false, "parameters activations" },
	[MODEL_CONV] = { "conv", false, false, "image channels" },
};

const char *model_family_name(enum model_family family)
{
	assert(family < MODEL_FAMILIES);
	return families[family].name;
}

bool model_family_has_words(enum model_family family)
{
	static const bool none[MODEL_FAMILIES] = {
		[MODEL_BERT] = true,       [MODEL_VIT] = true,
		[MODEL_DISTILBERT] = true, [MODEL_DEBERTA] = true,
		[MODEL_COUNTED] = true,    [MODEL_CONV] = true,
	};

	return !none[family];
}

bool model_family_has_decoder(enum model_family family)
{
	return family == MODEL_T5 || family == MODEL_WHISPER ||
	       family == MODEL_BART;
}

void model_facts_init(struct model_facts *facts, enum model_family family)
{
	memset(facts, 0, sizeof(*facts));
	facts->family = family;
	facts->is_tied = families[family].is_tied;
	facts->is_gated = families[family].is_gated;
}

static void facts_fill(int64_t *count, int64_t value)
{
	if (*count == 0)
		*count = value;
}

/* MambaConfig: twice as wide inside, a state of 16, a rank of a 16th. */
static void mamba_complete(struct model_facts *facts)
{
	if (facts->hidden <= 0 || facts->hidden > WIDTH_MOST)
		return;
	facts_fill(&facts->ffn, 2 * facts->hidden);
	facts_fill(&facts->state, 16);
	facts_fill(&facts->kernel, 4);
	facts_fill(&facts->step_rank, (facts->hidden + 15) / 16);
}

void model_facts_complete(struct model_facts *facts)
{
	if (!facts->kv_rank)
		facts_fill(&facts->kv_heads, facts->heads);
	if (!facts->kv_rank && facts->heads > 0 &&
	    facts->hidden % facts->heads == 0)
		facts_fill(&facts->head_dim, facts->hidden / facts->heads);
	if (families[facts->family].is_gated)
		facts_fill(&facts->layer_norms, 2);
	if ((facts->family == MODEL_GPT2 || facts->family == MODEL_GPTNEO) &&
	    facts->hidden > 0 && facts->hidden <= WIDTH_MOST)
		facts_fill(&facts->ffn, facts->hidden * 4);
	if (facts->family == MODEL_OPT)
		facts_fill(&facts->embedding, facts->hidden);
	if (facts->family == MODEL_BERT)
		facts_fill(&facts->token_types, 2);
	if (facts->family == MODEL_T5 || facts->family == MODEL_BART)
		facts_fill(&facts->decoder_layers, facts->layers);
	if (facts->family == MODEL_VIT || facts->family == MODEL_CONV)
		facts_fill(&facts->channels, 3);
	if (facts->family == MODEL_CONV)
		facts_fill(&facts->image, 224);
	if ((facts->family == MODEL_BLOOM || facts->family == MODEL_GPTJ ||
	     facts->family == MODEL_FALCON) &&
	    facts->hidden > 0 && facts->hidden <= WIDTH_MOST)
		facts_fill(&facts->ffn, facts->hidden * 4);
	if (facts->family == MODEL_FALCON)
		facts_fill(&facts->layer_norms, 1);
	if (facts->family == MODEL_MAMBA)
		mamba_complete(facts);
	if (facts->family == MODEL_MOE)
		facts_fill(&facts->expert_ffn, facts->ffn);
}

int model_family_parse(const char *name, enum model_family *family)
{
	for (int i = 0; i < MODEL_FAMILIES; i++) {
		if (strcmp(families[i].name, name) != 0)
			continue;
		*family = (enum model_family)i;
		return 0;
	}
	return -EINVAL;
}

static const struct model_field *facts_field_find(const char *name)
{
	const struct model_field *field = model_fields;

	while (field->name && strcmp(field->name, name) != 0)
		field++;
	return field->name ? field : NULL;
}

static int64_t field_value(const struct model_facts *facts,
			   const struct model_field *field)
{
	const char *place = (const char *)facts + field->offset;

	return field->is_flag ? *(const bool *)place : *(const int64_t *)place;
}

int model_facts_set(struct model_facts *facts, const char *name, int64_t value,
		    struct error *err)
{
	const struct model_field *field = facts_field_find(name);
	char *place;

	if (!field)
		return error_set(err, -ENOENT, "a model has no field %s", name);
	if (value < 0 || value > field->most)
		return error_set(
			err, -ERANGE, "%s is %lld, which is not from 0 to %lld",
			name, (long long)value, (long long)field->most);
	place = (char *)facts + field->offset;
	if (field->is_flag)
		*(bool *)place = value != 0;
	else
		*(int64_t *)place = value;
	return 0;
}

static int check_ranges(const struct model_facts *facts, struct error *err)
{
	for (const struct model_field *field = model_fields; field->name;
	     field++) {
		int64_t value = field_value(facts, field);

		if (value < 0 || value > field->most)
			return error_set(err, -ERANGE,
					 "%s is %lld, which is not from 0 to "
					 "%lld",
					 field->name, (long long)value,
					 (long long)field->most);
	}
	return 0;
}

static int check_needs(const struct model_facts *facts, struct error *err)
{
	const struct family *family = &families[facts->family];

	if (facts->family == MODEL_UNKNOWN && !facts->parameters)
		return error_set(err, -EINVAL,
				 "neither the model's parameters nor its "
				 "family is known: give one of them "
				 "(families: " MODEL_FAMILY_NAMES ")");
	for (const char *at = family->needs; *at; at += strspn(at, " ")) {
		const struct model_field *field;
		char name[FIELD_NAME_MAX];
		size_t length = strcspn(at, " ");

		(void)snprintf(name, sizeof(name), "%.*s", (int)length, at);
		at += length;
		field = facts_field_find(name);
		if (field && field_value(facts, field) == 0)
			return error_set(err, -EINVAL,
					 "%s is not known (%s), which a model "
					 "of the family %s needs",
					 field->name, field->help,
					 family->name);
	}
	return 0;
}

/* Other families have layers that are alike, these have steps. */
static int check_steps(const struct model_facts *facts, struct error *err)
{
	if (facts->family != MODEL_CONV || facts->step_count)
		return 0;
	return error_set(err, -EINVAL,
			 "the steps of this network are not known: name one "
			 "(resnet50), a config.json, or a line of models.csv "
			 "with steps");
}

/* a is a whole number of times b, where both are known. */
static int check_divides(const char *a_name, int64_t a, const char *b_name,
			 int64_t b, struct error *err)
{
	if (!a || !b || a % b == 0)
		return 0;
	return error_set(err, -EINVAL, "%s %lld is no multiple of %s %lld",
			 a_name, (long long)a, b_name, (long long)b);
}

int model_facts_check(const struct model_facts *facts, struct error *err)
{
	int result = check_ranges(facts, err);

	if (result == 0)
		result = check_needs(facts, err);
	if (result == 0)
		result = check_steps(facts, err);
	if (result == 0)
		result = check_divides("heads", facts->heads, "kv_heads",
				       facts->kv_heads, err);
	/* Families that have no head_dim of their own. */
	if (result == 0 && !facts->head_dim && !facts->kv_rank)
		result = check_divides("hidden", facts->hidden, "heads",
				       facts->heads, err);
	if (result == 0)
		result = check_divides("image", facts->image, "patch",
				       facts->patch, err);
	if (result == 0 && facts->experts &&
	    facts->experts_per_token > facts->experts)
		result = error_set(err, -EINVAL,
				   "experts_per_token %lld is more than the "
				   "%lld experts",
				   (long long)facts->experts_per_token,
				   (long long)facts->experts);
	if (result == 0 && facts->dense_layers && !facts->ffn)
		result = error_set(err, -EINVAL,
				   "ffn is not known (inner width of the MLP), "
				   "which dense_layers need");
	if (result == 0 && facts->dense_layers > facts->layers)
		result = error_set(err, -EINVAL,
				   "dense_layers %lld is more than the %lld "
				   "layers",
				   (long long)facts->dense_layers,
				   (long long)facts->layers);
	return result;
}
