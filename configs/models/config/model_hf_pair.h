/* Two towers that learn together, in config.json: CLIP and SigLIP. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_PAIR_H
#define AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_PAIR_H

#include "base/error.h"
#include "base/model_facts.h"

#include <jansson.h>
#include <stdbool.h>

/* Is it one of them, and no language model with a tower? */
bool hf_pair_is(const json_t *root);
/*
 * Parameters and kept elements of both towers, exact, into facts of
 * MODEL_COUNTED. -EINVAL: a number is none, or too large.
 */
int hf_pair_read(struct model_facts *facts, const json_t *root,
		 struct error *err);

#endif
