/* Swin Transformers in config.json. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_SWIN_H
#define AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_SWIN_H

#include "base/error.h"
#include "base/model_facts.h"

#include <jansson.h>

/*
 * Parameters, exact, and kept elements into facts of MODEL_COUNTED whose
 * classes are known. -EINVAL: a number is none, too large, or does not divide.
 */
int hf_swin_read(struct model_facts *facts, const json_t *root,
		 struct error *err);

#endif
