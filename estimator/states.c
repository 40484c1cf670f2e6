/* Weights, gradients and states of the optimizer, by regime. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator_internal.h"

static int64_t gradient_bytes(const struct workload *work)
{
	if (work->sharding == SHARD_MEGATRON)
		return 4;
	return regime_bytes(work->regime)->gradients;
}

static const struct optimizer *states_optimizer_of(const struct workload *work)
{
	return work->optimizer ? work->optimizer : optimizer_rows;
}

static int64_t state_bytes(const struct sizes *sizes, int64_t count,
			   bool is_narrow)
{
	const struct optimizer *optimizer = states_optimizer_of(sizes->work);
	bool halves = is_narrow && optimizer->follows_dtype;

	return count_scaled(count, optimizer->state_bytes * (halves ? 0.5 : 1));
}

/* Freed as soon as they are used, at most those of one layer or table. */
static int64_t gradients_at_once(const struct sizes *sizes, int64_t count)
{
	if (states_optimizer_of(sizes->work)->keeps_gradients &&
	    !sizes->work->optimizer_in_backward)
		return count_share(count, sharded_gradients(sizes));
	return count_least(count,
			   count_most(sizes->layer_on_gpu, sizes->outside));
}

static bool steps_on_host(const struct workload *work)
{
	return work->offload != OFFLOAD_NONE;
}

static int64_t step_bytes(const struct sizes *sizes, int64_t count,
			  int64_t width)
{
	const struct workload *work = sizes->work;

	if (!states_optimizer_of(work)->has_temporary || work->fused_step ||
	    work->optimizer_in_backward || steps_on_host(work))
		return 0;
	return count_mul(count_share(count, sharded_states(sizes)), width);
}

static void adapters_fill(const struct sizes *sizes, struct states *states)
{
	int64_t width = sizes->work->adapters_16_bit ? 2 : 4;
	int64_t count = sizes->trainable;
	int64_t optimizer = state_bytes(sizes, count, width == 2);

	states->adapter_weights =
		count_share(count_mul(count, width), sharded_weights(sizes));
	if (!steps_on_host(sizes->work))
		states->adapter_weights = count_add(
			states->adapter_weights,
			count_share(optimizer, sharded_states(sizes)));
	states->adapter_gradients =
		count_mul(gradients_at_once(sizes, count), width);
	states->step = step_bytes(sizes, count, width);
}

/* Fully sharded weights are cast as they are gathered, quantised ones as they
 * are dequantised; embeddings are looked up, not multiplied. */
static void casts_fill(const struct sizes *sizes, struct states *states)
{
	int64_t looked_up = sizes->shape.head ? sizes->outside : 0;
	bool are_quantised = sizes->work->weights != WEIGHTS_AS_COMPUTED;
	int64_t count = count_above(sizes->on_gpu, looked_up);

	if (!regime_bytes(sizes->work->regime)->has_casts ||
	    sharding_gathers(sizes))
		return;
	if (are_quantised)
		count = count_above(count, sizes->linear_on_gpu);
	else
		states->layer_casts = count_mul(sizes->layer_on_gpu, 2);
	states->casts = count_mul(count, 2);
}

/* The weights that are trained themselves: all, or the last layers. */
static void trained_fill(const struct sizes *sizes, struct states *states)
{
	const struct workload *work = sizes->work;
	int64_t count = sizes->trainable;
	int64_t shared = count_share(count, sharded_states(sizes));
	bool has_master = regime_bytes(work->regime)->has_master;
	int64_t width = has_master ? 4 : regime_bytes(work->regime)->weights;

	states->gradients = count_mul(gradients_at_once(sizes, count),
				      gradient_bytes(work));
	if (work->offload == OFFLOAD_NONE) {
		states->optimizer =
			state_bytes(sizes, shared,
				    regime_bytes(work->regime)->narrows_states);
		states->master = has_master ? count_mul(shared, 4) : 0;
	} else {
		/* They leave as they come: ZeRO-Offload, 2101.06840. */
		states->gradients =
			count_least(states->gradients,
				    count_mul(count_most(sizes->layer_on_gpu,
							 sizes->outside),
					      gradient_bytes(work)));
	}
	if (work->has_ema)
		states->optimizer =
			count_add(states->optimizer, count_mul(shared, width));
	states->step = step_bytes(sizes, count, width);
}

void states_fill(const struct sizes *sizes, struct states *states)
{
	*states = (struct states){ 0 };
	states->weights = count_share(
		frozen_bytes(sizes, sizes->on_gpu, sizes->linear_on_gpu),
		sharded_weights(sizes));
	if (sizes->work->offload == OFFLOAD_ALL)
		states->weights = 0;
	casts_fill(sizes, states);
	if (sizes->trains_adapters)
		adapters_fill(sizes, states);
	else if (has_training(sizes->work))
		trained_fill(sizes, states);
}
