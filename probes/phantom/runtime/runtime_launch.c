/* Kernels of a phantom card: launched and over; some of them tell something. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/runtime/runtime_launch.h"

#include "probes/phantom/runtime/runtime_kernels.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* NOLINTBEGIN(readability-identifier-naming): the runtime's names */
/* NOLINTBEGIN(readability-function-size): the runtime's signatures */
/* NOLINTBEGIN(bugprone-reserved-identifier): what compilers of CUDA call */

static _Thread_local enum kernel_meaning last_meaning;

bool runtime_says_all(void)
{
	return last_meaning == KERNEL_ALL;
}

/* A question has one answer, of at most so many bytes. */
#define ANSWER_BYTES_MAX 16

/* Above 0: somebody in this thread answers for what it reads and launches. */
static _Thread_local int handled;

void runtime_note_read(size_t bytes)
{
	phantom_note(SIM_NOTE_READ, NULL, bytes);
	if (!handled && bytes <= ANSWER_BYTES_MAX)
		phantom_note(SIM_NOTE_UNSEEN, NULL, bytes);
}

/*
 * For whoever watches the program from inside
 * (probes/python/autofit_phantom) and knows what its reads are for.
 */
EXPORT void autofit_phantom_handle(int change)
{
	handled += change;
}

EXPORT void autofit_phantom_value(const char *text)
{
	phantom_note(SIM_NOTE_VALUE, text, 1);
}

EXPORT void autofit_phantom_end(const char *text)
{
	phantom_end(text, " again and again, and waits for another answer: a "
			  "phantom card has none");
}

static bool is_of_pytorch(const void *code)
{
	Dl_info library;

	return dladdr(code, &library) && library.dli_fname &&
	       strstr(library.dli_fname, "libtorch");
}

/* Each source file of kernels is registered by the library that holds it. */
EXPORT void **__cudaRegisterFatBinary(void *binary)
{
	static atomic_bool is_noted;
	static void *handle;

	(void)binary;
	if (!atomic_load(&is_noted) &&
	    is_of_pytorch(__builtin_return_address(0)) &&
	    !atomic_exchange(&is_noted, true))
		phantom_note(SIM_NOTE_PYTORCH, NULL, 1);
	return &handle;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

EXPORT void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

EXPORT char __cudaInitModule(void **handle)
{
	(void)handle;
	return 1;
}

EXPORT void __cudaRegisterVar(void **handle, char *variable, char *address,
			      const char *name, int is_extern, size_t bytes,
			      int is_constant, int is_global)
{
	(void)handle;
	(void)variable;
	(void)address;
	(void)name;
	(void)is_extern;
	(void)bytes;
	(void)is_constant;
	(void)is_global;
}

EXPORT void __cudaRegisterFunction(void **handle, const char *stub,
				   char *function, const char *name, int limit,
				   void *thread_id, void *block_id,
				   void *block_size, void *grid_size,
				   int *warp_size)
{
	(void)handle;
	(void)function;
	(void)limit;
	(void)thread_id;
	(void)block_id;
	(void)block_size;
	(void)grid_size;
	(void)warp_size;
	runtime_kernel_register(stub, name);
}

struct runtime_size {
	unsigned int x, y, z;
};

/* <<<grid, block, shared, stream>>>, between its two halves. */
#define CONFIGURATIONS_MAX 16
struct call_shape {
	struct runtime_size grid, block;
	size_t shared_bytes;
	void *stream;
};
static _Thread_local struct {
	struct call_shape items[CONFIGURATIONS_MAX];
	size_t count;
} stack;

EXPORT unsigned int __cudaPushCallConfiguration(struct runtime_size grid,
						struct runtime_size block,
						size_t shared_bytes,
						void *stream)
{
	if (stack.count == CONFIGURATIONS_MAX)
		return RUNTIME_INVALID_VALUE;
	stack.items[stack.count++] = (struct call_shape){
		.grid = grid,
		.block = block,
		.shared_bytes = shared_bytes,
		.stream = stream,
	};
	return RUNTIME_OK;
}

EXPORT int __cudaPopCallConfiguration(struct runtime_size *grid,
				      struct runtime_size *block,
				      size_t *shared_bytes, void **stream)
{
	const struct call_shape *top;

	if (!stack.count)
		return RUNTIME_INVALID_VALUE;
	top = &stack.items[--stack.count];
	*grid = top->grid;
	*block = top->block;
	*shared_bytes = top->shared_bytes;
	*stream = top->stream;
	return RUNTIME_OK;
}

DRIVER_CALL(module_load, "cuModuleLoadData", (void **module, const void *image),
	    (module, image))
DRIVER_CALL(module_function, "cuModuleGetFunction",
	    (void **function, void *module, const char *name),
	    (function, module, name))
DRIVER_CALL(kernel_launch, "cuLaunchKernel",
	    (void *function, unsigned int grid_x, unsigned int grid_y,
	     unsigned int grid_z, unsigned int block_x, unsigned int block_y,
	     unsigned int block_z, unsigned int shared_bytes, void *stream,
	     void **arguments, void **extra),
	    (function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
	     shared_bytes, stream, arguments, extra))

/* One function of the driver's stands for all kernels of a device. */
static int function_of(int device, void **function)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static void *functions[RUNTIME_DEVICES];
	void *module = NULL;
	int result = RUNTIME_OK;

	(void)pthread_mutex_lock(&lock);
	if (!functions[device]) {
		result = module_load(&module, "kernels of the runtime");
		if (!result)
			result = module_function(&functions[device], module,
						 "kernel");
	}
	*function = functions[device];
	(void)pthread_mutex_unlock(&lock);
	return result;
}

static int launch_kernel(const void *stub, struct call_shape shape)
{
	struct runtime_kernel kernel = runtime_kernel_find(stub);
	void *function = NULL;
	int result = runtime_enter();

	if (!result)
		result = function_of(runtime_device(), &function);
	if (!result)
		result = kernel_launch(function, shape.grid.x, shape.grid.y,
				       shape.grid.z, shape.block.x,
				       shape.block.y, shape.block.z,
				       (unsigned int)shape.shared_bytes,
				       shape.stream, NULL, NULL);
	last_meaning = kernel.meaning;
	if (!result && !handled && kernel.meaning == KERNEL_DATA_SIZE)
		phantom_note(SIM_NOTE_DATA_SIZE, kernel.name, 1);
	return runtime_answer(result);
}

EXPORT int cudaLaunchKernel(const void *stub, struct runtime_size grid,
			    struct runtime_size block, void **arguments,
			    size_t shared_bytes, void *stream)
{
	(void)arguments;
	return launch_kernel(
		stub, (struct call_shape){ grid, block, shared_bytes, stream });
}

/* Since CUDA 13 a program asks for the kernel of a stub once, and launches
 * that: here one is the other. */
EXPORT int __cudaGetKernel(const void **kernel, const void *stub)
{
	*kernel = stub;
	return RUNTIME_OK;
}

EXPORT int __cudaLaunchKernel(const void *kernel, struct runtime_size grid,
			      struct runtime_size block, void **arguments,
			      size_t shared_bytes, void *stream)
{
	return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes,
				stream);
}

EXPORT int cudaLaunchCooperativeKernel(const void *stub,
				       struct runtime_size grid,
				       struct runtime_size block,
				       void **arguments, size_t shared_bytes,
				       void *stream)
{
	return cudaLaunchKernel(stub, grid, block, arguments, shared_bytes,
				stream);
}

EXPORT int cudaLaunchKernelExC(const struct call_shape *configuration,
			       const void *stub, void **arguments)
{
	(void)arguments;
	return launch_kernel(stub, *configuration);
}

DRIVER_CALL(launch_attribute, "cuDeviceGetAttribute",
	    (int *value, int attribute, int device), (value, attribute, device))

static int attribute_here(int attribute)
{
	int value = 0;

	(void)launch_attribute(&value, attribute, runtime_device());
	return value;
}

/* As cudaFuncAttributes is laid out since CUDA 12. */
struct runtime_function_attributes {
	size_t shared_bytes, constant_bytes, local_bytes;
	int threads_max, registers, ptx_version, binary_version, cache_mode;
	int dynamic_shared_max, carveout, cluster[6], reserved[16];
};
_Static_assert(sizeof(struct runtime_function_attributes) == 144,
	       "cudaFuncAttributes");

/* The newest code in PyTorch's own packages that the card can run. */
static int code_version(int capability)
{
	static const int built[] = { 120, 100, 90, 86, 80, 75, 70, 60, 50 };

	for (size_t i = 0; i < sizeof(built) / sizeof(*built); i++)
		if (built[i] <= capability)
			return built[i];
	return capability;
}

EXPORT int cudaFuncGetAttributes(struct runtime_function_attributes *found,
				 const void *stub)
{
	int result = runtime_enter();
	int version;

	(void)stub;
	if (result)
		return runtime_answer(result);
	version = code_version(10 * attribute_here(75) + attribute_here(76));
	*found = (struct runtime_function_attributes){
		.threads_max = 1024,
		.registers = 32,
		.ptx_version = version,
		.binary_version = version,
		.dynamic_shared_max = 49152,
	};
	return RUNTIME_OK;
}

EXPORT int cudaFuncSetAttribute(const void *stub, int attribute, int value)
{
	(void)stub;
	(void)attribute;
	(void)value;
	return RUNTIME_OK;
}

EXPORT int cudaKernelSetAttributeForDevice(const void *kernel, int attribute,
					   int value, int device)
{
	(void)device;
	return cudaFuncSetAttribute(kernel, attribute, value);
}

/* By threads and shared memory; registers are not known. */
EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
	int *blocks, const void *stub, int threads, size_t shared_bytes,
	unsigned int flags)
{
	int result = runtime_enter();
	int by_shared;

	(void)stub;
	(void)flags;
	if (result || threads <= 0)
		return runtime_answer(result ? result : RUNTIME_INVALID_VALUE);
	*blocks = attribute_here(39) / threads;
	by_shared = (int)((size_t)attribute_here(81) / (shared_bytes + 1024));
	if (*blocks > by_shared)
		*blocks = by_shared;
	if (*blocks > attribute_here(106))
		*blocks = attribute_here(106);
	if (*blocks < 1)
		*blocks = 1;
	return RUNTIME_OK;
}

EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
							 const void *stub,
							 int threads,
							 size_t shared_bytes)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
		blocks, stub, threads, shared_bytes, 0);
}

EXPORT int cudaProfilerStart(void)
{
	return RUNTIME_OK;
}

EXPORT int cudaProfilerStop(void)
{
	return RUNTIME_OK;
}

/* Each thread has one; nothing is forbidden while a stream is captured. */
EXPORT int cudaThreadExchangeStreamCaptureMode(int *mode)
{
	static _Thread_local int kept;
	int former = kept;

	kept = *mode;
	*mode = former;
	return RUNTIME_OK;
}

/* NOLINTEND(bugprone-reserved-identifier) */
/* NOLINTEND(readability-function-size) */
/* NOLINTEND(readability-identifier-naming) */
