/* Which functions the preload library wraps, and their types. */
/* SPDX-License-Identifier: MIT */
/* Written by scripts/hook_table.py from hooks.list and CUDA 13050. */
#ifndef AUTOFIT_PROBES_PRELOAD_HOOK_TABLE_H
#define AUTOFIT_PROBES_PRELOAD_HOOK_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/* NOLINTBEGIN(readability-identifier-naming): the names are the driver's. */

/* Functions and versions after it are not known here. */
#define HOOK_TABLE_VERSION 13050

typedef unsigned int cu_result;
typedef uint64_t cu_pointer;

struct cu_ipc_handle {
	char bytes[64];
};

/* In order of strcmp: ROW(elf, base, version, stream). */
#define HOOK_ROWS(ROW) \
	ROW(cuArray3DCreate, "cuArray3DCreate", 2000, 0) \
	ROW(cuArray3DCreate_v2, "cuArray3DCreate", 3020, 0) \
	ROW(cuArrayCreate, "cuArrayCreate", 2000, 0) \
	ROW(cuArrayCreate_v2, "cuArrayCreate", 3020, 0) \
	ROW(cuArrayDestroy, "cuArrayDestroy", 2000, 0) \
	ROW(cuCtxCreate, "cuCtxCreate", 2000, 0) \
	ROW(cuCtxCreate_v2, "cuCtxCreate", 3020, 0) \
	ROW(cuCtxCreate_v3, "cuCtxCreate", 11040, 0) \
	ROW(cuCtxCreate_v4, "cuCtxCreate", 12050, 0) \
	ROW(cuCtxDestroy, "cuCtxDestroy", 2000, 0) \
	ROW(cuCtxDestroy_v2, "cuCtxDestroy", 4000, 0) \
	ROW(cuCtxSetLimit, "cuCtxSetLimit", 3010, 0) \
	ROW(cuCtxSynchronize, "cuCtxSynchronize", 2000, 0) \
	ROW(cuCtxSynchronize_v2, "cuCtxSynchronize", 13000, 0) \
	ROW(cuDestroyExternalMemory, "cuDestroyExternalMemory", 10000, 0) \
	ROW(cuDeviceGetDefaultMemPool, "cuDeviceGetDefaultMemPool", 11020, 0) \
	ROW(cuDeviceGetMemPool, "cuDeviceGetMemPool", 11020, 0) \
	ROW(cuDeviceGraphMemTrim, "cuDeviceGraphMemTrim", 11040, 0) \
	ROW(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease", 7000, 0) \
	ROW(cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease", 11000, 0) \
	ROW(cuDevicePrimaryCtxReset, "cuDevicePrimaryCtxReset", 7000, 0) \
	ROW(cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset", 11000, 0) \
	ROW(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", 7000, 0) \
	ROW(cuDeviceSetMemPool, "cuDeviceSetMemPool", 11020, 0) \
	ROW(cuDeviceTotalMem, "cuDeviceTotalMem", 2000, 0) \
	ROW(cuDeviceTotalMem_v2, "cuDeviceTotalMem", 3020, 0) \
	ROW(cuEventCreate, "cuEventCreate", 2000, 0) \
	ROW(cuEventSynchronize, "cuEventSynchronize", 2000, 0) \
	ROW(cuExternalMemoryGetMappedBuffer, "cuExternalMemoryGetMappedBuffer", 10000, 0) \
	ROW(cuFuncLoad, "cuFuncLoad", 12040, 0) \
	ROW(cuGetProcAddress, "cuGetProcAddress", 11030, 0) \
	ROW(cuGetProcAddress_v2, "cuGetProcAddress", 12000, 0) \
	ROW(cuGraphAddMemAllocNode, "cuGraphAddMemAllocNode", 11040, 0) \
	ROW(cuGraphAddMemFreeNode, "cuGraphAddMemFreeNode", 11040, 0) \
	ROW(cuGraphAddNode, "cuGraphAddNode", 12020, 0) \
	ROW(cuGraphAddNode_v2, "cuGraphAddNode", 12030, 0) \
	ROW(cuGraphAddNode_v3, "cuGraphAddNode", 13040, 0) \
	ROW(cuGraphExecDestroy, "cuGraphExecDestroy", 10000, 0) \
	ROW(cuGraphInstantiate, "cuGraphInstantiate", 10000, 0) \
	ROW(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", 11040, 0) \
	ROW(cuGraphInstantiateWithParams, "cuGraphInstantiateWithParams", 12000, 0) \
	ROW(cuGraphInstantiateWithParams_ptsz, "cuGraphInstantiateWithParams", 12000, 2) \
	ROW(cuGraphInstantiate_v2, "cuGraphInstantiate", 11000, 0) \
	ROW(cuGraphLaunch, "cuGraphLaunch", 10000, 0) \
	ROW(cuGraphLaunch_ptsz, "cuGraphLaunch", 10000, 2) \
	ROW(cuGraphUpload, "cuGraphUpload", 11010, 0) \
	ROW(cuGraphUpload_ptsz, "cuGraphUpload", 11010, 2) \
	ROW(cuGreenCtxCreate, "cuGreenCtxCreate", 12040, 0) \
	ROW(cuImportExternalMemory, "cuImportExternalMemory", 10000, 0) \
	ROW(cuIpcCloseMemHandle, "cuIpcCloseMemHandle", 4010, 0) \
	ROW(cuIpcOpenMemHandle, "cuIpcOpenMemHandle", 4010, 0) \
	ROW(cuIpcOpenMemHandle_v2, "cuIpcOpenMemHandle", 11000, 0) \
	ROW(cuKernelGetFunction, "cuKernelGetFunction", 12000, 0) \
	ROW(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel", 9000, 0) \
	ROW(cuLaunchCooperativeKernelMultiDevice, "cuLaunchCooperativeKernelMultiDevice", 9000, 0) \
	ROW(cuLaunchCooperativeKernel_ptsz, "cuLaunchCooperativeKernel", 9000, 2) \
	ROW(cuLaunchKernel, "cuLaunchKernel", 4000, 0) \
	ROW(cuLaunchKernelEx, "cuLaunchKernelEx", 11060, 0) \
	ROW(cuLaunchKernelEx_ptsz, "cuLaunchKernelEx", 11060, 2) \
	ROW(cuLaunchKernel_ptsz, "cuLaunchKernel", 7000, 2) \
	ROW(cuLibraryGetModule, "cuLibraryGetModule", 12000, 0) \
	ROW(cuLibraryLoadData, "cuLibraryLoadData", 12000, 0) \
	ROW(cuLibraryLoadFromFile, "cuLibraryLoadFromFile", 12000, 0) \
	ROW(cuLinkComplete, "cuLinkComplete", 5050, 0) \
	ROW(cuMemAddressReserve, "cuMemAddressReserve", 10020, 0) \
	ROW(cuMemAlloc, "cuMemAlloc", 2000, 0) \
	ROW(cuMemAllocAsync, "cuMemAllocAsync", 11020, 0) \
	ROW(cuMemAllocAsync_ptsz, "cuMemAllocAsync", 11020, 2) \
	ROW(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", 11020, 0) \
	ROW(cuMemAllocFromPoolAsync_ptsz, "cuMemAllocFromPoolAsync", 11020, 2) \
	ROW(cuMemAllocHost, "cuMemAllocHost", 2000, 0) \
	ROW(cuMemAllocHost_v2, "cuMemAllocHost", 3020, 0) \
	ROW(cuMemAllocManaged, "cuMemAllocManaged", 6000, 0) \
	ROW(cuMemAllocPitch, "cuMemAllocPitch", 2000, 0) \
	ROW(cuMemAllocPitch_v2, "cuMemAllocPitch", 3020, 0) \
	ROW(cuMemAlloc_v2, "cuMemAlloc", 3020, 0) \
	ROW(cuMemCreate, "cuMemCreate", 10020, 0) \
	ROW(cuMemFree, "cuMemFree", 2000, 0) \
	ROW(cuMemFreeAsync, "cuMemFreeAsync", 11020, 0) \
	ROW(cuMemFreeAsync_ptsz, "cuMemFreeAsync", 11020, 2) \
	ROW(cuMemFreeHost, "cuMemFreeHost", 2000, 0) \
	ROW(cuMemFree_v2, "cuMemFree", 3020, 0) \
	ROW(cuMemGetDefaultMemPool, "cuMemGetDefaultMemPool", 13000, 0) \
	ROW(cuMemGetInfo, "cuMemGetInfo", 2000, 0) \
	ROW(cuMemGetInfo_v2, "cuMemGetInfo", 3020, 0) \
	ROW(cuMemGetMemPool, "cuMemGetMemPool", 13000, 0) \
	ROW(cuMemHostAlloc, "cuMemHostAlloc", 2020, 0) \
	ROW(cuMemHostRegister, "cuMemHostRegister", 4000, 0) \
	ROW(cuMemHostRegister_v2, "cuMemHostRegister", 6050, 0) \
	ROW(cuMemHostUnregister, "cuMemHostUnregister", 4000, 0) \
	ROW(cuMemImportFromShareableHandle, "cuMemImportFromShareableHandle", 10020, 0) \
	ROW(cuMemMap, "cuMemMap", 10020, 0) \
	ROW(cuMemMapArrayAsync, "cuMemMapArrayAsync", 11010, 0) \
	ROW(cuMemMapArrayAsync_ptsz, "cuMemMapArrayAsync", 11010, 2) \
	ROW(cuMemPoolCreate, "cuMemPoolCreate", 11020, 0) \
	ROW(cuMemPoolDestroy, "cuMemPoolDestroy", 11020, 0) \
	ROW(cuMemPoolImportFromShareableHandle, "cuMemPoolImportFromShareableHandle", 11020, 0) \
	ROW(cuMemPoolImportPointer, "cuMemPoolImportPointer", 11020, 0) \
	ROW(cuMemPoolTrimTo, "cuMemPoolTrimTo", 11020, 0) \
	ROW(cuMemRelease, "cuMemRelease", 10020, 0) \
	ROW(cuMemRetainAllocationHandle, "cuMemRetainAllocationHandle", 11000, 0) \
	ROW(cuMemSetAccess, "cuMemSetAccess", 10020, 0) \
	ROW(cuMemSetMemPool, "cuMemSetMemPool", 13000, 0) \
	ROW(cuMemUnmap, "cuMemUnmap", 10020, 0) \
	ROW(cuMemcpy, "cuMemcpy", 4000, 0) \
	ROW(cuMemcpyAsync, "cuMemcpyAsync", 4000, 0) \
	ROW(cuMemcpyAsync_ptsz, "cuMemcpyAsync", 7000, 2) \
	ROW(cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync", 3020, 0) \
	ROW(cuMemcpyDtoHAsync_v2_ptsz, "cuMemcpyDtoHAsync", 7000, 2) \
	ROW(cuMemcpyDtoH_v2, "cuMemcpyDtoH", 3020, 0) \
	ROW(cuMemcpyDtoH_v2_ptds, "cuMemcpyDtoH", 7000, 2) \
	ROW(cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync", 3020, 0) \
	ROW(cuMemcpyHtoDAsync_v2_ptsz, "cuMemcpyHtoDAsync", 7000, 2) \
	ROW(cuMemcpyHtoD_v2, "cuMemcpyHtoD", 3020, 0) \
	ROW(cuMemcpyHtoD_v2_ptds, "cuMemcpyHtoD", 7000, 2) \
	ROW(cuMemcpy_ptds, "cuMemcpy", 7000, 2) \
	ROW(cuMipmappedArrayCreate, "cuMipmappedArrayCreate", 5000, 0) \
	ROW(cuMipmappedArrayDestroy, "cuMipmappedArrayDestroy", 5000, 0) \
	ROW(cuModuleGetFunction, "cuModuleGetFunction", 2000, 0) \
	ROW(cuModuleLoad, "cuModuleLoad", 2000, 0) \
	ROW(cuModuleLoadData, "cuModuleLoadData", 2000, 0) \
	ROW(cuModuleLoadDataEx, "cuModuleLoadDataEx", 2010, 0) \
	ROW(cuModuleLoadFatBinary, "cuModuleLoadFatBinary", 2000, 0) \
	ROW(cuMulticastCreate, "cuMulticastCreate", 12010, 0) \
	ROW(cuStreamBeginCapture, "cuStreamBeginCapture", 10000, 0) \
	ROW(cuStreamBeginCaptureToCig, "cuStreamBeginCaptureToCig", 13010, 0) \
	ROW(cuStreamBeginCaptureToCig_ptsz, "cuStreamBeginCaptureToCig", 13010, 2) \
	ROW(cuStreamBeginCaptureToGraph, "cuStreamBeginCaptureToGraph", 12030, 0) \
	ROW(cuStreamBeginCaptureToGraph_ptsz, "cuStreamBeginCaptureToGraph", 12030, 2) \
	ROW(cuStreamBeginCapture_ptsz, "cuStreamBeginCapture", 10000, 2) \
	ROW(cuStreamBeginCapture_v2, "cuStreamBeginCapture", 10010, 0) \
	ROW(cuStreamBeginCapture_v2_ptsz, "cuStreamBeginCapture", 10010, 2) \
	ROW(cuStreamBeginRecaptureToGraph, "cuStreamBeginRecaptureToGraph", 13030, 0) \
	ROW(cuStreamBeginRecaptureToGraph_ptsz, "cuStreamBeginRecaptureToGraph", 13030, 2) \
	ROW(cuStreamCreate, "cuStreamCreate", 2000, 0) \
	ROW(cuStreamCreateWithPriority, "cuStreamCreateWithPriority", 5050, 0) \
	ROW(cuStreamSynchronize, "cuStreamSynchronize", 2000, 0) \
	ROW(cuStreamSynchronize_ptsz, "cuStreamSynchronize", 7000, 2) \
	ROW(nvmlDeviceGetMemoryInfo, "", 0, 0) \
	ROW(nvmlDeviceGetMemoryInfo_v2, "", 0, 0) \
	/* the end */

/* Later headers give base's name to a function of other: ROW(base, other). */
#define HOOK_RENAMES(ROW) \
	ROW("cuGraphInstantiate", "cuGraphInstantiateWithFlags") \
	/* the end */

enum hook {
	HOOK_cuArray3DCreate,
	HOOK_cuArray3DCreate_v2,
	HOOK_cuArrayCreate,
	HOOK_cuArrayCreate_v2,
	HOOK_cuArrayDestroy,
	HOOK_cuCtxCreate,
	HOOK_cuCtxCreate_v2,
	HOOK_cuCtxCreate_v3,
	HOOK_cuCtxCreate_v4,
	HOOK_cuCtxDestroy,
	HOOK_cuCtxDestroy_v2,
	HOOK_cuCtxSetLimit,
	HOOK_cuCtxSynchronize,
	HOOK_cuCtxSynchronize_v2,
	HOOK_cuDestroyExternalMemory,
	HOOK_cuDeviceGetDefaultMemPool,
	HOOK_cuDeviceGetMemPool,
	HOOK_cuDeviceGraphMemTrim,
	HOOK_cuDevicePrimaryCtxRelease,
	HOOK_cuDevicePrimaryCtxRelease_v2,
	HOOK_cuDevicePrimaryCtxReset,
	HOOK_cuDevicePrimaryCtxReset_v2,
	HOOK_cuDevicePrimaryCtxRetain,
	HOOK_cuDeviceSetMemPool,
	HOOK_cuDeviceTotalMem,
	HOOK_cuDeviceTotalMem_v2,
	HOOK_cuEventCreate,
	HOOK_cuEventSynchronize,
	HOOK_cuExternalMemoryGetMappedBuffer,
	HOOK_cuFuncLoad,
	HOOK_cuGetProcAddress,
	HOOK_cuGetProcAddress_v2,
	HOOK_cuGraphAddMemAllocNode,
	HOOK_cuGraphAddMemFreeNode,
	HOOK_cuGraphAddNode,
	HOOK_cuGraphAddNode_v2,
	HOOK_cuGraphAddNode_v3,
	HOOK_cuGraphExecDestroy,
	HOOK_cuGraphInstantiate,
	HOOK_cuGraphInstantiateWithFlags,
	HOOK_cuGraphInstantiateWithParams,
	HOOK_cuGraphInstantiateWithParams_ptsz,
	HOOK_cuGraphInstantiate_v2,
	HOOK_cuGraphLaunch,
	HOOK_cuGraphLaunch_ptsz,
	HOOK_cuGraphUpload,
	HOOK_cuGraphUpload_ptsz,
	HOOK_cuGreenCtxCreate,
	HOOK_cuImportExternalMemory,
	HOOK_cuIpcCloseMemHandle,
	HOOK_cuIpcOpenMemHandle,
	HOOK_cuIpcOpenMemHandle_v2,
	HOOK_cuKernelGetFunction,
	HOOK_cuLaunchCooperativeKernel,
	HOOK_cuLaunchCooperativeKernelMultiDevice,
	HOOK_cuLaunchCooperativeKernel_ptsz,
	HOOK_cuLaunchKernel,
	HOOK_cuLaunchKernelEx,
	HOOK_cuLaunchKernelEx_ptsz,
	HOOK_cuLaunchKernel_ptsz,
	HOOK_cuLibraryGetModule,
	HOOK_cuLibraryLoadData,
	HOOK_cuLibraryLoadFromFile,
	HOOK_cuLinkComplete,
	HOOK_cuMemAddressReserve,
	HOOK_cuMemAlloc,
	HOOK_cuMemAllocAsync,
	HOOK_cuMemAllocAsync_ptsz,
	HOOK_cuMemAllocFromPoolAsync,
	HOOK_cuMemAllocFromPoolAsync_ptsz,
	HOOK_cuMemAllocHost,
	HOOK_cuMemAllocHost_v2,
	HOOK_cuMemAllocManaged,
	HOOK_cuMemAllocPitch,
	HOOK_cuMemAllocPitch_v2,
	HOOK_cuMemAlloc_v2,
	HOOK_cuMemCreate,
	HOOK_cuMemFree,
	HOOK_cuMemFreeAsync,
	HOOK_cuMemFreeAsync_ptsz,
	HOOK_cuMemFreeHost,
	HOOK_cuMemFree_v2,
	HOOK_cuMemGetDefaultMemPool,
	HOOK_cuMemGetInfo,
	HOOK_cuMemGetInfo_v2,
	HOOK_cuMemGetMemPool,
	HOOK_cuMemHostAlloc,
	HOOK_cuMemHostRegister,
	HOOK_cuMemHostRegister_v2,
	HOOK_cuMemHostUnregister,
	HOOK_cuMemImportFromShareableHandle,
	HOOK_cuMemMap,
	HOOK_cuMemMapArrayAsync,
	HOOK_cuMemMapArrayAsync_ptsz,
	HOOK_cuMemPoolCreate,
	HOOK_cuMemPoolDestroy,
	HOOK_cuMemPoolImportFromShareableHandle,
	HOOK_cuMemPoolImportPointer,
	HOOK_cuMemPoolTrimTo,
	HOOK_cuMemRelease,
	HOOK_cuMemRetainAllocationHandle,
	HOOK_cuMemSetAccess,
	HOOK_cuMemSetMemPool,
	HOOK_cuMemUnmap,
	HOOK_cuMemcpy,
	HOOK_cuMemcpyAsync,
	HOOK_cuMemcpyAsync_ptsz,
	HOOK_cuMemcpyDtoHAsync_v2,
	HOOK_cuMemcpyDtoHAsync_v2_ptsz,
	HOOK_cuMemcpyDtoH_v2,
	HOOK_cuMemcpyDtoH_v2_ptds,
	HOOK_cuMemcpyHtoDAsync_v2,
	HOOK_cuMemcpyHtoDAsync_v2_ptsz,
	HOOK_cuMemcpyHtoD_v2,
	HOOK_cuMemcpyHtoD_v2_ptds,
	HOOK_cuMemcpy_ptds,
	HOOK_cuMipmappedArrayCreate,
	HOOK_cuMipmappedArrayDestroy,
	HOOK_cuModuleGetFunction,
	HOOK_cuModuleLoad,
	HOOK_cuModuleLoadData,
	HOOK_cuModuleLoadDataEx,
	HOOK_cuModuleLoadFatBinary,
	HOOK_cuMulticastCreate,
	HOOK_cuStreamBeginCapture,
	HOOK_cuStreamBeginCaptureToCig,
	HOOK_cuStreamBeginCaptureToCig_ptsz,
	HOOK_cuStreamBeginCaptureToGraph,
	HOOK_cuStreamBeginCaptureToGraph_ptsz,
	HOOK_cuStreamBeginCapture_ptsz,
	HOOK_cuStreamBeginCapture_v2,
	HOOK_cuStreamBeginCapture_v2_ptsz,
	HOOK_cuStreamBeginRecaptureToGraph,
	HOOK_cuStreamBeginRecaptureToGraph_ptsz,
	HOOK_cuStreamCreate,
	HOOK_cuStreamCreateWithPriority,
	HOOK_cuStreamSynchronize,
	HOOK_cuStreamSynchronize_ptsz,
	HOOK_nvmlDeviceGetMemoryInfo,
	HOOK_nvmlDeviceGetMemoryInfo_v2,
	HOOK_COUNT
};

typedef cu_result fn_cuArray3DCreate(void **p_handle,
    const void *p_allocate_array);
typedef cu_result fn_cuArray3DCreate_v2(void **p_handle,
    const void *p_allocate_array);
typedef cu_result fn_cuArrayCreate(void **p_handle,
    const void *p_allocate_array);
typedef cu_result fn_cuArrayCreate_v2(void **p_handle,
    const void *p_allocate_array);
typedef cu_result fn_cuArrayDestroy(void *h_array);
typedef cu_result fn_cuCtxCreate(void **pctx, unsigned int flags, int dev);
typedef cu_result fn_cuCtxCreate_v2(void **pctx, unsigned int flags, int dev);
typedef cu_result fn_cuCtxCreate_v3(void **pctx, void *params_array,
    int num_params, unsigned int flags, int dev);
typedef cu_result fn_cuCtxCreate_v4(void **pctx, void *ctx_create_params,
    unsigned int flags, int dev);
typedef cu_result fn_cuCtxDestroy(void *ctx);
typedef cu_result fn_cuCtxDestroy_v2(void *ctx);
typedef cu_result fn_cuCtxSetLimit(unsigned int limit, size_t value);
typedef cu_result fn_cuCtxSynchronize(void);
typedef cu_result fn_cuCtxSynchronize_v2(void *ctx);
typedef cu_result fn_cuDestroyExternalMemory(void *ext_mem);
typedef cu_result fn_cuDeviceGetDefaultMemPool(void **pool_out, int dev);
typedef cu_result fn_cuDeviceGetMemPool(void **pool, int dev);
typedef cu_result fn_cuDeviceGraphMemTrim(int device);
typedef cu_result fn_cuDevicePrimaryCtxRelease(int dev);
typedef cu_result fn_cuDevicePrimaryCtxRelease_v2(int dev);
typedef cu_result fn_cuDevicePrimaryCtxReset(int dev);
typedef cu_result fn_cuDevicePrimaryCtxReset_v2(int dev);
typedef cu_result fn_cuDevicePrimaryCtxRetain(void **pctx, int dev);
typedef cu_result fn_cuDeviceSetMemPool(int dev, void *pool);
typedef cu_result fn_cuDeviceTotalMem(unsigned int *bytes, int dev);
typedef cu_result fn_cuDeviceTotalMem_v2(size_t *bytes, int dev);
typedef cu_result fn_cuEventCreate(void **ph_event, unsigned int flags);
typedef cu_result fn_cuEventSynchronize(void *h_event);
typedef cu_result fn_cuExternalMemoryGetMappedBuffer(cu_pointer *dev_ptr,
    void *ext_mem, const void *buffer_desc);
typedef cu_result fn_cuFuncLoad(void *hfunc);
typedef cu_result fn_cuGetProcAddress(const char *symbol, void **pfn,
    int driver_version, uint64_t flags);
typedef cu_result fn_cuGetProcAddress_v2(const char *symbol, void **pfn,
    int driver_version, uint64_t flags, unsigned int *symbol_found);
typedef cu_result fn_cuGraphAddMemAllocNode(void **ph_graph_node,
    void *h_graph, void *const *dependencies, size_t num_dependencies,
    void *node_params);
typedef cu_result fn_cuGraphAddMemFreeNode(void **ph_graph_node, void *h_graph,
    void *const *dependencies, size_t num_dependencies, cu_pointer dptr);
typedef cu_result fn_cuGraphAddNode(void **ph_graph_node, void *h_graph,
    void *const *dependencies, size_t num_dependencies, void *node_params);
typedef cu_result fn_cuGraphAddNode_v2(void **ph_graph_node, void *h_graph,
    void *const *dependencies, const void *dependency_data,
    size_t num_dependencies, void *node_params);
typedef cu_result fn_cuGraphAddNode_v3(void **ph_graph_node, void *h_graph,
    void *const *dependencies, const void *dependency_data,
    size_t num_dependencies, void *node_params);
typedef cu_result fn_cuGraphExecDestroy(void *h_graph_exec);
typedef cu_result fn_cuGraphInstantiate(void **ph_graph_exec, void *h_graph,
    void **ph_error_node, char *log_buffer, size_t buffer_size);
typedef cu_result fn_cuGraphInstantiateWithFlags(void **ph_graph_exec,
    void *h_graph, unsigned long long flags);
typedef cu_result fn_cuGraphInstantiateWithParams(void **ph_graph_exec,
    void *h_graph, void *instantiate_params);
typedef cu_result fn_cuGraphInstantiateWithParams_ptsz(void **ph_graph_exec,
    void *h_graph, void *instantiate_params);
typedef cu_result fn_cuGraphInstantiate_v2(void **ph_graph_exec, void *h_graph,
    void **ph_error_node, char *log_buffer, size_t buffer_size);
typedef cu_result fn_cuGraphLaunch(void *h_graph, void *h_stream);
typedef cu_result fn_cuGraphLaunch_ptsz(void *h_graph_exec, void *h_stream);
typedef cu_result fn_cuGraphUpload(void *h_graph, void *h_stream);
typedef cu_result fn_cuGraphUpload_ptsz(void *h_graph_exec, void *h_stream);
typedef cu_result fn_cuGreenCtxCreate(void **ph_ctx, void *desc, int dev,
    unsigned int flags);
typedef cu_result fn_cuImportExternalMemory(void **ext_mem_out,
    const void *mem_handle_desc);
typedef cu_result fn_cuIpcCloseMemHandle(cu_pointer dptr);
typedef cu_result fn_cuIpcOpenMemHandle(cu_pointer *pdptr,
    struct cu_ipc_handle handle, unsigned int flags);
typedef cu_result fn_cuIpcOpenMemHandle_v2(cu_pointer *pdptr,
    struct cu_ipc_handle handle, unsigned int flags);
typedef cu_result fn_cuKernelGetFunction(void **p_func, void *kernel);
typedef cu_result fn_cuLaunchCooperativeKernel(void *f,
    unsigned int grid_dim_x, unsigned int grid_dim_y, unsigned int grid_dim_z,
    unsigned int block_dim_x, unsigned int block_dim_y,
    unsigned int block_dim_z, unsigned int shared_mem_bytes, void *h_stream,
    void **kernel_params);
typedef cu_result fn_cuLaunchCooperativeKernelMultiDevice(void *launch_params_list,
    unsigned int num_devices, unsigned int flags);
typedef cu_result fn_cuLaunchCooperativeKernel_ptsz(void *f,
    unsigned int grid_dim_x, unsigned int grid_dim_y, unsigned int grid_dim_z,
    unsigned int block_dim_x, unsigned int block_dim_y,
    unsigned int block_dim_z, unsigned int shared_mem_bytes, void *h_stream,
    void **kernel_params);
typedef cu_result fn_cuLaunchKernel(void *f, unsigned int grid_dim_x,
    unsigned int grid_dim_y, unsigned int grid_dim_z, unsigned int block_dim_x,
    unsigned int block_dim_y, unsigned int block_dim_z,
    unsigned int shared_mem_bytes, void *h_stream, void **kernel_params,
    void **extra);
typedef cu_result fn_cuLaunchKernelEx(const void *config, void *f,
    void **kernel_params, void **extra);
typedef cu_result fn_cuLaunchKernelEx_ptsz(const void *config, void *f,
    void **kernel_params, void **extra);
typedef cu_result fn_cuLaunchKernel_ptsz(void *f, unsigned int grid_dim_x,
    unsigned int grid_dim_y, unsigned int grid_dim_z, unsigned int block_dim_x,
    unsigned int block_dim_y, unsigned int block_dim_z,
    unsigned int shared_mem_bytes, void *h_stream, void **kernel_params,
    void **extra);
typedef cu_result fn_cuLibraryGetModule(void **p_mod, void *library);
typedef cu_result fn_cuLibraryLoadData(void **library, const void *code,
    unsigned int *jit_options, void **jit_options_values,
    unsigned int num_jit_options, unsigned int *library_options,
    void **library_option_values, unsigned int num_library_options);
typedef cu_result fn_cuLibraryLoadFromFile(void **library,
    const char *file_name, unsigned int *jit_options,
    void **jit_options_values, unsigned int num_jit_options,
    unsigned int *library_options, void **library_option_values,
    unsigned int num_library_options);
typedef cu_result fn_cuLinkComplete(void *state, void **cubin_out,
    size_t *size_out);
typedef cu_result fn_cuMemAddressReserve(cu_pointer *ptr, size_t size,
    size_t alignment, cu_pointer addr, unsigned long long flags);
typedef cu_result fn_cuMemAlloc(unsigned int *dptr, unsigned int bytesize);
typedef cu_result fn_cuMemAllocAsync(cu_pointer *dptr, size_t bytesize,
    void *h_stream);
typedef cu_result fn_cuMemAllocAsync_ptsz(cu_pointer *dptr, size_t bytesize,
    void *h_stream);
typedef cu_result fn_cuMemAllocFromPoolAsync(cu_pointer *dptr, size_t bytesize,
    void *pool, void *h_stream);
typedef cu_result fn_cuMemAllocFromPoolAsync_ptsz(cu_pointer *dptr,
    size_t bytesize, void *pool, void *h_stream);
typedef cu_result fn_cuMemAllocHost(void **pp, unsigned int bytesize);
typedef cu_result fn_cuMemAllocHost_v2(void **pp, size_t bytesize);
typedef cu_result fn_cuMemAllocManaged(cu_pointer *dptr, size_t bytesize,
    unsigned int flags);
typedef cu_result fn_cuMemAllocPitch(unsigned int *dptr, unsigned int *p_pitch,
    unsigned int width_in_bytes, unsigned int height,
    unsigned int element_size_bytes);
typedef cu_result fn_cuMemAllocPitch_v2(cu_pointer *dptr, size_t *p_pitch,
    size_t width_in_bytes, size_t height, unsigned int element_size_bytes);
typedef cu_result fn_cuMemAlloc_v2(cu_pointer *dptr, size_t bytesize);
typedef cu_result fn_cuMemCreate(unsigned long long *handle, size_t size,
    const void *prop, unsigned long long flags);
typedef cu_result fn_cuMemFree(unsigned int dptr);
typedef cu_result fn_cuMemFreeAsync(cu_pointer dptr, void *h_stream);
typedef cu_result fn_cuMemFreeAsync_ptsz(cu_pointer dptr, void *h_stream);
typedef cu_result fn_cuMemFreeHost(void *p);
typedef cu_result fn_cuMemFree_v2(cu_pointer dptr);
typedef cu_result fn_cuMemGetDefaultMemPool(void **pool_out, void *location,
    unsigned int type);
typedef cu_result fn_cuMemGetInfo(unsigned int *free_bytes,
    unsigned int *total_bytes);
typedef cu_result fn_cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes);
typedef cu_result fn_cuMemGetMemPool(void **pool_out, void *location,
    unsigned int type);
typedef cu_result fn_cuMemHostAlloc(void **pp, size_t bytesize,
    unsigned int flags);
typedef cu_result fn_cuMemHostRegister(void *p, size_t bytesize,
    unsigned int flags);
typedef cu_result fn_cuMemHostRegister_v2(void *p, size_t bytesize,
    unsigned int flags);
typedef cu_result fn_cuMemHostUnregister(void *p);
typedef cu_result fn_cuMemImportFromShareableHandle(unsigned long long *handle,
    void *os_handle, unsigned int sh_handle_type);
typedef cu_result fn_cuMemMap(cu_pointer ptr, size_t size, size_t offset,
    unsigned long long handle, unsigned long long flags);
typedef cu_result fn_cuMemMapArrayAsync(void *map_info_list,
    unsigned int count, void *h_stream);
typedef cu_result fn_cuMemMapArrayAsync_ptsz(void *map_info_list,
    unsigned int count, void *h_stream);
typedef cu_result fn_cuMemPoolCreate(void **pool, const void *pool_props);
typedef cu_result fn_cuMemPoolDestroy(void *pool);
typedef cu_result fn_cuMemPoolImportFromShareableHandle(void **pool_out,
    void *handle, unsigned int handle_type, unsigned long long flags);
typedef cu_result fn_cuMemPoolImportPointer(cu_pointer *ptr_out, void *pool,
    void *share_data);
typedef cu_result fn_cuMemPoolTrimTo(void *pool, size_t min_bytes_to_keep);
typedef cu_result fn_cuMemRelease(unsigned long long handle);
typedef cu_result fn_cuMemRetainAllocationHandle(unsigned long long *handle,
    void *addr);
typedef cu_result fn_cuMemSetAccess(cu_pointer ptr, size_t size,
    const void *desc, size_t count);
typedef cu_result fn_cuMemSetMemPool(void *location, unsigned int type,
    void *pool);
typedef cu_result fn_cuMemUnmap(cu_pointer ptr, size_t size);
typedef cu_result fn_cuMemcpy(cu_pointer dst, cu_pointer src,
    size_t byte_count);
typedef cu_result fn_cuMemcpyAsync(cu_pointer dst, cu_pointer src,
    size_t byte_count, void *h_stream);
typedef cu_result fn_cuMemcpyAsync_ptsz(cu_pointer dst, cu_pointer src,
    size_t byte_count, void *h_stream);
typedef cu_result fn_cuMemcpyDtoHAsync_v2(void *dst_host,
    cu_pointer src_device, size_t byte_count, void *h_stream);
typedef cu_result fn_cuMemcpyDtoHAsync_v2_ptsz(void *dst_host,
    cu_pointer src_device, size_t byte_count, void *h_stream);
typedef cu_result fn_cuMemcpyDtoH_v2(void *dst_host, cu_pointer src_device,
    size_t byte_count);
typedef cu_result fn_cuMemcpyDtoH_v2_ptds(void *dst_host,
    cu_pointer src_device, size_t byte_count);
typedef cu_result fn_cuMemcpyHtoDAsync_v2(cu_pointer dst_device,
    const void *src_host, size_t byte_count, void *h_stream);
typedef cu_result fn_cuMemcpyHtoDAsync_v2_ptsz(cu_pointer dst_device,
    const void *src_host, size_t byte_count, void *h_stream);
typedef cu_result fn_cuMemcpyHtoD_v2(cu_pointer dst_device,
    const void *src_host, size_t byte_count);
typedef cu_result fn_cuMemcpyHtoD_v2_ptds(cu_pointer dst_device,
    const void *src_host, size_t byte_count);
typedef cu_result fn_cuMemcpy_ptds(cu_pointer dst, cu_pointer src,
    size_t byte_count);
typedef cu_result fn_cuMipmappedArrayCreate(void **p_handle,
    const void *p_mipmapped_array_desc, unsigned int num_mipmap_levels);
typedef cu_result fn_cuMipmappedArrayDestroy(void *h_mipmapped_array);
typedef cu_result fn_cuModuleGetFunction(void **hfunc, void *hmod,
    const char *name);
typedef cu_result fn_cuModuleLoad(void **module, const char *fname);
typedef cu_result fn_cuModuleLoadData(void **module, const void *image);
typedef cu_result fn_cuModuleLoadDataEx(void **module, const void *image,
    unsigned int num_options, unsigned int *options, void **option_values);
typedef cu_result fn_cuModuleLoadFatBinary(void **module,
    const void *fat_cubin);
typedef cu_result fn_cuMulticastCreate(unsigned long long *mc_handle,
    const void *prop);
typedef cu_result fn_cuStreamBeginCapture(void *h_stream);
typedef cu_result fn_cuStreamBeginCaptureToCig(void *h_stream,
    void *stream_cig_capture_params);
typedef cu_result fn_cuStreamBeginCaptureToCig_ptsz(void *h_stream,
    void *stream_cig_capture_params);
typedef cu_result fn_cuStreamBeginCaptureToGraph(void *h_stream, void *h_graph,
    void *const *dependencies, const void *dependency_data,
    size_t num_dependencies, unsigned int mode);
typedef cu_result fn_cuStreamBeginCaptureToGraph_ptsz(void *h_stream,
    void *h_graph, void *const *dependencies, const void *dependency_data,
    size_t num_dependencies, unsigned int mode);
typedef cu_result fn_cuStreamBeginCapture_ptsz(void *h_stream);
typedef cu_result fn_cuStreamBeginCapture_v2(void *h_stream,
    unsigned int mode);
typedef cu_result fn_cuStreamBeginCapture_v2_ptsz(void *h_stream,
    unsigned int mode);
typedef cu_result fn_cuStreamBeginRecaptureToGraph(void *h_stream,
    unsigned int mode, void *h_graph, void *callback_func, void *user_data);
typedef cu_result fn_cuStreamBeginRecaptureToGraph_ptsz(void *h_stream,
    unsigned int mode, void *h_graph, void *callback_func, void *user_data);
typedef cu_result fn_cuStreamCreate(void **ph_stream, unsigned int flags);
typedef cu_result fn_cuStreamCreateWithPriority(void **ph_stream,
    unsigned int flags, int priority);
typedef cu_result fn_cuStreamSynchronize(void *h_stream);
typedef cu_result fn_cuStreamSynchronize_ptsz(void *h_stream);
typedef unsigned int fn_nvmlDeviceGetMemoryInfo(void *device, void *memory);
typedef unsigned int fn_nvmlDeviceGetMemoryInfo_v2(void *device, void *memory);

#define HOOK_DECLARE(elf, base, version, stream) \
	extern fn_##elf elf __attribute__((visibility("default")));
HOOK_ROWS(HOOK_DECLARE)
#undef HOOK_DECLARE

/* NOLINTEND(readability-identifier-naming) */
/* clang-format on */

#endif
