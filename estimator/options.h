/* Options that would save memory in a run: how much, and their cost. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_ESTIMATOR_OPTIONS_H
#define AUTOFIT_ESTIMATOR_OPTIONS_H

#include "estimator/estimator.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From those that change least to those that change most. */
enum memory_option_kind {
	MEMORY_FREE_GRADIENTS,
	MEMORY_FLASH,
	MEMORY_FUSED_STEP,
	MEMORY_FUSED_LOSS,
	MEMORY_ENGINE_SLEEP,
	MEMORY_ACCUMULATION,
	MEMORY_CHECKPOINTING,
	MEMORY_CHECKPOINTS_OFFLOAD,
	MEMORY_PREFILL_CHUNK,
	MEMORY_OPTIMIZER,
	MEMORY_EVALUATOR_INT8,
	MEMORY_KV_CACHE,
	MEMORY_OFFLOAD_OPTIMIZER,
	MEMORY_PRECISION,
	MEMORY_WEIGHTS_FP8,
	MEMORY_INT8,
	MEMORY_EVALUATOR_NF4,
	MEMORY_WEIGHTS_4_BIT,
	MEMORY_LORA,
	MEMORY_QUANTIZE,
	MEMORY_EVALUATOR_SMALLER,
	MEMORY_COMPLETION,
	MEMORY_SEQUENCE,
	MEMORY_SHARDING,
	MEMORY_TENSOR_PARALLEL,
	MEMORY_OFFLOAD_ALL,
	MEMORY_OPTION_KINDS,
};

/*
 * "checkpointing": stable, for JSON and for a framework's flag. Its words for
 * a reader, and what it costs in speed or else.
 */
const char *memory_option_name(enum memory_option_kind kind);
const char *memory_option_words(enum memory_option_kind kind);
const char *memory_option_cost(enum memory_option_kind kind);

struct memory_option {
	enum memory_option_kind kind;
	struct workload changed; /* the run with it */
	int64_t saved_bytes;     /* of the process */
	int64_t peak_bytes;      /* of the process with it */
	int64_t high_bytes;      /* upper edge of that */
	bool fits;               /* high_bytes in what is usable */
};

/*
 * Each single change that saves bytes, most first: how many, at most capacity.
 * usable_bytes 0: no GPU is known, nothing fits. -EINVAL as estimate_memory.
 */
int estimate_options(const struct workload *workload, int64_t usable_bytes,
		     struct memory_option *options, size_t capacity,
		     struct error *err);

/*
 * Changes that fit only together, few and mild ones: *option says what the run
 * is with all of them, kinds which they are. How many; 0: none are needed, or
 * all of them are not enough (option->fits tells). -EINVAL as above.
 */
int estimate_combination(const struct workload *workload, int64_t usable_bytes,
			 enum memory_option_kind kinds[MEMORY_OPTION_KINDS],
			 struct memory_option *option, struct error *err);

#endif
