// What nvcc makes by default carries NVIDIA's runtime inside.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(float *values)
{
	values[threadIdx.x] = 1;
}

int main()
{
	float *values;
	cudaError_t error = cudaMalloc(&values, 1 << 20);

	if (error) {
		fprintf(stderr, "CUDA error: %s\n", cudaGetErrorString(error));
		return 1;
	}
	fill<<<1, 32>>>(values);
	return cudaDeviceSynchronize() != cudaSuccess;
}
