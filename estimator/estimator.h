/* The memory of one GPU in a run, as it follows from model and method. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_ESTIMATOR_ESTIMATOR_H
#define AUTOFIT_ESTIMATOR_ESTIMATOR_H

#include "base/error.h"
#include "base/model_facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Everything is bytes of one GPU, and 64-bit integers where it is counted;
 * doubles only where a formula has fractions (NF4, fragmentation), rounded up
 * to whole bytes. Formulas are named with their source where they stand.
 */

/* Parameters of the model, exact for each family: see parameters.c. */
int model_parameters(const struct model_facts *facts, int64_t *parameters,
		     struct error *err);

enum task {
	TASK_TRAIN, /* the next token, or classes */
	TASK_DPO,   /* chosen and rejected in one pass */
	TASK_GRPO,  /* GSPO needs the same */
	TASK_PPO,
	TASK_INFERENCE, /* prefill and decoding with a KV cache */
	TASKS,
};

/* What weights, gradients and states are kept in. */
enum regime {
	REGIME_FP32,
	REGIME_AMP,    /* fp32 weights, cast for each forward */
	REGIME_BF16,   /* everything 16-bit, states too */
	REGIME_MASTER, /* 16-bit, and an fp32 copy of the weights */
	REGIME_FP8,    /* linear inputs in 8 bit; else as REGIME_BF16 */
	REGIMES,
};

/* How frozen or read-only weights are stored. */
enum weights {
	WEIGHTS_AS_COMPUTED, /* in the dtype of the regime */
	WEIGHTS_INT8,        /* LLM.int8 */
	WEIGHTS_FP8,         /* a scale for a block; multiplied as it is */
	WEIGHTS_NF4,
	WEIGHTS_NF4_DOUBLE, /* quantised scales */
	WEIGHTS_GPTQ4,      /* and AWQ: groups of 128 */
	WEIGHTS_MXFP4,      /* experts alone, if there are any; as it is */
	WEIGHTS_KINDS,
};

enum peft {
	PEFT_NONE, /* all parameters are trained */
	PEFT_LORA,
	PEFT_DORA,
	PEFT_PROMPT, /* prefix and prompt tuning: more tokens */
	PEFT_IA3,
	PEFT_ADAPTERS, /* Houlsby */
	PEFT_FREEZE,   /* only the last layers */
	PEFT_KINDS,
};

/* The rank of adapters where none is said: that of most examples. */
#define LORA_RANK 16

/* Which linear layers carry adapters. Bits. */
#define TARGET_Q 1u
#define TARGET_K 2u
#define TARGET_V 4u
#define TARGET_O 8u
#define TARGET_GATE 16u
#define TARGET_UP 32u
#define TARGET_DOWN 64u
#define TARGETS_ATTENTION (TARGET_Q | TARGET_K | TARGET_V | TARGET_O)
#define TARGETS_MLP (TARGET_GATE | TARGET_UP | TARGET_DOWN)
#define TARGETS_ALL (TARGETS_ATTENTION | TARGETS_MLP)

enum attention {
	ATTENTION_FLASH, /* or SDPA: no score matrix */
	ATTENTION_EAGER, /* s x s for each head */
};

enum checkpointing {
	CHECKPOINT_NONE,
	CHECKPOINT_FULL,      /* inputs of blocks */
	CHECKPOINT_SELECTIVE, /* every second matmul's output */
	CHECKPOINT_OFFLOADED, /* inputs of blocks, on the host */
};

/* How the loss is computed from the logits; bytes per logit in loss.c. */
enum loss {
	LOSS_DEFAULT,  /* of transformers, by the regime */
	LOSS_UPCAST,   /* fp32 logits kept (autocast, QLoRA, old versions) */
	LOSS_CHUNKED,  /* torchtune */
	LOSS_IN_PLACE, /* Liger cross entropy */
	LOSS_FUSED,    /* the linear layer in it: Liger, Unsloth, cut CE */
	LOSS_NONE,     /* classes, images */
	LOSS_KINDS,
};

enum sharding {
	SHARD_NONE, /* one GPU */
	SHARD_DDP,
	SHARD_ZERO1,
	SHARD_ZERO2,
	SHARD_ZERO3,
	SHARD_FSDP,         /* full */
	SHARD_FSDP_GRAD_OP, /* gradients and states only */
	SHARD_MEGATRON,     /* its distributed optimizer */
	SHARDINGS,
};

enum offload { OFFLOAD_NONE, OFFLOAD_OPTIMIZER, OFFLOAD_ALL };

/* A row of the optimizers that are known: optimizer.c. */
struct optimizer {
	const char *name;
	double state_bytes; /* per trainable parameter, states in fp32 */
	bool follows_dtype; /* halves where the states are 16-bit */
	bool has_temporary; /* foreach: one copy of the parameters in a step */
	bool keeps_gradients; /* false: freed layer by layer (LOMO) */
	const char *source;
};

/* By name, "adamw" for example, in any case; NULL: none is called so. */
const struct optimizer *optimizer_find(const char *name);
/* All of them, a NULL name ends them. */
extern const struct optimizer optimizer_rows[];

/* A model beside the one that is trained: evaluator, reward, teacher. */
struct resident {
	int64_t parameters;
	enum weights weights;
	enum regime regime;    /* of AS_COMPUTED weights */
	int64_t kv_bytes;      /* its cache; 0: none */
	bool is_other_process; /* has a context of its own */
	bool follows_step;     /* its cache and activations never lie beside
				  the step's own */
};

#define RESIDENTS_MAX 4

/* What a run does with the model. All zero but model, micro_batch, sequence
 * and optimizer is a plain full fine-tuning in fp32 on one GPU. */
struct workload {
	const struct model_facts *model;
	enum task task;
	int64_t micro_batch; /* samples per GPU; GRPO: completions */
	int64_t sequence;    /* tokens of a sample, prompt and completion */
	int64_t completion;  /* those that count in the loss; 0: all */
	int64_t decoder_sequence; /* encoder and decoder; 0: sequence */
	int64_t grad_accum;       /* 0: 1 */

	enum regime regime;
	enum weights weights;
	const struct optimizer *optimizer; /* NULL: AdamW */
	bool fused_step;                   /* no foreach temporary */
	bool optimizer_in_backward;
	bool keeps_gradients; /* not freed between steps */
	bool has_ema;

	enum peft peft;
	int64_t rank;           /* of LoRA; prefix tokens; bottleneck */
	unsigned targets;       /* TARGET_*; 0: q and v */
	bool adapters_16_bit;   /* else fp32, the default of PEFT */
	bool has_dropout;       /* of the adapters */
	int64_t trained_layers; /* PEFT_FREEZE */

	enum attention attention;
	enum checkpointing checkpointing;
	bool residual_fp32; /* prepare_model_for_kbit_training */
	/* Nobody said residual_fp32: the interval spans both. */
	bool residual_is_assumed;
	bool repeats_kv; /* k and v as wide as q */
	bool fused_qkv;  /* one matrix, of whose product v is a view */
	/* Weights are quantised by Lightning's plugin: see peak.c. */
	bool lightning_quantizer;
	/* Frozen 4-bit layers keep their inputs, and those of the pass before:
	 * bitsandbytes up to 0.42 in LitGPT's loop. */
	bool keeps_frozen_inputs;
	/* A quantised head is dequantised while all logits are there. */
	bool holds_head;
	bool is_compiled;
	double dropout; /* of the model; 0: none */
	enum loss loss;

	enum sharding sharding;
	int64_t data_parallel; /* d; 0: 1 */
	int64_t tensor_parallel, pipeline_parallel, context_parallel,
		expert_parallel; /* 0: 1 */
	bool sequence_parallel;  /* Megatron */
	enum offload offload;
	bool gradients_as_views; /* of DDP's buckets */

	/* GRPO, PPO, inference. */
	int64_t generated; /* sequences generated at once; 0: micro */
	int64_t kv_bits;   /* 16; 8 */
	/* A serving engine: tokens of a prompt that go through at once, and
	 * tokens in a block of the paged cache; 0: all, 1. */
	int64_t prefill_chunk, kv_block;
	bool has_reference; /* a second model for DPO, or a KL term */
	bool has_value_model, has_reward_model; /* PPO */
	/* Of the GPU's memory: beside a training what an engine takes (vLLM
	 * colocated); of TASK_INFERENCE what the engine itself may take. */
	double engine_share;
	bool engine_sleeps;
	struct resident residents[RESIDENTS_MAX];
	size_t resident_count;

	/* Context of the GPU and its driver; 0: the default for unknown ones.
	 */
	int64_t context_bytes;
	double fragmentation; /* reserved / allocated */
	int64_t gpu_bytes;    /* for engine_share; usable ones */
	int compute_major;    /* compute capability; cuBLAS workspaces */
};

/* Where a line counts: what the allocator gave out, what it holds of the
 * driver, what nvidia-smi shows of the process. Each holds the one before. */
enum tier { TIER_ALLOCATED, TIER_RESERVED, TIER_PROCESS, TIERS };

enum peak_phase {
	PEAK_FORWARD,  /* start of the backward pass: all activations */
	PEAK_BACKWARD, /* its end: all gradients */
	PEAK_STEP,     /* of the optimizer */
	PEAK_GENERATION,
	PEAK_PHASES,
};

enum part {
	PART_WEIGHTS,
	PART_GRADIENTS,
	PART_OPTIMIZER,
	PART_MASTER,   /* fp32 copy of the weights */
	PART_CASTS,    /* autocast's cache */
	PART_ADAPTERS, /* weights, gradients and states of PEFT */
	PART_ACTIVATIONS,
	PART_LOSS,
	PART_LAYER, /* one layer computed again, unsharded, dequantised */
	PART_STEP,  /* temporaries of the optimizer's step */
	PART_BUCKETS,
	PART_KV_CACHE,
	PART_RESIDENTS,  /* other models */
	PART_WORKSPACES, /* cuBLAS and rounding, in the allocator */
	PART_FRAGMENTATION,
	PART_CONTEXT,
	PART_COMMUNICATION, /* NCCL */
	PARTS,
};

const char *part_name(enum part part);              /* "optimizer states" */
const char *peak_phase_name(enum peak_phase phase); /* "forward" */
const char *tier_name(enum tier tier);
enum tier part_tier(enum part part);

struct estimate {
	int64_t parameters, trainable;
	/* Bytes of each phase; a part that is not there then is 0. */
	int64_t parts[PEAK_PHASES][PARTS];
	int64_t allocated[PEAK_PHASES];
	enum peak_phase phase; /* the largest: where the peak is */
	int64_t peak[TIERS];
	/* An interval around each: the measured value is meant to lie in it. */
	int64_t low[TIERS], high[TIERS];
	/*
	 * peak[TIER_ALLOCATED] of the forward phase as fixed + sample x micro;
	 * where another phase is the peak the slope seen there is too small.
	 */
	int64_t fixed_bytes, sample_bytes;
};

/*
 * -EINVAL or -ERANGE: err names the field that is missing, absurd or does not
 * fit the others. Allocates nothing; under 10 microseconds.
 */
int estimate_memory(const struct workload *workload, struct estimate *estimate,
		    struct error *err);

/*
 * The largest micro-batch whose upper edge (or, with is_bare, whose peak) of
 * the process fits, at most limit; 0: none. -EINVAL as above.
 */
int64_t estimate_largest(const struct workload *workload, int64_t usable_bytes,
			 bool is_bare, int64_t limit, struct error *err);

#endif
