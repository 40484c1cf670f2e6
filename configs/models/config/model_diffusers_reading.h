/* A config.json of diffusers under way: what its readers share. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_DIFFUSERS_READING_H
#define AUTOFIT_CONFIGS_MODELS_CONFIG_MODEL_DIFFUSERS_READING_H

#include "base/error.h"
#include "base/model_facts.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* More of anything is a mistake; no product of such numbers overflows. */
#define DIFFUSERS_MOST 20000
/* Pixels along the side of one latent. */
#define DIFFUSERS_LATENT 8

struct diffusers_reading {
	const json_t *root;
	struct error *err;
	bool has_failed;
};

/* Numbers from 1 to DIFFUSERS_MOST; 1, and the reading has failed, where one is
 * none. diffusers_number(): other, where the file has none. */
int64_t diffusers_checked(struct diffusers_reading *reading, const char *key,
			  const json_t *json);
int64_t diffusers_number(struct diffusers_reading *reading, const char *key,
			 int64_t other);
void diffusers_fail(struct diffusers_reading *reading, const char *key);
/* Elements of a matrix with a bias. */
int64_t diffusers_matrix(int64_t in, int64_t out);

/* Transformers: parameters, kept and adapted elements, size of the image. 0. */
int diffusers_read_flux(struct diffusers_reading *reading,
			struct model_facts *facts);
int diffusers_read_sd3(struct diffusers_reading *reading,
		       struct model_facts *facts);
int diffusers_read_pixart(struct diffusers_reading *reading,
			  struct model_facts *facts);
int diffusers_read_dit(struct diffusers_reading *reading,
		       struct model_facts *facts);

#endif
