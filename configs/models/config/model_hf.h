/* config.json of Hugging Face: which family a model is, and its numbers. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_H
#define AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_H

#include "base/error.h"
#include "base/model_facts.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A larger one is none; id2label of 21843 classes takes 1 MiB. */
#define HF_CONFIG_BYTES_MAX ((size_t)4 * 1024 * 1024)

struct hf_config {
	struct model_facts facts;
	int64_t packed_bits; /* of GPTQ and AWQ (quantization_config); 0 */
	char type[64];       /* model_type, or the architecture */
};

/*
 * The family by model_type, else by the class in architectures; of several
 * models in one (text_config and a vision tower) the language model, with the
 * tower's parameters beside it (model_hf_tower.h). What a file leaves out is
 * what the class in transformers has: as many kv_heads as heads, head_dim =
 * hidden / heads, tied or not. A key that is no number, or 0 where a model
 * needs one, is -EINVAL. mlp_bias is not counted.
 *
 * -ENOTSUP: the architecture is not known; the message says which numbers
 * would do, and the facts have those that the file has under usual names.
 */
int hf_config_read(struct hf_config *config, const char *name, const char *text,
		   size_t length, struct error *err);

/* Is it one of theirs, and no file of our own names? */
bool hf_config_is(const json_t *root);
int hf_config_take(struct hf_config *config, const char *name,
		   const json_t *root, struct error *err);

#endif
