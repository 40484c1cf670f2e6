/* Diffusion models in config.json of Hugging Face's diffusers. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_DIFFUSERS_H
#define AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_DIFFUSERS_H

#include "base/error.h"
#include "base/model_facts.h"

#include <jansson.h>
#include <stdbool.h>

/* The file names a class of diffusers (_class_name). */
bool diffusers_is(const json_t *root);
/*
 * UNet2DConditionModel (Stable Diffusion, SDXL), FluxTransformer2DModel and
 * DiTTransformer2DModel, into facts of MODEL_COUNTED: parameters exact, what is
 * kept of one image of the size that the file says. -ENOTSUP: another class, or
 * something is switched on that is not counted; err names it. -EINVAL: a number
 * is none, or too large.
 */
int diffusers_read(struct model_facts *facts, const json_t *root,
		   struct error *err);

#endif
