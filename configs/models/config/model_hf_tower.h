/* Towers for images and sound beside a language model, in config.json. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_TOWER_H
#define AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_TOWER_H

#include "base/model_facts.h"

#include <jansson.h>

/*
 * Adds the parameters of the towers in root to facts->tower, as far as their
 * numbers say them, and names each in facts->unread. facts->hidden is known:
 * what joins a tower to the language model follows from it.
 */
void hf_towers_read(struct model_facts *facts, const json_t *root);

#endif
