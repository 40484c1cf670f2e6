/* Logits and what the loss makes of them. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/layer.h"

/*
 * Bytes of a logit at the start of the backward pass, by what the logits are:
 * fp32 of an fp32 model, made fp32 (autocast, accelerate's
 * convert_outputs_to_fp32, the fp32 head after k-bit preparation, transformers
 * before 4.45), or 16-bit.
 *  default   logits 2, or 4 where they are fp32; log_softmax 4; two gradients
 *            of 4 each: hf:loss/loss_utils.py ForCausalLMLoss
 *  chunked   16-bit logits, and 12 in one of 8 chunks: torchtune@bd2a0fc7
 *            modules/loss/ce_chunked_output_loss.py
 *  in place  the gradient overwrites the logits: Liger-Kernel@ead96b61
 */
enum logits { LOGITS_FP32, LOGITS_UPCAST, LOGITS_PLAIN, LOGITS_KINDS };

static const double logit_bytes[LOSS_KINDS][LOGITS_KINDS] = {
	[LOSS_DEFAULT] = { 16, 16, 14 },
	[LOSS_UPCAST] = { 16, 16, 16 },
	[LOSS_CHUNKED] = { 4 + 12.0 / 8, 2 + 12.0 / 8, 2 + 12.0 / 8 },
	[LOSS_IN_PLACE] = { 4, 4, 2 },
};

/*
 * The linear layer in the loss: a chunk of rows, the gradient of the input;
 * 56.7 kB of a token at h = 4096, v = 128256 (Liger-Kernel@ead96b61:
 * benchmark/data/all_benchmark_data.csv), and not more with a larger v.
 */
#define FUSED_BYTES_PER_WIDTH 14

/*
 * GRPO divides by the temperature in place and gathers log-probabilities
 * (trl: trainer/utils.py selective_log_softmax), so a copy less is made.
 */
static const double grpo_bytes[LOGITS_KINDS] = { 12, 12, 8 };

/* tanh(logits / cap) of Gemma 2 is kept (hf:models/gemma2/modeling_gemma2.py,
 * final_logit_softcapping). */
static int64_t capped_bytes(const struct sizes *sizes)
{
	return caps_scores(&sizes->model) ? sizes->element : 0;
}

static enum logits logits_of(const struct workload *work)
{
	if (work->regime == REGIME_FP32)
		return LOGITS_FP32;
	/* FSDP casts weights and inputs itself, nothing is autocast. */
	if (work->regime == REGIME_AMP && work->sharding != SHARD_FSDP &&
	    work->sharding != SHARD_FSDP_GRAD_OP)
		return LOGITS_UPCAST;
	if (work->residual_fp32)
		return LOGITS_UPCAST;
	return LOGITS_PLAIN;
}

static bool has_logits(const struct sizes *sizes)
{
	bool classifies = !model_family_has_words(sizes->model.family);

	if (sizes->work->loss == LOSS_NONE)
		return false;
	return !classifies || sizes->work->loss != LOSS_DEFAULT;
}

static double bytes_per_logit(const struct sizes *sizes)
{
	const struct workload *work = sizes->work;
	enum logits logits = logits_of(work);
	bool is_policy = work->task == TASK_GRPO;

	if (is_policy && work->loss == LOSS_DEFAULT)
		return grpo_bytes[logits];
	if (is_policy && work->loss == LOSS_UPCAST)
		return grpo_bytes[LOGITS_UPCAST];
	return logit_bytes[work->loss][logits];
}

int64_t loss_bytes(const struct sizes *sizes)
{
	int64_t logits = count_mul(sizes->loss_tokens, sizes->model.vocab);

	if (!has_logits(sizes))
		return 0;
	if (sizes->work->loss == LOSS_FUSED)
		return count_mul(
			count_mul(sizes->loss_tokens, sizes->widths.hidden),
			FUSED_BYTES_PER_WIDTH);
	/* Tensor parallel GPUs share the vocabulary. */
	return count_share(
		count_scaled(logits, bytes_per_logit(sizes) +
					     (double)capped_bytes(sizes)),
		sizes->tensor);
}
