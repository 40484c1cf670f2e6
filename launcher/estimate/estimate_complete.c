/* Defaults of a run that is to be estimated. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate_case.h"

#include "base/units.h"

#include <errno.h>
#include <string.h>

/* prepare_model_for_kbit_training() of PEFT casts what is not quantised. */
static void complete_residual(struct estimate_case *all,
			      const struct estimate_request *request)
{
	struct workload *run = &all->run;

	run->residual_fp32 = request->residual_bits == 32;
	if (request->residual_bits || run->task == TASK_INFERENCE ||
	    run->weights == WEIGHTS_AS_COMPUTED || run->lightning_quantizer)
		return;
	run->residual_fp32 = run->residual_is_assumed = true;
	strlist_add(&all->assumed,
		    "a residual stream of 32 bits, as PEFT's preparation makes "
		    "it (--residual 16: without); the interval holds both");
}

/* What is trained here follows from the data type of the weights. */
static void complete_precision(struct estimate_case *all,
			       const struct estimate_request *request)
{
	struct workload *run = &all->run;
	bool is_frozen = run->task == TASK_INFERENCE ||
			 run->peft != PEFT_NONE ||
			 run->weights != WEIGHTS_AS_COMPUTED;

	if (run->weights != WEIGHTS_AS_COMPUTED &&
	    run->task != TASK_INFERENCE && run->peft == PEFT_NONE) {
		run->peft = PEFT_LORA;
		strlist_add(&all->assumed,
			    "LoRA, as quantised weights cannot be trained");
	}
	if (run->peft != PEFT_NONE && !run->rank) {
		run->rank = LORA_RANK;
		strlist_addf(&all->assumed, "rank %d", LORA_RANK);
	}
	complete_residual(all, request);
	if (request->has_regime || run->regime != REGIME_FP32)
		return;
	if (run->task == TASK_INFERENCE &&
	    run->weights == WEIGHTS_AS_COMPUTED &&
	    strcmp(all->model.dtype, "mxfp4") == 0) {
		run->weights = WEIGHTS_MXFP4;
		strlist_add(&all->assumed,
			    "weights in mxfp4, as they are stored");
	}
	if (run->task == TASK_INFERENCE &&
	    strncmp(all->model.dtype, "float8", strlen("float8")) == 0) {
		run->regime = REGIME_FP8;
		strlist_add(&all->assumed,
			    "precision fp8, as its weights are stored");
		return;
	}
	run->regime = is_frozen ? REGIME_BF16 : REGIME_AMP;
	if (is_frozen)
		strlist_add(&all->assumed, "precision bf16");
	else
		all->assumes_amp = true;
}

/* Said first, as it may double what a run takes: what most would mean by it. */
static void say_amp(struct estimate_case *all)
{
	struct strlist others = all->assumed;
	struct workload run = all->run;
	struct estimate estimate;
	char size[BYTES_TEXT_MAX];

	if (!all->assumes_amp)
		return;
	all->assumed = (struct strlist)STRLIST_INIT;
	run.regime = REGIME_BF16;
	if (estimate_memory(&run, &estimate, NULL) == 0)
		strlist_addf(
			&all->assumed,
			"precision amp: fp32 weights, cast (--precision "
			"bf16: %s)",
			bytes_format(size,
				     (uint64_t)estimate.peak[TIER_PROCESS]));
	else
		strlist_add(&all->assumed, "precision amp: fp32 weights, cast");
	strlist_add_all(&all->assumed, (const char *const *)others.items,
			others.count);
	strlist_release(&others);
}

static void complete_sizes(struct estimate_case *all)
{
	struct workload *run = &all->run;
	const struct model_facts *model = &all->model;

	if (!run->micro_batch && model->run_batch) {
		run->micro_batch = model->run_batch;
		strlist_addf(&all->assumed, "batch %lld, of the file",
			     (long long)model->run_batch);
	}
	if (!run->sequence && model->run_sequence) {
		run->sequence = model->run_sequence;
		strlist_addf(&all->assumed, "sequence %lld, of the file",
			     (long long)model->run_sequence);
	}
	if (!run->micro_batch) {
		run->micro_batch = 1;
		strlist_add(&all->assumed, "batch 1");
	}
	if (run->sequence)
		return;
	run->sequence = ESTIMATE_SEQUENCE;
	if (model->family == MODEL_COUNTED || model->family == MODEL_CONV) {
		run->sequence = 1;
		return;
	}
	if (model->image && model->patch) {
		run->sequence = (model->image / model->patch) *
					(model->image / model->patch) +
				1;
		return;
	}
	if (model->positions && model->positions < ESTIMATE_SEQUENCE)
		run->sequence = model->positions;
	if (model->decoder_positions)
		run->sequence = model->decoder_positions;
	strlist_addf(&all->assumed, "sequence %lld", (long long)run->sequence);
}

/* vLLM: --block-size, and max_num_batched_tokens of a server on a large GPU
 * (vllm:engine/arg_utils.py). */
#define ENGINE_BLOCK 16
#define ENGINE_CHUNK 8192

static void complete_engine(struct estimate_case *all,
			    const struct estimate_request *request)
{
	struct workload *run = &all->run;

	if (!request->has_engine)
		return;
	if (!request->has_task)
		run->task = TASK_INFERENCE;
	if (!run->kv_block)
		run->kv_block = ENGINE_BLOCK;
	if (run->prefill_chunk)
		return;
	run->prefill_chunk = ENGINE_CHUNK;
	strlist_addf(&all->assumed, "prompts in chunks of %d tokens",
		     ENGINE_CHUNK);
}

static int complete_gpus(struct estimate_case *all,
			 const struct estimate_request *request,
			 struct error *err)
{
	struct workload *run = &all->run;
	const int64_t shares[] = { run->tensor_parallel, run->pipeline_parallel,
				   run->context_parallel };
	int64_t sharing = 1;

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		if (shares[i] &&
		    __builtin_mul_overflow(sharing, shares[i], &sharing))
			return error_set(err, -ERANGE,
					 "tensor x pipeline x context parallel "
					 "is more GPUs than there are");
	if (!all->gpu_count)
		all->gpu_count = sharing;
	if (all->gpu_count % sharing != 0)
		return error_set(err, -EINVAL,
				 "--num-gpus %lld is no multiple of the %lld "
				 "that tensor, pipeline and context parallel "
				 "share",
				 (long long)all->gpu_count, (long long)sharing);
	if (run->task == TASK_INFERENCE && sharing == 1 && all->gpu_count > 1 &&
	    !request->has_sharding) {
		run->tensor_parallel = sharing = all->gpu_count;
		strlist_addf(&all->assumed,
			     "each layer shared by the %lld GPUs (tensor "
			     "parallel)",
			     (long long)sharing);
	}
	run->data_parallel = all->gpu_count / sharing;
	if (run->data_parallel > 1 && run->sharding == SHARD_NONE) {
		run->sharding = SHARD_DDP;
		strlist_add(&all->assumed, "DDP, as there are several GPUs");
	}
	return 0;
}

/* Adapters go to matrices, and matrices are what is quantised. */
static int check_matrices(const struct estimate_case *all, struct error *err)
{
	const struct workload *run = &all->run;
	enum model_family family = all->model.family;
	bool has_lora = run->peft == PEFT_LORA || run->peft == PEFT_DORA;
	bool has_adapters = run->peft != PEFT_NONE && run->peft != PEFT_FREEZE;

	if (family == MODEL_CONV &&
	    (has_adapters || run->weights != WEIGHTS_AS_COMPUTED))
		return error_set(
			err, -EINVAL,
			"%s is a network of convolutions: there are no "
			"matrices for adapters or quantisation in it; "
			"train all of it",
			all->model.name);
	if (family == MODEL_COUNTED && has_adapters &&
	    !(has_lora && all->model.adapted))
		return error_set(err, -EINVAL,
				 "%s: how many parameters these adapters have "
				 "is not known; for --lora say the inputs and "
				 "outputs of its matrices, summed: --field "
				 "adapted=N",
				 all->model.name);
	return 0;
}

/* PEFT's default for most models; a command's own are not read. */
static void say_targets(struct estimate_case *all)
{
	const struct workload *run = &all->run;
	bool has_lora = run->peft == PEFT_LORA || run->peft == PEFT_DORA;

	if (has_lora && !run->targets && all->model.family != MODEL_COUNTED)
		strlist_add(&all->assumed, "adapters on q and v (--targets)");
}

int estimate_case_complete(struct estimate_case *all, struct error *err)
{
	const struct estimate_request *request = &all->options->estimate;
	struct workload *run = &all->run;

	complete_engine(all, request);
	complete_precision(all, request);
	if (check_matrices(all, err) < 0)
		return -EINVAL;
	complete_sizes(all);
	run->gpu_bytes = all->gpu.usable_bytes;
	run->compute_major = all->gpu.compute_major;
	if (complete_gpus(all, request, err) < 0)
		return -EINVAL;
	say_targets(all);
	say_amp(all);
	return 0;
}
