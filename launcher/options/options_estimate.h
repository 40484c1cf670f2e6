/* The options of `autofit estimate`, as rows of the one table. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_ESTIMATE_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_ESTIMATE_H

#include "launcher/options/options_rows.h"

/* The values of enums of estimator.h, in their order; NULL ends each. */
extern const char *const task_words[];
extern const char *const regime_words[];
extern const char *const weights_words[];
extern const char *const peft_words[];
extern const char *const attention_words[];
extern const char *const checkpointing_words[];
extern const char *const loss_words[];
extern const char *const sharding_words[];
extern const char *const offload_words[];

extern const struct option_kind kind_choice;       /* an enum, by words */
extern const struct option_kind kind_model;        /* a field of the model */
extern const struct option_kind kind_model_flag;   /* one that is yes or no */
extern const struct option_kind kind_field;        /* NAME=N: the same */
extern const struct option_kind kind_gpu_memory;   /* uint64_t; bare: GiB */
extern const struct option_kind kind_weights_size; /* or parameters */
extern const struct option_kind kind_optimizer;
extern const struct option_kind kind_lora;     /* rank, and the method */
extern const struct option_kind kind_targets;  /* TARGET_*, by names */
extern const struct option_kind kind_resident; /* PARAMS[:WORD...] */
extern const struct option_kind kind_share;    /* 90%, 90 or 0.9 */

/* "24GiB" as bytes_parse reads it, and a bare number as GiB. */
int gpu_memory_parse(const char *text, uint64_t *bytes, struct error *err);

#define ESTIMATE_ASK(member) offsetof(struct options, estimate.member)
#define ESTIMATE_RUN(member) offsetof(struct options, estimate.run.member)
#define ESTIMATE_TOKENS_MAX 100000000
#define ESTIMATE_BATCH_MAX 1000000
#define ESTIMATE_GPUS_MAX 100000

#define MODEL_OPTION(title, words)                                             \
	{                                                                      \
		.name = (title), .kind = &kind_model, .argument = "N",         \
		.field = ESTIMATE_ASK(fields), .doc = (words),                 \
		.group = GROUP_MODEL                                           \
	}
#define COUNT_OPTION(title, where, most, words)                                \
	{                                                                      \
		.name = (title), .kind = &kind_integer, .argument = "N",       \
		.field = (where), .min = 1, .max = (most), .doc = (words),     \
		.group = GROUP_RUN                                             \
	}
#define RUN_FLAG(title, member, words)                                         \
	{                                                                      \
		.name = (title), .kind = &kind_flag,                           \
		.field = ESTIMATE_RUN(member), .doc = (words),                 \
		.group = GROUP_RUN                                             \
	}
#define CHOICE_OPTION(title, member, list, shown, mark, text)                  \
	{                                                                      \
		.name = (title), .kind = &kind_choice,                         \
		.field = ESTIMATE_RUN(member), .words = (list),                \
		.argument = (shown), .given = (mark), .doc = (text),           \
		.group = GROUP_RUN                                             \
	}
#define ASK_FLAG(title, member, words)                                         \
	{                                                                      \
		.name = (title), .kind = &kind_flag,                           \
		.field = ESTIMATE_ASK(member), .doc = (words),                 \
		.group = GROUP_ASK, .one_call = true                           \
	}
#define ASK_TEXT(title, member, shown, words)                                  \
	{                                                                      \
		.name = (title), .kind = &kind_string,                         \
		.field = ESTIMATE_ASK(member), .argument = (shown),            \
		.doc = (words), .group = GROUP_ASK, .one_call = true           \
	}

/* clang-format off */
#define ESTIMATE_OPTION_ROWS                                                   \
	{ .name = "params", .kind = &kind_model,                               \
	  .field = ESTIMATE_ASK(fields), .argument = "N",                      \
	  .doc = "parameters, such as 7b or 350M",                             \
	  .group = GROUP_MODEL },                                              \
	{ .name = "model-size", .kind = &kind_weights_size,                    \
	  .field = ESTIMATE_ASK(model_bytes), .argument = "SIZE|N",            \
	  .doc = "the same: 7b, or how large its weights are in 16 bit, "      \
		 "such as 14GB (without a unit: GB)",                          \
	  .group = GROUP_MODEL },                                              \
	{ .name = "family", .kind = &kind_string,                              \
	  .field = ESTIMATE_ASK(family), .argument = "NAME",                   \
	  .doc = "how its layers are built: llama, gpt2, phi, neox, opt, "     \
		 "bert, t5, vit, moe, deepseek",                               \
	  .group = GROUP_MODEL },                                              \
	MODEL_OPTION("layers", "layers"),                                      \
	MODEL_OPTION("hidden", "width of the residual stream"),                \
	MODEL_OPTION("heads", "attention heads"),                              \
	MODEL_OPTION("kv-heads", "heads of keys and values"),                  \
	MODEL_OPTION("head-dim", "width of one head"),                         \
	MODEL_OPTION("ffn", "inner width of the MLP"),                         \
	MODEL_OPTION("vocab", "rows of the embedding"),                        \
	MODEL_OPTION("positions", "learned positions"),                        \
	MODEL_OPTION("experts", "experts of a layer"),                         \
	MODEL_OPTION("experts-per-token", "experts that a token goes to"),     \
	MODEL_OPTION("expert-ffn", "inner width of one expert"),               \
	{ .name = "tied", .kind = &kind_model_flag,                            \
	  .field = ESTIMATE_ASK(fields),                                       \
	  .doc = "the head is the embedding", .group = GROUP_MODEL },          \
	{ .name = "gated", .kind = &kind_model_flag,                           \
	  .field = ESTIMATE_ASK(fields),                                       \
	  .doc = "an MLP has three matrices", .group = GROUP_MODEL },          \
	{ .name = "field", .kind = &kind_field,                                \
	  .field = ESTIMATE_ASK(fields), .argument = "NAME=N",                 \
	  .doc = "any other number of the model, such as patch=16 "            \
		 "(repeatable)",                                               \
	  .group = GROUP_MODEL },                                              \
	CHOICE_OPTION("task", task, task_words,                                \
		      "train|dpo|grpo|ppo|inference", ESTIMATE_ASK(has_task),  \
		      "what is done with it [train]"),                         \
	COUNT_OPTION("batch", ESTIMATE_RUN(micro_batch), ESTIMATE_BATCH_MAX,   \
		     "samples per GPU and step; grpo: completions [1]"),       \
	COUNT_OPTION("sequence", ESTIMATE_RUN(sequence), ESTIMATE_TOKENS_MAX,  \
		     "tokens of a sample, prompt and completion [2048, or "    \
		     "what the model has]"),                                   \
	COUNT_OPTION("completion-tokens", ESTIMATE_RUN(completion),            \
		     ESTIMATE_TOKENS_MAX,                                      \
		     "those that count in the loss, or are generated"),        \
	COUNT_OPTION("decoder-sequence", ESTIMATE_RUN(decoder_sequence),       \
		     ESTIMATE_TOKENS_MAX, "tokens of a decoder"),              \
	COUNT_OPTION("accumulation", ESTIMATE_RUN(grad_accum),                 \
		     ESTIMATE_BATCH_MAX, "steps of gradients that are added"), \
	CHOICE_OPTION("precision", regime, regime_words,                       \
		      "fp32|amp|bf16|master|fp8", ESTIMATE_ASK(has_regime),    \
		      "of weights, gradients and states: amp casts fp32 "      \
		      "weights, master keeps an fp32 copy [amp; bf16 where "   \
		      "weights are not trained]"),                             \
	{ .name = "optimizer", .kind = &kind_optimizer,                        \
	  .field = ESTIMATE_RUN(optimizer), .argument = "NAME",                \
	  .doc = "adamw, adamw_8bit, sgd, adafactor, lion, muon, ... "         \
		 "[adamw]",                                                    \
	  .group = GROUP_RUN },                                                \
	RUN_FLAG("fused-step", fused_step, "the optimizer's step is fused"),   \
	RUN_FLAG("optimizer-in-backward", optimizer_in_backward,               \
		 "each gradient is used and freed at once"),                   \
	RUN_FLAG("keep-gradients", keeps_gradients,                            \
		 "gradients stay between steps"),                              \
	RUN_FLAG("ema", has_ema, "a running mean of the weights is kept"),     \
	{ .name = "lora", .kind = &kind_lora, .field = ESTIMATE_RUN(rank),     \
	  .argument = "RANK", .min = 1, .max = 100000,                         \
	  .doc = "train LoRA adapters of that rank only",                      \
	  .group = GROUP_RUN },                                                \
	CHOICE_OPTION("peft", peft, peft_words,                                \
		      "none|lora|dora|prompt|ia3|adapters|freeze", 0,          \
		      "another method that trains few parameters"),            \
	COUNT_OPTION("rank", ESTIMATE_RUN(rank), 100000,                       \
		     "of --peft: rank, tokens of a prompt, bottleneck"),       \
	{ .name = "targets", .kind = &kind_targets,                            \
	  .field = ESTIMATE_RUN(targets), .argument = "LIST",                  \
	  .doc = "layers with adapters: of q,k,v,o,gate,up,down, or "          \
		 "attention, mlp, all [q,v]",                                  \
	  .group = GROUP_RUN },                                                \
	RUN_FLAG("half-adapters", adapters_16_bit,                               \
		 "adapters are 16-bit, not fp32"),                             \
	RUN_FLAG("adapter-dropout", has_dropout, "with dropout before them"),  \
	COUNT_OPTION("trained-layers", ESTIMATE_RUN(trained_layers), 100000,   \
		     "the last ones, of --peft freeze"),                       \
	CHOICE_OPTION("quantize", weights, weights_words,                      \
		      "none|int8|fp8|nf4|nf4-double|gptq4|mxfp4",                    \
		      ESTIMATE_ASK(has_weights),                               \
		      "how weights that are not trained are stored"),          \
	{ .name = "checkpointing", .kind = &kind_choice,                       \
	  .field = ESTIMATE_RUN(checkpointing), .words = checkpointing_words,  \
	  .argument = "[none|full|selective|offloaded]",                       \
	  .given = ESTIMATE_ASK(has_checkpointing), .value_optional = true,    \
	  .doc = "activations are computed again (no word: full) [none]",      \
	  .group = GROUP_RUN },                                                \
	CHOICE_OPTION("attention", attention, attention_words, "flash|eager",  \
		      ESTIMATE_ASK(has_attention),                             \
		      "flash: or SDPA, keeps no scores [flash]"),              \
	CHOICE_OPTION("loss", loss, loss_words,                                \
		      "default|upcast|chunked|in-place|fused|none",            \
		      ESTIMATE_ASK(has_loss),                                  \
		      "how it comes from the logits [default]"),               \
	{ .name = "residual", .kind = &kind_integer,                           \
	  .field = ESTIMATE_ASK(residual_bits), .argument = "16|32",           \
	  .min = 16, .max = 32,                                                \
	  .doc = "bits of the residual stream [32 where quantised weights "    \
		 "carry adapters, as PEFT prepares them; else 16]",            \
	  .group = GROUP_RUN },                                                \
	RUN_FLAG("lightning-quantizer", lightning_quantizer,                   \
		 "quantised by Lightning (LitGPT): the head too"),             \
	RUN_FLAG("repeat-kv", repeats_kv, "k and v are as wide as q"),         \
	RUN_FLAG("compiled", is_compiled, "by torch.compile"),                 \
	{ .name = "dropout", .kind = &kind_percent,                            \
	  .field = ESTIMATE_RUN(dropout), .argument = "PCT", .max = 100,       \
	  .doc = "of the model, such as 10%", .group = GROUP_RUN },            \
	CHOICE_OPTION("sharding", sharding, sharding_words,                    \
		      "none|ddp|zero1|zero2|zero3|fsdp|fsdp-grad-op|megatron", \
		      ESTIMATE_ASK(has_sharding),                              \
		      "how GPUs share it [ddp where there are several]"),      \
	COUNT_OPTION("num-gpus", ESTIMATE_ASK(gpus), ESTIMATE_GPUS_MAX,        \
		     "GPUs in all [1]"),                                       \
	COUNT_OPTION("tensor-parallel", ESTIMATE_RUN(tensor_parallel),         \
		     ESTIMATE_GPUS_MAX, "GPUs that share each layer"),         \
	COUNT_OPTION("pipeline-parallel", ESTIMATE_RUN(pipeline_parallel),     \
		     ESTIMATE_GPUS_MAX, "GPUs that share the layers"),         \
	COUNT_OPTION("context-parallel", ESTIMATE_RUN(context_parallel),       \
		     ESTIMATE_GPUS_MAX, "GPUs that share each sequence"),      \
	COUNT_OPTION("expert-parallel", ESTIMATE_RUN(expert_parallel),         \
		     ESTIMATE_GPUS_MAX, "GPUs that share the experts"),        \
	RUN_FLAG("sequence-parallel", sequence_parallel,                       \
		 "norms are shared too, beside --tensor-parallel"),            \
	CHOICE_OPTION("offload", offload, offload_words,                       \
		      "none|optimizer|all", ESTIMATE_ASK(has_offload),         \
		      "what lies in host memory"),                             \
	RUN_FLAG("bucket-views", gradients_as_views,                           \
		 "gradients are views of DDP's buckets"),                      \
	{ .name = "evaluator", .kind = &kind_resident,                         \
	  .field = ESTIMATE_RUN(residents), .argument = "PARAMS[:WORD...]",    \
	  .doc = "another model on the same GPU, such as 14b:int8; words: "    \
		 "fp32, bf16, int8, fp8, nf4, nf4-double, gptq4, mxfp4, process "     \
		 "(its own one) (repeatable)",                                 \
	  .group = GROUP_RUN },                                                \
	RUN_FLAG("reference", has_reference,                                   \
		 "dpo, grpo, ppo: with a reference model"),                    \
	RUN_FLAG("value-model", has_value_model, "ppo: with a value model"),   \
	RUN_FLAG("reward-model", has_reward_model, "ppo: with a reward model"),\
	COUNT_OPTION("generated", ESTIMATE_RUN(generated), ESTIMATE_BATCH_MAX, \
		     "sequences that are generated at once [as --batch]"),     \
	{ .name = "kv-bits", .kind = &kind_integer,                            \
	  .field = ESTIMATE_RUN(kv_bits), .argument = "N", .min = 4,           \
	  .max = 32, .doc = "of a number in the KV cache [16]",                \
	  .group = GROUP_RUN },                                                \
	COUNT_OPTION("kv-block", ESTIMATE_RUN(kv_block), ESTIMATE_TOKENS_MAX,  \
		     "tokens in a block of a paged KV cache [1; 16 with "      \
		     "--gpu-memory-utilization]"),                             \
	COUNT_OPTION("prefill-chunk", ESTIMATE_RUN(prefill_chunk),             \
		     ESTIMATE_TOKENS_MAX,                                      \
		     "tokens of prompts that go through at once [all; 8192 "   \
		     "with --gpu-memory-utilization]"),                        \
	{ .name = "gpu-memory-utilization", .kind = &kind_share,               \
	  .field = ESTIMATE_RUN(engine_share), .argument = "SHARE",            \
	  .max = 100, .given = ESTIMATE_ASK(has_engine),                       \
	  .doc = "a serving engine (vLLM) that may take so much of the GPU, "  \
		 "such as 90% or 0.9; --task inference unless said otherwise", \
	  .group = GROUP_RUN },                                                \
	{ .name = "engine-share", .kind = &kind_share,                         \
	  .field = ESTIMATE_RUN(engine_share), .argument = "PCT", .max = 100,  \
	  .doc = "of the GPU, that a generation engine keeps (vLLM)",          \
	  .group = GROUP_RUN },                                                \
	RUN_FLAG("engine-sleeps", engine_sleeps, "it frees that in training"), \
	{ .name = "gpu-memory", .kind = &kind_gpu_memory,                      \
	  .field = ESTIMATE_ASK(gpu_bytes), .argument = "SIZE",                \
	  .doc = "what the GPU gives to programs (without a unit: GiB) "       \
		 "[--as, or the GPU that is there]",                           \
	  .group = GROUP_RUN },                                                \
	ASK_FLAG("compare", compare,                                           \
		 "techniques and precisions side by side"),                    \
	ASK_FLAG("gpus", all_gpus,                                             \
		 "which GPUs it fits on, with batch and accumulation there"),  \
	ASK_FLAG("phantom", phantom,                                           \
		 "the largest split of a command on every card of the "        \
		 "catalogue, or on CARD,CARD...: by real allocations on "      \
		 "cards that are not there"),                                  \
	ASK_FLAG("generation", generation, "training beside generation"),      \
	ASK_TEXT("fit", fit, "SIZE|GPU",                                       \
		 "what can be trained in that memory, such as 24GiB or "       \
		 "rtx4090"),                                                   \
	ASK_TEXT("need", need, "MODEL",                                        \
		 "which GPU, and which cloud instance, the model needs"),      \
	ASK_TEXT("profile", profile, "NAME",                                   \
		 "by the rules of a published guide, such as agi2"),           \
	ASK_TEXT("method", method, "NAME",                                     \
		 "with --profile: which of its estimates"),                    \
	ASK_FLAG("tables", tables,                                             \
		 "with --profile: every table of that guide")
/* clang-format on */

#endif
