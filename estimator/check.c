/* Checks a workload, and names the field that cannot be so. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator_internal.h"

#include <errno.h>

/* More than any run has; far below what 63 bits hold. */
#define BATCH_MOST INT64_C(1000000000)
#define TOKENS_MOST INT64_C(1000000000)
#define GPUS_MOST INT64_C(10000000)
#define BYTES_MOST (INT64_C(1) << 60)

#define COUNT(member, from, to)                                                \
	{                                                                      \
		.name = #member, .least = (from), .most = (to),                \
		.offset = offsetof(struct workload, member)                    \
	}

static const struct {
	const char *name;
	int64_t least, most;
	size_t offset;
} counts[] = {
	COUNT(micro_batch, 1, BATCH_MOST),
	COUNT(sequence, 0, TOKENS_MOST),
	COUNT(completion, 0, TOKENS_MOST),
	COUNT(decoder_sequence, 0, TOKENS_MOST),
	COUNT(grad_accum, 0, BATCH_MOST),
	COUNT(rank, 0, 1000000),
	COUNT(trained_layers, 0, 100000),
	COUNT(data_parallel, 0, GPUS_MOST),
	COUNT(tensor_parallel, 0, GPUS_MOST),
	COUNT(pipeline_parallel, 0, GPUS_MOST),
	COUNT(context_parallel, 0, GPUS_MOST),
	COUNT(expert_parallel, 0, GPUS_MOST),
	COUNT(generated, 0, BATCH_MOST),
	COUNT(kv_bits, 0, 32),
	COUNT(prefill_chunk, 0, TOKENS_MOST),
	COUNT(kv_block, 0, TOKENS_MOST),
	COUNT(context_bytes, 0, BYTES_MOST),
	COUNT(gpu_bytes, 0, BYTES_MOST),
};

#define CHOICE(member, choices)                                                \
	{                                                                      \
		.name = #member, .count = (choices),                           \
		.offset = offsetof(struct workload, member)                    \
	}

/* Every enum of a workload is an int wide. */
static const struct {
	const char *name;
	int count;
	size_t offset;
} choices[] = {
	CHOICE(task, TASKS),
	CHOICE(regime, REGIMES),
	CHOICE(weights, WEIGHTS_KINDS),
	CHOICE(peft, PEFT_KINDS),
	CHOICE(attention, ATTENTION_EAGER + 1),
	CHOICE(checkpointing, CHECKPOINT_OFFLOADED + 1),
	CHOICE(loss, LOSS_KINDS),
	CHOICE(sharding, SHARDINGS),
	CHOICE(offload, OFFLOAD_ALL + 1),
};

/* Not a number lies in no range. */
static const struct {
	const char *name;
	double least, most;
	size_t offset;
} shares[] = {
	{ "dropout", 0, 0.999, offsetof(struct workload, dropout) },
	{ "engine_share", 0, 1, offsetof(struct workload, engine_share) },
	{ "fragmentation", 0, 10, offsetof(struct workload, fragmentation) },
};

static int check_counts(const struct workload *work, struct error *err)
{
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		int64_t value = *(const int64_t *)((const char *)work +
						   counts[i].offset);

		if (value < counts[i].least || value > counts[i].most)
			return error_set(err, -ERANGE,
					 "%s is %lld, which is not from %lld "
					 "to %lld",
					 counts[i].name, (long long)value,
					 (long long)counts[i].least,
					 (long long)counts[i].most);
	}
	return 0;
}

static int check_choices(const struct workload *work, struct error *err)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		int value =
			*(const int *)((const char *)work + choices[i].offset);

		if (value < 0 || value >= choices[i].count)
			return error_set(err, -EINVAL,
					 "%s is %d, which is none that is "
					 "known",
					 choices[i].name, value);
	}
	return 0;
}

static int check_shares(const struct workload *work, struct error *err)
{
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		double value = *(const double *)((const char *)work +
						 shares[i].offset);

		if (!(value >= shares[i].least && value <= shares[i].most))
			return error_set(err, -ERANGE,
					 "%s is %g, which is not from %g to %g",
					 shares[i].name, value, shares[i].least,
					 shares[i].most);
	}
	if (work->fragmentation > 0 && work->fragmentation < 1)
		return error_set(err, -ERANGE,
				 "fragmentation is %g: more is reserved than "
				 "allocated, so it is at least 1",
				 work->fragmentation);
	return 0;
}

static int check_tokens(const struct workload *work, struct error *err)
{
	enum model_family family = work->model->family;
	bool has_tokens = family != MODEL_VIT && family != MODEL_COUNTED &&
			  family != MODEL_CONV;

	if (work->sequence == 0 && has_tokens)
		return error_set(err, -EINVAL,
				 "sequence is not known: the memory follows "
				 "from the tokens of a sample");
	if (has_tokens && work->completion > work->sequence)
		return error_set(err, -EINVAL,
				 "completion %lld is more than the %lld tokens "
				 "of the sequence, which holds it",
				 (long long)work->completion,
				 (long long)work->sequence);
	if (work->decoder_sequence && !model_family_has_decoder(family))
		return error_set(err, -EINVAL,
				 "decoder_sequence is given, but the model has "
				 "no decoder of its own");
	return 0;
}

static int check_peft(const struct workload *work, struct error *err)
{
	enum peft peft = work->peft;
	bool needs_rank =
		peft != PEFT_NONE && peft != PEFT_IA3 && peft != PEFT_FREEZE;

	if (needs_rank && work->rank == 0)
		return error_set(err, -EINVAL,
				 "rank is not known, which adapters need");
	if (peft == PEFT_FREEZE && work->trained_layers == 0)
		return error_set(err, -EINVAL,
				 "trained_layers is 0, so nothing is trained");
	if (work->targets > TARGETS_ALL)
		return error_set(err, -EINVAL,
				 "targets has bits that name no layer");
	if (work->weights != WEIGHTS_AS_COMPUTED && peft == PEFT_NONE &&
	    work->task != TASK_INFERENCE)
		return error_set(err, -EINVAL,
				 "weights are quantised, which cannot be "
				 "trained: train adapters (peft) on them");
	return 0;
}

static int check_gpus(const struct workload *work, struct error *err)
{
	const struct model_facts *model = work->model;

	if (model->layers && work->pipeline_parallel > model->layers)
		return error_set(err, -EINVAL,
				 "pipeline_parallel %lld is more than the %lld "
				 "layers",
				 (long long)work->pipeline_parallel,
				 (long long)model->layers);
	if (model->heads && work->tensor_parallel > model->heads)
		return error_set(err, -EINVAL,
				 "tensor_parallel %lld is more than the %lld "
				 "heads",
				 (long long)work->tensor_parallel,
				 (long long)model->heads);
	if (work->expert_parallel > count_most(model->experts, 1))
		return error_set(err, -EINVAL,
				 "expert_parallel %lld is more than the %lld "
				 "experts",
				 (long long)work->expert_parallel,
				 (long long)model->experts);
	if (work->engine_share > 0 && work->gpu_bytes == 0)
		return error_set(err, -EINVAL,
				 "gpu_bytes is not known, of which "
				 "engine_share is a share");
	return 0;
}

static int check_others(const struct workload *work, struct error *err)
{
	if (work->has_value_model && work->task != TASK_PPO)
		return error_set(err, -EINVAL,
				 "has_value_model is set, but only PPO trains "
				 "one");
	if (work->trained_layers > work->model->layers && work->model->layers &&
	    work->peft == PEFT_FREEZE)
		return error_set(err, -EINVAL,
				 "trained_layers %lld is more than the %lld "
				 "layers",
				 (long long)work->trained_layers,
				 (long long)work->model->layers);
	if (work->resident_count > RESIDENTS_MAX)
		return error_set(err, -ERANGE,
				 "resident_count is %zu, which is more than %d",
				 work->resident_count, RESIDENTS_MAX);
	for (size_t i = 0; i < work->resident_count; i++) {
		const struct resident *other = &work->residents[i];

		if (other->parameters <= 0 || other->parameters > BYTES_MOST ||
		    other->kv_bytes < 0 || other->kv_bytes > BYTES_MOST)
			return error_set(err, -ERANGE,
					 "residents[%zu] has %lld parameters "
					 "and %lld kv_bytes, which cannot be",
					 i, (long long)other->parameters,
					 (long long)other->kv_bytes);
		if ((unsigned)other->weights >= WEIGHTS_KINDS ||
		    (unsigned)other->regime >= REGIMES)
			return error_set(err, -EINVAL,
					 "residents[%zu] has weights of a kind "
					 "that is not known",
					 i);
	}
	return 0;
}

int workload_check(const struct workload *work, struct error *err)
{
	static int (*const checks[])(const struct workload *,
				     struct error *) = {
		check_counts, check_choices, check_shares, check_tokens,
		check_peft,   check_gpus,    check_others,
	};
	int result = 0;

	if (!work->model)
		return error_set(err, -EINVAL, "model is not known");
	if ((unsigned)work->model->family >= MODEL_FAMILIES)
		return error_set(err, -EINVAL, "family is none that is known");
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		result = checks[i](work, err);
		if (result < 0)
			return result;
	}
	if (work->compute_major < 0 || work->compute_major > 1000)
		return error_set(err, -ERANGE,
				 "compute_major is %d, which no GPU has",
				 work->compute_major);
	return 0;
}
