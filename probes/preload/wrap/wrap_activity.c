/* Wrappers of what a program does on the device, and of what it loads. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/held.h"
#include "probes/preload/pools.h"
#include "probes/preload/wrap.h"

/* NOLINTBEGIN(readability-identifier-naming, readability-function-size): the
 * names and the parameters are the driver's. */

static void count_launch(cu_result result)
{
	if (result == CU_SUCCESS)
		ledger_launch();
}

static void count_wait(void)
{
	ledger_synchronization();
	pools_read();
}

static void count_copy(cu_result result, uint64_t to_device, uint64_t to_host)
{
	if (result == CU_SUCCESS)
		ledger_copy(to_device, to_host);
}

/* Thousands in a second: nothing but a counter while all is well. */
#define LAUNCH(elf, parameters, arguments)                                     \
	COUNTED(elf, PRELOAD_CALL_LAUNCH, count_launch(result), parameters,    \
		arguments)

#define KERNEL                                                                 \
	(void *f, unsigned int grid_dim_x, unsigned int grid_dim_y,            \
	 unsigned int grid_dim_z, unsigned int block_dim_x,                    \
	 unsigned int block_dim_y, unsigned int block_dim_z,                   \
	 unsigned int shared_mem_bytes, void *h_stream, void **kernel_params,  \
	 void **extra)
#define KERNEL_ARGUMENTS                                                       \
	(f, grid_dim_x, grid_dim_y, grid_dim_z, block_dim_x, block_dim_y,      \
	 block_dim_z, shared_mem_bytes, h_stream, kernel_params, extra)
#define COOPERATIVE                                                            \
	(void *f, unsigned int grid_dim_x, unsigned int grid_dim_y,            \
	 unsigned int grid_dim_z, unsigned int block_dim_x,                    \
	 unsigned int block_dim_y, unsigned int block_dim_z,                   \
	 unsigned int shared_mem_bytes, void *h_stream, void **kernel_params)
#define COOPERATIVE_ARGUMENTS                                                  \
	(f, grid_dim_x, grid_dim_y, grid_dim_z, block_dim_x, block_dim_y,      \
	 block_dim_z, shared_mem_bytes, h_stream, kernel_params)
#define EXTENDED                                                               \
	(const void *config, void *f, void **kernel_params, void **extra)
#define EXTENDED_ARGUMENTS (config, f, kernel_params, extra)

LAUNCH(cuLaunchKernel, KERNEL, KERNEL_ARGUMENTS)
LAUNCH(cuLaunchKernel_ptsz, KERNEL, KERNEL_ARGUMENTS)
LAUNCH(cuLaunchKernelEx, EXTENDED, EXTENDED_ARGUMENTS)
LAUNCH(cuLaunchKernelEx_ptsz, EXTENDED, EXTENDED_ARGUMENTS)
LAUNCH(cuLaunchCooperativeKernel, COOPERATIVE, COOPERATIVE_ARGUMENTS)
LAUNCH(cuLaunchCooperativeKernel_ptsz, COOPERATIVE, COOPERATIVE_ARGUMENTS)
LAUNCH(cuLaunchCooperativeKernelMultiDevice,
       (void *launch_params_list, unsigned int num_devices, unsigned int flags),
       (launch_params_list, num_devices, flags))

/* Pools give back to the driver when somebody waits. */
#define WAIT(elf, parameters, arguments)                                       \
	COUNTED(elf, PRELOAD_CALL_OTHER, count_wait(), parameters, arguments)

WAIT(cuStreamSynchronize, (void *h_stream), (h_stream))
WAIT(cuStreamSynchronize_ptsz, (void *h_stream), (h_stream))
WAIT(cuEventSynchronize, (void *h_event), (h_event))
WAIT(cuCtxSynchronize, (void), ())
WAIT(cuCtxSynchronize_v2, (void *ctx), (ctx))

#define COPY(elf, to_device, to_host, parameters, arguments)                   \
	COUNTED(elf, PRELOAD_CALL_OTHER,                                       \
		count_copy(result, to_device, to_host), parameters, arguments)

#define IN (cu_pointer dst_device, const void *src_host, size_t byte_count)
#define IN_ASYNC                                                               \
	(cu_pointer dst_device, const void *src_host, size_t byte_count,       \
	 void *h_stream)
#define OUT (void *dst_host, cu_pointer src_device, size_t byte_count)
#define OUT_ASYNC                                                              \
	(void *dst_host, cu_pointer src_device, size_t byte_count,             \
	 void *h_stream)

COPY(cuMemcpyHtoD_v2, byte_count, 0, IN, (dst_device, src_host, byte_count))
COPY(cuMemcpyHtoD_v2_ptds, byte_count, 0, IN,
     (dst_device, src_host, byte_count))
COPY(cuMemcpyHtoDAsync_v2, byte_count, 0, IN_ASYNC,
     (dst_device, src_host, byte_count, h_stream))
COPY(cuMemcpyHtoDAsync_v2_ptsz, byte_count, 0, IN_ASYNC,
     (dst_device, src_host, byte_count, h_stream))
COPY(cuMemcpyDtoH_v2, 0, byte_count, OUT, (dst_host, src_device, byte_count))
COPY(cuMemcpyDtoH_v2_ptds, 0, byte_count, OUT,
     (dst_host, src_device, byte_count))
COPY(cuMemcpyDtoHAsync_v2, 0, byte_count, OUT_ASYNC,
     (dst_host, src_device, byte_count, h_stream))
COPY(cuMemcpyDtoHAsync_v2_ptsz, 0, byte_count, OUT_ASYNC,
     (dst_host, src_device, byte_count, h_stream))

/* Where these copy to is not asked: that would cost more than it tells. */
WATCHED(cuMemcpy, PRELOAD_CALL_OTHER,
	(cu_pointer dst, cu_pointer src, size_t byte_count),
	(dst, src, byte_count))
WATCHED(cuMemcpy_ptds, PRELOAD_CALL_OTHER,
	(cu_pointer dst, cu_pointer src, size_t byte_count),
	(dst, src, byte_count))
WATCHED(cuMemcpyAsync, PRELOAD_CALL_OTHER,
	(cu_pointer dst, cu_pointer src, size_t byte_count, void *h_stream),
	(dst, src, byte_count, h_stream))
WATCHED(cuMemcpyAsync_ptsz, PRELOAD_CALL_OTHER,
	(cu_pointer dst, cu_pointer src, size_t byte_count, void *h_stream),
	(dst, src, byte_count, h_stream))

WATCHED(cuModuleLoad, PRELOAD_CALL_MODULE, (void **module, const char *fname),
	(module, fname))
WATCHED(cuModuleLoadData, PRELOAD_CALL_MODULE,
	(void **module, const void *image), (module, image))
WATCHED(cuModuleLoadDataEx, PRELOAD_CALL_MODULE,
	(void **module, const void *image, unsigned int num_options,
	 unsigned int *options, void **option_values),
	(module, image, num_options, options, option_values))
WATCHED(cuModuleLoadFatBinary, PRELOAD_CALL_MODULE,
	(void **module, const void *fat_cubin), (module, fat_cubin))
WATCHED(cuLibraryLoadData, PRELOAD_CALL_MODULE,
	(void **library, const void *code, unsigned int *jit_options,
	 void **jit_options_values, unsigned int num_jit_options,
	 unsigned int *library_options, void **library_option_values,
	 unsigned int num_library_options),
	(library, code, jit_options, jit_options_values, num_jit_options,
	 library_options, library_option_values, num_library_options))
WATCHED(cuLibraryLoadFromFile, PRELOAD_CALL_MODULE,
	(void **library, const char *file_name, unsigned int *jit_options,
	 void **jit_options_values, unsigned int num_jit_options,
	 unsigned int *library_options, void **library_option_values,
	 unsigned int num_library_options),
	(library, file_name, jit_options, jit_options_values, num_jit_options,
	 library_options, library_option_values, num_library_options))
WATCHED(cuModuleGetFunction, PRELOAD_CALL_MODULE,
	(void **hfunc, void *hmod, const char *name), (hfunc, hmod, name))
WATCHED(cuKernelGetFunction, PRELOAD_CALL_MODULE, (void **p_func, void *kernel),
	(p_func, kernel))
WATCHED(cuLibraryGetModule, PRELOAD_CALL_MODULE, (void **p_mod, void *library),
	(p_mod, library))
WATCHED(cuFuncLoad, PRELOAD_CALL_MODULE, (void *function), (function))
WATCHED(cuLinkComplete, PRELOAD_CALL_MODULE,
	(void *state, void **cubin_out, size_t *size_out),
	(state, cubin_out, size_out))
WATCHED(cuEventCreate, PRELOAD_CALL_OTHER,
	(void **ph_event, unsigned int flags), (ph_event, flags))
WATCHED(cuStreamCreate, PRELOAD_CALL_OTHER,
	(void **ph_stream, unsigned int flags), (ph_stream, flags))
WATCHED(cuStreamCreateWithPriority, PRELOAD_CALL_OTHER,
	(void **ph_stream, unsigned int flags, int priority),
	(ph_stream, flags, priority))

/* Memory of others is theirs; it is counted where it was allocated. */
WATCHED(cuImportExternalMemory, PRELOAD_CALL_OTHER,
	(void **ext_mem_out, const void *mem_handle_desc),
	(ext_mem_out, mem_handle_desc))
WATCHED(cuExternalMemoryGetMappedBuffer, PRELOAD_CALL_OTHER,
	(cu_pointer * dev_ptr, void *ext_mem, const void *buffer_desc),
	(dev_ptr, ext_mem, buffer_desc))
WATCHED(cuDestroyExternalMemory, PRELOAD_CALL_OTHER, (void *ext_mem), (ext_mem))
WATCHED(cuIpcOpenMemHandle, PRELOAD_CALL_OTHER,
	(cu_pointer * pdptr, struct cu_ipc_handle handle, unsigned int flags),
	(pdptr, handle, flags))
WATCHED(cuIpcOpenMemHandle_v2, PRELOAD_CALL_OTHER,
	(cu_pointer * pdptr, struct cu_ipc_handle handle, unsigned int flags),
	(pdptr, handle, flags))
WATCHED(cuIpcCloseMemHandle, PRELOAD_CALL_OTHER, (cu_pointer dptr), (dptr))

/* NOLINTEND(readability-identifier-naming, readability-function-size) */
