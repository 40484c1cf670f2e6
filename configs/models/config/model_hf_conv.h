/* Networks of convolutions in config.json of Hugging Face. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_CONV_H
#define AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_CONV_H

#include "base/error.h"
#include "base/model_facts.h"

#include <jansson.h>

/*
 * The steps of a model of type "resnet" or "convnext", into facts that have
 * none. -EINVAL: its stages are no lists of whole numbers, of one length.
 */
int hf_conv_read(struct model_facts *facts, const char *type,
		 const json_t *model, struct error *err);

#endif
