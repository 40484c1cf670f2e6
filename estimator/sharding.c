/* Who has what when GPUs share a model, and what passes between them. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator_internal.h"

/*
 * ZeRO 1, 2, 3 share states, gradients, weights (1910.02054 Fig. 1); FSDP is
 * ZeRO-3, and SHARD_GRAD_OP keeps the gathered weights from the forward pass
 * on. Megatron's distributed optimizer shares states and master weights.
 */
static const struct {
	bool weights, gradients, states;
} shared[SHARDINGS] = {
	[SHARD_ZERO1] = { false, false, true },
	[SHARD_ZERO2] = { false, true, true },
	[SHARD_ZERO3] = { true, true, true },
	[SHARD_FSDP] = { true, true, true },
	[SHARD_FSDP_GRAD_OP] = { true, true, true },
	[SHARD_MEGATRON] = { false, false, true },
};

int64_t sharded_weights(const struct sizes *sizes)
{
	return shared[sizes->work->sharding].weights ? sizes->data : 1;
}

int64_t sharded_gradients(const struct sizes *sizes)
{
	return shared[sizes->work->sharding].gradients ? sizes->data : 1;
}

int64_t sharded_states(const struct sizes *sizes)
{
	return shared[sizes->work->sharding].states ? sizes->data : 1;
}

bool sharding_gathers(const struct sizes *sizes)
{
	return sharded_weights(sizes) > 1 ||
	       sizes->work->offload == OFFLOAD_ALL;
}

/* DeepSpeed gathers up to stage3_max_live_parameters, and fetches
 * stage3_prefetch_bucket_size ahead (deepspeed/runtime/zero/config.py). */
#define ZERO3_LIVE INT64_C(1000000000)
#define ZERO3_AHEAD INT64_C(50000000)
/* The layer at work and the next one: pt:torch/distributed/_tools/sac_ilp.py,
 * whose budget is 3 of the largest unit, with the gradient. */
#define FSDP_UNITS 2

static int64_t largest_unit(const struct sizes *sizes)
{
	return count_most(sizes->layer_on_gpu, sizes->outside);
}

int64_t gathered_weights(const struct sizes *sizes)
{
	int64_t count = count_mul(largest_unit(sizes), FSDP_UNITS);

	if (!sharding_gathers(sizes))
		return 0;
	if (sizes->work->sharding == SHARD_ZERO3)
		count = ZERO3_LIVE + ZERO3_AHEAD;
	if (sizes->work->sharding == SHARD_FSDP_GRAD_OP)
		count = sizes->on_gpu;
	count = count_least(count, sizes->on_gpu);
	if (stored_weights(sizes->work) != WEIGHTS_AS_COMPUTED)
		return frozen_bytes(sizes, count, count);
	return count_mul(count, sizes->element);
}

int64_t gathered_gradients(const struct sizes *sizes)
{
	if (!sharding_gathers(sizes) || !has_training(sizes->work))
		return 0;
	return count_mul(count_least(largest_unit(sizes), sizes->trainable),
			 sizes->element);
}

/* Elements of reduce_bucket_size and allgather_bucket_size; 4.5 of both are in
 * use when communication overlaps (transformers' docs of DeepSpeed: 9 GB). */
#define ZERO_BUCKET INT64_C(500000000)
#define ZERO_BUCKETS_IN_USE 9

/* DDP adds gradients up in buckets that are a second copy of them, unless they
 * are views of each other. */
int64_t bucket_bytes(const struct sizes *sizes, int64_t gradients)
{
	const struct workload *work = sizes->work;
	int64_t bucket = count_least(ZERO_BUCKET, sizes->trainable);

	if (sizes->data == 1 || !has_training(work))
		return 0;
	switch (work->sharding) {
	case SHARD_DDP:
		return work->gradients_as_views ? 0 : gradients;
	case SHARD_ZERO1:
	case SHARD_ZERO2:
	case SHARD_ZERO3:
		return count_mul(count_mul(bucket, sizes->element),
				 ZERO_BUCKETS_IN_USE);
	case SHARD_NONE:
	case SHARD_FSDP:
	case SHARD_FSDP_GRAD_OP:
	case SHARD_MEGATRON:
	case SHARDINGS:
		break;
	}
	return 0;
}

int64_t sharding_communicators(const struct sizes *sizes)
{
	const int64_t groups[] = { sizes->data, sizes->tensor, sizes->pipeline,
				   sizes->context, sizes->expert };
	int64_t count = 0;

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		count += groups[i] > 1;
	return count;
}
