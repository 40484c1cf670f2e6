/* Usual ways to train or run a model, to compare them. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_RECIPES_H
#define AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_RECIPES_H

#include "estimator/estimator.h"
#include "launcher/options/estimate_request.h"

#include <stddef.h>
#include <stdint.h>

/* From most to least memory. */
enum recipe {
	RECIPE_FULL,
	RECIPE_LORA,
	RECIPE_QLORA,
	RECIPE_GENERATION,
	RECIPES
};

const char *recipe_title(enum recipe recipe); /* "QLoRA" */

/*
 * The run done so: as run says, but for what makes the recipe. A precision
 * that the user asked for stays; else full training is autocast, the others
 * have bf16 weights. Activations are checkpointed unless he said otherwise.
 */
void recipe_apply(enum recipe recipe, const struct estimate_request *request,
		  struct workload *run);

/* On count GPUs: sharded (FSDP), or for generation each layer shared. */
void recipe_spread(enum recipe recipe, int64_t count, struct workload *run);

#endif
