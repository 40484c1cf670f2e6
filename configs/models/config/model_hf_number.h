/* Numbers and lists of them in config.json. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_NUMBER_H
#define AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_NUMBER_H

#include "base/error.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Stages of a network, each narrower than the one before. */
#define HF_STAGES_MAX 8

/* What is left out stays as it is. -EINVAL: no whole number from 1 to most. */
int hf_number(const json_t *json, const char *key, int64_t most, int64_t *value,
	      struct error *err);
struct hf_list {
	int64_t values[HF_STAGES_MAX];
	size_t count;
};

/* A list of them; it stays where it is left out. -EINVAL: it is none, empty, or
 * longer than HF_STAGES_MAX. */
int hf_numbers(const json_t *json, const char *key, int64_t most,
	       struct hf_list *list, struct error *err);

#endif
