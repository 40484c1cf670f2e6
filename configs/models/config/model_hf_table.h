/* The architectures of transformers, and how their config.json calls things. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_TABLE_H
#define AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_TABLE_H

#include "base/model_facts.h"

#include <stdbool.h>
#include <stdint.h>

enum hf_flag {
	HF_TIED = 1,     /* where tie_word_embeddings is left out */
	HF_QKV_BIAS = 2, /* always */
	HF_QK_NORM = 4,
	HF_FOUR_NORMS = 8,
	HF_WINDOW = 16, /* sliding_window is of every layer */
	HF_UNTIED = 32, /* not as its family */
	HF_WIDE_NORMS = 64,
	HF_SINKS = 128, /* and biases in MLP and experts */
	HF_PLAIN_SHARED = 256,
	HF_LAYER_SCALE = 512, /* DINOv2 */
};

struct hf_architecture {
	const char *type;    /* model_type */
	const char *classes; /* what a class begins with: LlamaForCausalLM */
	enum model_family family;
	unsigned flags; /* enum hf_flag */
};

/* A type of NULL ends them. */
extern const struct hf_architecture hf_architectures[];

#define HF_ALIASES_MAX 7

/* What config.json calls a field of model_facts. */
struct hf_key {
	const char *field;
	const char *names[HF_ALIASES_MAX + 1];
	unsigned families; /* bits 1 << MODEL_x that have it */
	bool may_be_zero;
};

extern const struct hf_key hf_keys[];

/* A text_config says only what differs from the class. */
struct hf_class {
	const char *type;
	int64_t layers, hidden, heads, kv_heads, head_dim, ffn, vocab;
};

extern const struct hf_class hf_classes[];

#endif
