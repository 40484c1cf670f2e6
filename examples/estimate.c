/* The estimator from C: what LoRA of an 8B model needs on one GPU. */
/* SPDX-License-Identifier: MIT */
/*
 * cc estimate.c $(pkg-config --cflags --libs autofit-estimator) -o estimate
 */
#include <estimator/estimator.h>

#include <stdio.h>

int main(void)
{
	const struct model_facts model = {
		.family = MODEL_LLAMA,
		.layers = 32,
		.hidden = 4096,
		.heads = 32,
		.kv_heads = 8,
		.head_dim = 128,
		.ffn = 14336,
		.vocab = 128256,
	};
	const struct workload run = {
		.model = &model,
		.micro_batch = 4,
		.sequence = 2048,
		.regime = REGIME_BF16,
		.peft = PEFT_LORA,
		.rank = 16,
		.checkpointing = CHECKPOINT_FULL,
	};
	struct error err = ERROR_INIT;
	struct estimate estimate;

	if (estimate_memory(&run, &estimate, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	(void)printf("%lld parameters, %.2f GiB (%.2f to %.2f)\n",
		     (long long)estimate.parameters,
		     (double)estimate.peak[TIER_PROCESS] / (1 << 30),
		     (double)estimate.low[TIER_PROCESS] / (1 << 30),
		     (double)estimate.high[TIER_PROCESS] / (1 << 30));
	return 0;
}
