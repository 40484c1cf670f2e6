/* Which tensors of a checkpoint are parameters, and how many. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/model_tensors.h"

#include "base/match.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* What of a packed dtype is in no row of suffixes[] is not clear. */
static const struct dtype dtypes[] = {
	{ "F64", "float64", 64, DTYPE_FLOAT },
	{ "F32", "float32", 32, DTYPE_FLOAT },
	{ "BF16", "bfloat16", 16, DTYPE_FLOAT },
	{ "F16", "float16", 16, DTYPE_FLOAT },
	{ "F8_E4M3", "float8_e4m3fn", 8, DTYPE_FLOAT },
	{ "F8_E5M2", "float8_e5m2", 8, DTYPE_FLOAT },
	{ "F8_E8M0", "float8_e8m0fnu", 8, DTYPE_FLOAT },
	{ "F4", "float4", 4, DTYPE_FLOAT },
	{ "C64", "complex64", 64, DTYPE_FLOAT },
	{ "I8", "int8", 8, DTYPE_FLOAT }, /* LLM.int8: one for each weight */
	{ "U8", "uint8", 8, DTYPE_PACKED },
	{ "I16", "int16", 16, DTYPE_PACKED },
	{ "U16", "uint16", 16, DTYPE_PACKED },
	{ "I32", "int32", 32, DTYPE_PACKED },
	{ "U32", "uint32", 32, DTYPE_PACKED },
	{ "I64", "int64", 64, DTYPE_INDEX },
	{ "U64", "uint64", 64, DTYPE_INDEX },
	{ "BOOL", "bool", 8, DTYPE_INDEX },
};

_Static_assert(COUNT(dtypes) <= WEIGHTS_DTYPES, "each has its bytes");

enum meaning {
	MEANS_NOTHING,  /* scales, tables, buffers */
	MEANS_TWO,      /* two weights in a byte */
	MEANS_BITS,     /* so many as packed_bits says */
	MEANS_HEAD,     /* the last matrix of a language model */
	MEANS_WORDS,    /* its first */
	MEANS_A_BUFFER, /* of rank 4: a mask of GPT-2 and NeoX; else a bias */
};

/*
 * Sources: bitsandbytes functional.py (QuantState.as_dict), AutoGPTQ and
 * AutoAWQ's linear layers, compressed-tensors, DeepSeek-V3's inference/model.py
 * (weight_scale_inv), gpt-oss (blocks and scales), and the modelling files of
 * transformers for buffers and heads.
 */
static const struct {
	const char *suffix;
	const char *dtype; /* NULL: any */
	enum meaning meaning;
} suffixes[] = {
	{ ".absmax", NULL, MEANS_NOTHING },
	{ ".nested_absmax", NULL, MEANS_NOTHING },
	{ ".quant_map", NULL, MEANS_NOTHING },
	{ ".nested_quant_map", NULL, MEANS_NOTHING },
	{ ".quant_state.bitsandbytes__nf4", NULL, MEANS_NOTHING },
	{ ".quant_state.bitsandbytes__fp4", NULL, MEANS_NOTHING },
	{ ".SCB", NULL, MEANS_NOTHING },
	{ ".weight_format", NULL, MEANS_NOTHING },
	{ ".qzeros", NULL, MEANS_NOTHING },
	{ ".scales", NULL, MEANS_NOTHING },
	{ ".g_idx", NULL, MEANS_NOTHING },
	{ "_scales", "U8", MEANS_NOTHING },
	{ "weight_scale", NULL, MEANS_NOTHING },
	{ "weight_scale_inv", NULL, MEANS_NOTHING },
	{ "weight_shape", NULL, MEANS_NOTHING },
	{ "weight_zero_point", NULL, MEANS_NOTHING },
	{ "input_scale", NULL, MEANS_NOTHING },
	{ "rotary_emb.inv_freq", NULL, MEANS_NOTHING },
	{ "masked_bias", NULL, MEANS_NOTHING },
	{ "running_mean", NULL, MEANS_NOTHING },
	{ "running_var", NULL, MEANS_NOTHING },
	{ "EncDecAttention.relative_attention_bias.weight", NULL,
	  MEANS_NOTHING },
	{ "attn.bias", NULL, MEANS_A_BUFFER },
	{ "attention.bias", NULL, MEANS_A_BUFFER },
	{ ".qweight", "I32", MEANS_BITS },
	{ ".weight_packed", "I32", MEANS_BITS },
	{ "_blocks", "U8", MEANS_TWO },
	{ ".weight", "U8", MEANS_TWO },
	{ "lm_head.weight", NULL, MEANS_HEAD },
	{ "embed_out.weight", NULL, MEANS_HEAD },
	{ "encoder.embed_tokens.weight", NULL, MEANS_WORDS },
	{ "decoder.embed_tokens.weight", NULL, MEANS_WORDS },
	{ "embed_tokens.weight", NULL, MEANS_WORDS },
	{ "wte.weight", NULL, MEANS_WORDS },
	{ "embed_in.weight", NULL, MEANS_WORDS },
	{ "shared.weight", NULL, MEANS_WORDS },
	{ "word_embeddings.weight", NULL, MEANS_WORDS },
};

const struct dtype *dtype_find(const char *name)
{
	for (size_t i = 0; i < COUNT(dtypes); i++)
		if (strcmp(dtypes[i].name, name) == 0)
			return &dtypes[i];
	return NULL;
}

/* "model.layers.61.x" is behind a model of 61 layers: DeepSeek's MTP. */
static bool is_behind(const struct stored_weights *weights, const char *name)
{
	static const char before[] = "model.layers.";
	int64_t layer = 0;

	if (!weights->layers || strncmp(name, before, sizeof(before) - 1) != 0)
		return false;
	name += sizeof(before) - 1;
	if (!isdigit((unsigned char)*name))
		return false;
	for (; isdigit((unsigned char)*name) && layer <= weights->layers;
	     name++)
		layer = layer * 10 + (*name - '0');
	return layer >= weights->layers;
}

/* T5 has the one table under up to three names. */
static bool is_copy(const char *name)
{
	return strcmp(name, "encoder.embed_tokens.weight") == 0 ||
	       strcmp(name, "decoder.embed_tokens.weight") == 0;
}

static int64_t by_dtype(struct stored_weights *weights,
			const struct tensor *tensor)
{
	if (tensor->dtype->kind == DTYPE_FLOAT)
		return tensor->elements;
	if (tensor->dtype->kind == DTYPE_PACKED)
		weights->unclear_bytes += tensor->bytes;
	return 0;
}

/* Negative: more than 63 bits count. */
static int64_t times(int64_t elements, int64_t factor)
{
	int64_t product;

	return __builtin_mul_overflow(elements, factor, &product) ? -1
								  : product;
}

static int64_t by_meaning(struct stored_weights *weights,
			  const struct tensor *tensor, enum meaning meaning)
{
	int64_t bits = weights->packed_bits ? weights->packed_bits : 4;
	int64_t all_bits = times(tensor->bytes, 8);

	switch (meaning) {
	case MEANS_NOTHING:
		return 0;
	case MEANS_TWO:
		weights->is_packed = true;
		return times(tensor->elements, 2);
	case MEANS_BITS:
		weights->is_packed = true;
		return all_bits < 0 ? all_bits : all_bits / bits;
	case MEANS_HEAD:
		weights->has_head = true;
		return weights->is_tied ? 0 : by_dtype(weights, tensor);
	case MEANS_WORDS:
		weights->has_embedding = true;
		return is_copy(tensor->name) ? 0 : by_dtype(weights, tensor);
	case MEANS_A_BUFFER:
		return tensor->rank == 4 ? 0 : by_dtype(weights, tensor);
	}
	return 0;
}

static int64_t parameters_of(struct stored_weights *weights,
			     const struct tensor *tensor)
{
	if (is_behind(weights, tensor->name))
		return 0;
	for (size_t i = 0; i < COUNT(suffixes); i++)
		if (text_ends_with(tensor->name, suffixes[i].suffix) &&
		    (!suffixes[i].dtype ||
		     strcmp(suffixes[i].dtype, tensor->dtype->name) == 0))
			return by_meaning(weights, tensor, suffixes[i].meaning);
	return by_dtype(weights, tensor);
}

static bool is_adapter(const char *name)
{
	return strstr(name, ".lora_") || strstr(name, "lora_magnitude_vector");
}

int tensor_count(struct stored_weights *weights, const struct tensor *tensor)
{
	bool is_lora = is_adapter(tensor->name);
	int64_t count =
		is_lora ? tensor->elements : parameters_of(weights, tensor);
	int64_t *sum = is_lora ? &weights->adapters : &weights->parameters;

	if (count < 0 || __builtin_add_overflow(*sum, count, sum) ||
	    __builtin_add_overflow(weights->bytes, tensor->bytes,
				   &weights->bytes))
		return -ERANGE;
	weights->dtype_bytes[tensor->dtype - dtypes] += tensor->bytes;
	return 0;
}

const char *weights_dtype(const struct stored_weights *weights)
{
	const char *name = "";
	int64_t most = 0;

	for (size_t i = 0; i < COUNT(dtypes); i++) {
		if (weights->dtype_bytes[i] <= most)
			continue;
		most = weights->dtype_bytes[i];
		name = dtypes[i].torch;
	}
	return name;
}
