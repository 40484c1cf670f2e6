/* Bytes of a parameter: by the regime of its training, or quantised. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator_internal.h"

/*
 * Bytes for each parameter. fp32: 4 + 4 + 8 of Adam (ZeRO, 1910.02054 §3.1).
 * AMP keeps fp32 weights and a 16-bit cast of each from its first use until its
 * layer's backward pass (pt:torch/amp/autocast_mode.py). With a master copy it
 * is 2 + 2 + 12. Megatron adds gradients up in fp32 (Megatron-LM@d98e8a64:
 * megatron/training/theoretical_memory_usage.py: 18, or 6 + 12/d).
 */
static const struct regime_bytes regimes[REGIMES] = {
	[REGIME_FP32] = { 4, 4, false, false, false },
	[REGIME_AMP] = { 4, 4, false, true, false },
	[REGIME_BF16] = { 2, 2, false, false, true },
	[REGIME_MASTER] = { 2, 2, true, false, false },
	[REGIME_FP8] = { 2, 2, false, false, true },
};

/*
 * Bytes of a weight that is stored quantised: NF4 has an fp32 scale for 64
 * weights, or with double quantisation an 8-bit one and an fp32 one for 256 of
 * these (bitsandbytes@95f9af30:functional.py); GPTQ and AWQ a 16-bit scale and
 * a 4-bit zero for 128; MXFP4 an 8-bit one for 32, in the experts of gpt-oss
 * (hf:integrations/mxfp4.py). LLM.int8 has an fp32 scale for a row, of 4096 or
 * so; fp8 one for a block of 128 x 128 (DeepSeek-V3: inference/kernel.py), or
 * fewer.
 */
static const double quantised[WEIGHTS_KINDS] = {
	[WEIGHTS_INT8] = 1 + 4.0 / 4096,
	[WEIGHTS_FP8] = 1 + 4.0 / (128 * 128),
	[WEIGHTS_NF4] = 0.5 + 4.0 / 64,
	[WEIGHTS_NF4_DOUBLE] = 0.5 + 1.0 / 64 + 4.0 / (64 * 256),
	[WEIGHTS_GPTQ4] = 0.5 + 2.0 / 128 + 0.5 / 128,
	[WEIGHTS_MXFP4] = 0.5 + 1.0 / 32,
};

const struct regime_bytes *regime_bytes(enum regime regime)
{
	return &regimes[regime];
}

/* Nothing is trained in fp8 but the inputs; what only generates is stored so.
 */
enum weights stored_weights(const struct workload *work)
{
	bool is_fp8 = work->task == TASK_INFERENCE &&
		      work->regime == REGIME_FP8 &&
		      work->weights == WEIGHTS_AS_COMPUTED;

	return is_fp8 ? WEIGHTS_FP8 : work->weights;
}

/* Norms, embedding and head stay as they are, or are made fp32 by the
 * preparation for k-bit training. */
int64_t frozen_bytes(const struct sizes *sizes, int64_t count, int64_t linear)
{
	const struct workload *work = sizes->work;
	enum weights stored = stored_weights(work);
	int64_t width = work->residual_fp32 ? 4 : regimes[work->regime].weights;

	if (stored == WEIGHTS_AS_COMPUTED)
		return count_mul(count, regimes[work->regime].weights);
	if (stored == WEIGHTS_MXFP4 && sizes->experts_on_gpu)
		linear = count_least(linear, sizes->experts_on_gpu);
	linear = count_least(linear, count);
	return count_add(count_scaled(linear, quantised[stored]),
			 count_mul(count - linear, width));
}
