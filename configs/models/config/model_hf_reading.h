/* A config.json under way: what its readers share. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_READING_H
#define AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_HF_READING_H

#include "base/error.h"
#include "configs/models/config/model_hf.h"
#include "configs/models/config/model_hf_table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct hf_reading {
	struct hf_config *config;
	const char *name;
	const json_t *root;
	const json_t *model; /* root, or the language model in it */
	const struct hf_architecture *kind; /* NULL: not known */
	struct error *err;
};

/* What the language model says, else the whole; NULL: neither does. */
const json_t *hf_get(const struct hf_reading *reading, const char *key);
bool hf_true(const struct hf_reading *reading, const char *key, bool other);
/* 1: a whole number from 0; 0: the file has none, *value stays; or negative. */
int hf_count(const struct hf_reading *reading, const char *key, int64_t *value);
/* A field of the facts; key: what the file calls it. 0, or negative. */
int hf_set(const struct hf_reading *reading, const char *field, const char *key,
	   int64_t value);
/* Only where nothing is known yet. */
void hf_fill(int64_t *count, int64_t value);
/* The first of "architectures"; NULL. */
const char *hf_class_of(const json_t *model);
/* Numbers that only the family of the facts has. 0, or negative. */
int hf_read_family(const struct hf_reading *reading);

#endif
