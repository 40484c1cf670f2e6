/* Generation: the KV cache, and models beside the one that is trained. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator_internal.h"

#include <assert.h>

static bool is_policy_search(const struct workload *work)
{
	return work->task == TASK_GRPO || work->task == TASK_PPO;
}

static bool has_follower(const struct workload *work)
{
	for (size_t i = 0; i < work->resident_count; i++)
		if (work->residents[i].follows_step)
			return true;
	return false;
}

bool has_generation(const struct workload *work)
{
	return !has_training(work) || is_policy_search(work) ||
	       has_follower(work);
}

/* The model itself generates here, and not an engine with its own weights. */
static bool generates_itself(const struct workload *work)
{
	return !has_training(work) ||
	       (is_policy_search(work) && work->engine_share <= 0);
}

static int64_t generated(const struct workload *work)
{
	return work->generated ? work->generated : work->micro_batch;
}

/* A paged cache gives out whole blocks (vLLM: --block-size). */
static int64_t cached_tokens(const struct sizes *sizes, int64_t tokens)
{
	int64_t window = sizes->model.window;
	int64_t block = count_most(sizes->work->kv_block, 1);

	tokens = window ? count_least(tokens, window) : tokens;
	assert(tokens >= 0 && block >= 1);
	return count_mul(count_share(tokens, block), block);
}

/*
 * Keys and values of one token in all layers; compressed attention keeps what
 * they are expanded from (DeepSeek-V2, 2405.04434: 576 elements). Tensor
 * parallel GPUs share the heads; what cannot be shared each of them has: the
 * compressed ones, and heads where there are fewer than GPUs (vllm:
 * model_executor/models/deepseek_v2.py, get_total_num_kv_heads).
 */
static int64_t cached_elements(const struct sizes *sizes, int64_t layers)
{
	const struct widths *widths = &sizes->widths;
	bool is_whole = widths->compressed > 0;
	int64_t width =
		is_whole ? widths->compressed
			 : count_add(widths->cached_key, widths->cached_value);
	int64_t heads = is_whole ? 1 : count_most(sizes->model.kv_heads, 1);
	int64_t sharers = count_least(sizes->tensor, heads);

	return count_share(count_mul(width, layers), sharers * sizes->pipeline);
}

/* An encoder-decoder keeps the decoder's own keys and those of the encoder. */
int64_t kv_cache_bytes(const struct sizes *sizes)
{
	const struct workload *work = sizes->work;
	int64_t bits = work->kv_bits ? work->kv_bits : sizes->element * 8;
	enum model_family family = sizes->model.family;
	bool has_decoder = model_family_has_decoder(family);
	int64_t layers =
		has_decoder ? sizes->model.decoder_layers : sizes->model.layers;
	int64_t tokens = cached_tokens(sizes, sizes->keys[has_decoder]);
	int64_t elements;

	if (!generates_itself(work) || !model_family_has_words(family))
		return 0;
	if (has_decoder)
		tokens = count_add(tokens, sizes->keys[0]);
	assert(bits >= 1);
	elements = count_mul(cached_elements(sizes, layers),
			     count_mul(tokens, generated(work)));
	return count_share(count_mul(elements, bits), 8);
}

/*
 * A layer without gradients, as transformers runs it (hf:models/qwen2/
 * modeling_qwen2.py): gate after its activation, up, and their product; the
 * embeddings, which the model's frame holds, the layer's input, the residual
 * after attention and what the norm makes of it. Or the second copy that a
 * cache makes of one layer when it grows (DynamicCache concatenates). An engine
 * that chunks the prompts of all sequences puts so many tokens through at once.
 */
#define PREFILL_FFN 3
#define PREFILL_HIDDEN 4

/* Experts work one after the other; each token has a few of them. */
static int64_t prefill_ffn(const struct sizes *sizes)
{
	const struct model_facts *model = &sizes->model;
	int64_t routed = count_mul(model->expert_ffn, model->experts_per_token);

	return count_most(model->ffn, routed);
}

int64_t prefill_bytes(const struct sizes *sizes)
{
	const struct workload *work = sizes->work;
	int64_t prompt = count_above(sizes->keys[0], work->completion);
	int64_t tokens = count_mul(generated(work), count_most(prompt, 1));
	int64_t width = count_add(PREFILL_FFN * prefill_ffn(sizes),
				  PREFILL_HIDDEN * sizes->widths.hidden);
	int64_t layers = count_most(sizes->model.layers, 1);

	if (!generates_itself(work))
		return 0;
	if (sizes->model.family == MODEL_CONV)
		return count_mul(
			count_mul(sizes->shape.conv.working, sizes->element),
			generated(work));
	if (work->prefill_chunk)
		tokens = count_least(tokens, work->prefill_chunk);
	width = count_mul(width, sizes->element);
	if (work->attention == ATTENTION_EAGER)
		width = count_add(width,
				  count_mul(count_mul(sizes->widths.heads,
						      count_most(prompt, 1)),
					    4 + sizes->element));
	return count_most(count_share(count_mul(tokens, width), sizes->tensor),
			  count_share(kv_cache_bytes(sizes), layers));
}

/* Logits of the last token of each sequence, in fp32. */
int64_t decode_logits_bytes(const struct sizes *sizes)
{
	enum model_family family = sizes->model.family;

	if (!generates_itself(sizes->work) || !model_family_has_words(family))
		return 0;
	return count_share(
		count_mul(count_mul(generated(sizes->work), sizes->model.vocab),
			  4),
		sizes->tensor);
}

/* int8 and 4-bit models keep norms, embedding and head as they are: 3% of the
 * weights in 16 bits more or less. */
static int64_t resident_weights(const struct resident *resident)
{
	static const double bytes[WEIGHTS_KINDS] = {
		[WEIGHTS_INT8] = 1.03,  [WEIGHTS_FP8] = 1.03,
		[WEIGHTS_NF4] = 0.60,   [WEIGHTS_NF4_DOUBLE] = 0.56,
		[WEIGHTS_GPTQ4] = 0.56, [WEIGHTS_MXFP4] = 0.66,
	};

	if (resident->weights == WEIGHTS_AS_COMPUTED)
		return count_mul(resident->parameters,
				 regime_bytes(resident->regime)->weights);
	return count_scaled(resident->parameters, bytes[resident->weights]);
}

/*
 * A second copy for the reference, which a run with adapters does not need: it
 * switches them off (trl@f2cd577: trl/trainer/dpo_trainer.py). PPO's reward
 * model is read only, its value model is trained as the policy is.
 */
static int64_t related_bytes(const struct sizes *sizes)
{
	const struct workload *work = sizes->work;
	int64_t copy = count_share(count_mul(sizes->on_gpu, sizes->element),
				   sharded_weights(sizes));
	int64_t sum = 0;
	struct states states;

	if (work->has_reference && !sizes->trains_adapters)
		sum = count_add(sum, copy);
	if (work->has_reward_model)
		sum = count_add(sum, copy);
	if (!work->has_value_model)
		return sum;
	states_fill(sizes, &states);
	sum = count_add(sum, count_add(states.weights, states.gradients));
	sum = count_add(sum, count_add(states.optimizer, states.master));
	return count_add(sum, count_add(states.adapter_weights,
					states.adapter_gradients));
}

int64_t resident_bytes(const struct sizes *sizes, enum peak_phase phase)
{
	const struct workload *work = sizes->work;
	int64_t sum = related_bytes(sizes);

	for (size_t i = 0; i < work->resident_count; i++) {
		const struct resident *resident = &work->residents[i];
		bool is_cached =
			!resident->follows_step || phase == PEAK_GENERATION;

		sum = count_add(sum, resident_weights(resident));
		if (is_cached)
			sum = count_add(sum, resident->kv_bytes);
	}
	return sum;
}

/* vLLM takes its share at once, for weights and cache of its own, and gives it
 * back outside of generation when it sleeps (trl: vllm_enable_sleep_mode). */
int64_t engine_bytes(const struct sizes *sizes, enum peak_phase phase)
{
	const struct workload *work = sizes->work;

	if (!has_training(work) ||
	    (work->engine_sleeps && phase != PEAK_GENERATION))
		return 0;
	return count_scaled(work->gpu_bytes, work->engine_share);
}
