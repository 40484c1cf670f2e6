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
 * Weights that only generate were loaded one by one into segments of their own,
 * which round up by 2 MiB at most (pt:c10/cuda/CUDACachingAllocator.cpp). An
 * engine takes its cache as one piece for each layer (vllm:v1/worker/
 * gpu_model_runner.py).
 */
int64_t steady_bytes(const struct workload *work,
		     const struct estimate *estimate, enum peak_phase phase)
{
	const int64_t *parts = estimate->parts[phase];

	if (phase != PEAK_GENERATION || has_training(work))
		return 0;
	if (work->engine_share <= 0)
		return parts[PART_WEIGHTS];
	return count_add(parts[PART_WEIGHTS], parts[PART_KV_CACHE]);
}

/* reserved / allocated in 59 runs on a T4: median 1.10 with fused attention,
 * 1.17 (mean 1.20) with eager; repeats agree to 0.4%. */
#define FRAGMENTATION_FLASH 1.10
#define FRAGMENTATION_EAGER 1.20

/* GPUs that gather weights layer by layer hold them in the way of what stays:
 * 1.14 to 1.55 on A100 (fms-acceleration@876e2ed6, fitted rows), median 1.3. */
#define FRAGMENTATION_GATHERED 1.3

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
