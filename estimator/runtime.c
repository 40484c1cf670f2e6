/* Memory that is no tensor: context, workspaces, fragmentation. Pure.
 */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator_internal.h"

#define MIB (INT64_C(1) << 20)

/*
 * Buffers, rounding to 512 bytes, small matrices at work: with cuBLAS's
 * workspace of 8.125 MiB about 40 MiB on a T4. From Hopper on that workspace
 * has 32 MiB (pt:aten/src/ATen/cuda/CublasHandlePool.cpp).
 */
#define SMALL_BYTES (32 * MIB)
#define CUBLAS_BYTES INT64_C(8519680)
#define CUBLAS_HOPPER_BYTES (32 * MIB)
#define HOPPER_MAJOR 9

int64_t workspace_bytes(const struct workload *work)
{
	return SMALL_BYTES + (work->compute_major >= HOPPER_MAJOR
				      ? CUBLAS_HOPPER_BYTES
				      : CUBLAS_BYTES);
}

/*
 * Of each process. Measured: T4 133-147 MiB, RTX 3090 256, RTX 6000 Ada 426,
 * others with lazy loading of kernels about 400, V100 without it 1343.
 */
#define CONTEXT_TURING (150 * MIB)
#define CONTEXT_OTHERS (500 * MIB)
#define TURING_MAJOR 7

int64_t context_bytes(const struct workload *work)
{
	int64_t one = work->compute_major == TURING_MAJOR ? CONTEXT_TURING
							  : CONTEXT_OTHERS;
	int64_t processes = 1;

	if (work->context_bytes)
		one = work->context_bytes;
	for (size_t i = 0; i < work->resident_count; i++)
		processes += work->residents[i].is_other_process;
	return count_mul(one, processes);
}

/*
 * Weights are loaded one by one into segments of their own, which round up by 2
 * MiB at most (pt:c10/cuda/CUDACachingAllocator.cpp), and states and buckets
 * come once and stay: what fragments is what comes and goes. An engine takes
 * its cache as one piece for each layer (vllm:v1/worker/gpu_model_runner.py).
 */
static int64_t steady_bytes(const struct sizes *sizes,
			    const struct estimate *estimate,
			    enum peak_phase phase)
{
	const struct workload *work = sizes->work;
	const int64_t *parts = estimate->parts[phase];
	int64_t steady =
		count_add(parts[PART_WEIGHTS], engine_bytes(sizes, phase));

	/* A factor that was measured is one of all that is allocated. */
	if (has_training(work) && work->fragmentation > 0)
		return engine_bytes(sizes, phase);
	if (has_training(work))
		steady = count_add(
			count_add(steady, parts[PART_BUCKETS]),
			count_add(parts[PART_OPTIMIZER], parts[PART_MASTER]));
	else if (work->engine_share > 0)
		steady = count_add(steady, parts[PART_KV_CACHE]);
	return steady;
}

/* Of what comes and goes, what is reserved beside it. Fitted rows with fused
 * attention, in the median: 0.22 on a T4 (19 rows), 0.16 and 0.33 on later ones
 * (25 of several sources, 20 of fms-acceleration@876e2ed6); with eager 0.3
 * (T4, 14 rows). */
#define FRAGMENTATION_FLASH 1.25
#define FRAGMENTATION_EAGER 1.30

/* GPUs that gather weights layer by layer do that on a stream of its own, whose
 * blocks no other one gets (pt:torch/distributed/fsdp/_runtime_utils.py): 23
 * fitted rows on A100 are off by nothing in the mean (fms-acceleration@
 * 876e2ed6). */
#define FRAGMENTATION_GATHERED 1.43

bool fragments_by_gathering(const struct workload *work)
{
	enum sharding sharding = work->sharding;

	return work->data_parallel > 1 &&
	       (sharding == SHARD_ZERO3 || sharding == SHARD_FSDP ||
		sharding == SHARD_FSDP_GRAD_OP);
}

double fragmentation_factor(const struct workload *work)
{
	if (work->fragmentation > 0)
		return work->fragmentation;
	if (fragments_by_gathering(work))
		return FRAGMENTATION_GATHERED;
	return work->attention == ATTENTION_EAGER ? FRAGMENTATION_EAGER
						  : FRAGMENTATION_FLASH;
}

/*
 * Gradients are made on the stream that shares them out, and what the forward
 * pass or the step leaves free is another stream's: the most of each counts,
 * whenever it is there (pt:torch/distributed/fsdp/_runtime_utils.py:
 * _post_backward_hook).
 */
static int64_t pieces_of_streams(const struct sizes *sizes,
				 const struct estimate *estimate)
{
	int64_t others = 0, gradients = 0;

	for (int i = 0; i < PEAK_GENERATION; i++) {
		const int64_t *parts = estimate->parts[i];
		int64_t steady =
			steady_bytes(sizes, estimate, (enum peak_phase)i);

		gradients = count_most(gradients, parts[PART_GRADIENTS]);
		others = count_most(
			others,
			count_above(estimate->allocated[i],
				    count_add(steady, parts[PART_GRADIENTS])));
	}
	return count_add(others, gradients);
}

int64_t fragmentation_bytes(const struct sizes *sizes,
			    const struct estimate *estimate,
			    enum peak_phase phase, double factor)
{
	int64_t steady = steady_bytes(sizes, estimate, phase);
	int64_t pieces = count_above(estimate->allocated[phase], steady);

	if (fragments_by_gathering(sizes->work) && phase != PEAK_GENERATION)
		pieces = count_most(pieces, pieces_of_streams(sizes, estimate));
	return count_above(count_add(steady, count_scaled(pieces, factor)),
			   estimate->allocated[phase]);
}
