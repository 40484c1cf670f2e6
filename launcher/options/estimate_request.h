/* The request of `autofit estimate`: a model, a run, a GPU, and which tables.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_ESTIMATE_REQUEST_H
#define AUTOFIT_LAUNCHER_OPTIONS_ESTIMATE_REQUEST_H

#include "base/model_facts.h"
#include "estimator/estimator.h"

#include <stdbool.h>
#include <stdint.h>

/* Fields of a model given as options; they win over what a file says. */
struct estimate_field {
	const char *name; /* of model_fields */
	int64_t value;
};
#define ESTIMATE_FIELDS_MAX 40

/* As the options say it; all zero: nothing. */
struct estimate_request {
	char *model;  /* the word MODEL */
	char *family; /* --family */
	struct estimate_field fields[ESTIMATE_FIELDS_MAX];
	size_t field_count;
	uint64_t model_bytes; /* --model-size of weights in 16 bit */

	/* Its model is set when one is known. */
	struct workload run;
	bool has_regime, has_weights, has_attention, has_checkpointing,
		has_loss, has_sharding, has_offload, has_task, has_engine;
	int64_t gpus;          /* all of the run; 0: what the run says */
	int64_t residual_bits; /* 16, 32; 0: as usual */

	uint64_t gpu_bytes; /* --gpu-memory; 0: as --as, or what is there */

	bool compare, all_gpus, generation, tables, phantom;
	char *cards; /* --phantom CARD,...: the word; NULL: all of the catalogue
		      */
	char *fit;   /* a size, or a GPU's name */
	char *need;  /* a model */
	char *profile; /* a guide's */
	char *method;  /* one of its estimates */
};

#endif
