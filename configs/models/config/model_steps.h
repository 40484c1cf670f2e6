/* The steps of a network of convolutions, as words. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_STEPS_H
#define AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_STEPS_H

#include "base/error.h"
#include "base/model_facts.h"

/*
 * Words with blanks between them, each a kind and its size, then letters with
 * numbers: "conv64k7s2 max3s2 bottle256i64x3 head".
 *   k kernel   s stride   p padding   x times
 *   i channels in the middle   g groups   e times as wide inside
 * They come into facts, which has no steps yet. -EINVAL: err names the word,
 * and the kinds that there are.
 */
int model_steps_read(struct model_facts *facts, const char *text,
		     struct error *err);

#endif
