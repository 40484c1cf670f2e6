/* The simulated driver itself: how it starts, contexts, names. */
/* SPDX-License-Identifier: MIT */
/* USES base */
#include "sim_case.h"

#include <pthread.h>

static void before_it_starts(const struct case_driver *cu)
{
	uint64_t pointer = 0;
	void *context = NULL;
	int count = 0;

	IS(cu->cuDeviceGetCount(&count), 3);
	IS(cu->cuDevicePrimaryCtxRetain(&context, 0), 3);
	IS(cu->cuMemAlloc_v2(&pointer, 1), 3);
	IS(cu->cuMemAlloc_v2(NULL, 1), 3);
	IS(cu->cuMemFree_v2(0), 3);
	IS(cu->cuMemFreeHost(NULL), 3);
	IS(cu->cuStreamSynchronize(NULL), 3);
	IS(cu->cuCtxSetCurrent(NULL), 3);
	IS(cu->cuInit(1), 1);
	OK(cu->cuInit(0));
	OK(cu->cuInit(0));
	OK(cu->cuDeviceGetCount(&count));
	IS(count, 2);
	IS(cu->cuMemAlloc_v2(&pointer, 1), 201);
	IS(cu->cuMemAllocAsync(&pointer, 1, NULL), 201);
	IS(cu->cuMemHostAlloc(&context, 1, 0), 201);
	IS(cu->cuCtxSynchronize(), 201);
	IS(cu->cuDeviceGet(&count, 2), 101);
}

static void devices(const struct case_driver *cu)
{
	const char *name = NULL;
	char text[32];
	size_t bytes = 0;
	int device = -1;

	OK(cu->cuInit(0));
	OK(cu->cuDeviceTotalMem_v2(&bytes, 1));
	IS(bytes, 8 * GIB);
	OK(cu->cuDeviceGetPCIBusId(text, sizeof(text), 1));
	OK(cu->cuDeviceGetByPCIBusId(&device, text));
	IS(device, 1);
	OK(cu->cuGetErrorName(2, &name));
	IS(strcmp(name, "CUDA_ERROR_OUT_OF_MEMORY"), 0);
	IS(cu->cuGetErrorName(4711, &name), 1);
}

static void a_primary_context(const struct case_driver *cu)
{
	void *context = NULL;
	void *again = NULL;
	uint64_t pointer;
	unsigned int flags = 1;
	int active = -1;

	case_begin(cu);
	IS(case_used(cu), GIB + CONTEXT);
	OK(cu->cuDevicePrimaryCtxRetain(&context, 0));
	OK(cu->cuCtxGetCurrent(&again));
	IS(context == again, 1);
	IS(case_used(cu), GIB + CONTEXT);
	pointer = case_alloc(cu, MIB);
	OK(cu->cuDevicePrimaryCtxRelease_v2(0));
	IS(case_taken(cu), 2 * MIB);
	OK(cu->cuDevicePrimaryCtxRelease_v2(0));
	IS(cu->cuDevicePrimaryCtxRelease_v2(0), 201);
	OK(cu->cuDevicePrimaryCtxGetState(0, &flags, &active));
	IS(active, 0);
	IS(case_alloc_result(cu, 1), 709);
	OK(cu->cuDevicePrimaryCtxRetain(&context, 0));
	IS(case_taken(cu), 0);
	IS(cu->cuMemFree_v2(pointer), 1);
	(void)case_alloc(cu, MIB);
	OK(cu->cuDevicePrimaryCtxReset_v2(0));
	OK(cu->cuDevicePrimaryCtxRetain(&context, 0));
	IS(case_taken(cu), 0);
}

/* All that is in a context goes with it, and nothing else. */
static void a_context_ends(const struct case_driver *cu)
{
	const struct case_array what = { 1024, 1024, 0, 0x20, 1, 0 };
	uint64_t pointer = 0;
	void *context = NULL;
	void *handle = NULL;

	case_begin(cu);
	(void)case_alloc(cu, 2 * MIB);
	OK(cu->cuCtxCreate_v2(&context, 0, 0));
	IS(case_taken(cu), 2 * MIB + CONTEXT);
	(void)case_alloc(cu, 8 * MIB);
	OK(cu->cuMemAllocAsync(&pointer, MIB, NULL));
	OK(cu->cuArray3DCreate_v2(&handle, &what));
	OK(cu->cuMemHostAlloc(&handle, MIB, 0));
	OK(cu->cuStreamCreate(&handle, 0));
	IS(case_taken(cu), 46 * MIB + CONTEXT);
	OK(cu->cuCtxDestroy_v2(context));
	IS(cu->cuStreamSynchronize(handle), 400);
	OK(cu->cuStreamSynchronize(NULL));
	IS(case_taken(cu), 2 * MIB);
	IS(cu->cuMemFreeAsync(pointer, NULL), 1);
	IS(cu->cuCtxDestroy_v2(context), 709);
	OK(cu->cuCtxSetCurrent(context));
	IS(case_alloc_result(cu, 1), 709);
	IS(cu->cuCtxSetCurrent(&pointer), 201);
}

static void the_stack(const struct case_driver *cu)
{
	void *contexts[2] = { NULL };
	void *found = NULL;
	int device = -1;

	OK(cu->cuInit(0));
	IS(cu->cuCtxPopCurrent_v2(&found), 201);
	for (int i = 0; i < 2; i++)
		OK(cu->cuDevicePrimaryCtxRetain(&contexts[i], i));
	OK(cu->cuCtxPushCurrent_v2(contexts[0]));
	OK(cu->cuCtxPushCurrent_v2(contexts[1]));
	OK(cu->cuCtxGetDevice(&device));
	IS(device, 1);
	OK(cu->cuCtxPopCurrent_v2(&found));
	IS(found == contexts[1], 1);
	OK(cu->cuCtxGetDevice(&device));
	IS(device, 0);
	OK(cu->cuCtxSetCurrent(NULL));
	OK(cu->cuCtxGetCurrent(&found));
	IS(found == NULL, 1);
}

static void *without_context(void *data)
{
	const struct case_driver *cu = data;
	void *context = &context;

	OK(cu->cuCtxGetCurrent(&context));
	IS(context == NULL, 1);
	IS(case_alloc_result(cu, 1), 201);
	return NULL;
}

static void threads(const struct case_driver *cu)
{
	struct case_driver copy = *cu;
	pthread_t thread;

	case_begin(cu);
	OK(pthread_create(&thread, NULL, without_context, &copy));
	OK(pthread_join(thread, NULL));
}

static void forked(const struct case_driver *cu)
{
	int status = -1;
	pid_t pid;

	case_begin(cu);
	pid = fork();
	IS(pid >= 0, 1);
	if (pid == 0) {
		IS(cu->cuInit(0), 3);
		IS(case_alloc_result(cu, 1), 3);
		IS(cu->cuCtxSynchronize(), 3);
		_exit(0);
	}
	IS(waitpid(pid, &status, 0), pid);
	OK(status);
	IS(case_taken(cu), 0);
}

static void what_a_name_means(const struct case_driver *cu)
{
	static const struct {
		const char *base;
		int version;
		uint64_t flags;
		const char *elf; /* NULL: none */
		int result, status;
	} rows[] = {
		{ "cuMemAlloc", 2000, 0, "cuMemAlloc", 0, 0 },
		{ "cuMemAlloc", 3010, 0, "cuMemAlloc", 0, 0 },
		{ "cuMemAlloc", 3020, 0, "cuMemAlloc_v2", 0, 0 },
		{ "cuMemAlloc", 13000, 2, "cuMemAlloc_v2", 0, 0 },
		{ "cuMemAlloc", 13060, 0, NULL, 1, 77 },
		{ "cuGraphAddNode", 13030, 0, "cuGraphAddNode_v2", 0, 0 },
		{ "cuGraphAddNode", 13050, 0, "cuGraphAddNode_v3", 0, 0 },
		{ "cuMemAlloc_v2", 13000, 0, NULL, 0, 1 },
		{ "cuMemAllocAsync", 11010, 0, NULL, 0, 2 },
		{ "cuMemAllocAsync", 11020, 1, "cuMemAllocAsync", 0, 0 },
		{ "cuMemAllocAsync", 11020, 2, "cuMemAllocAsync_ptsz", 0, 0 },
		{ "cuLaunchKernel", 6050, 2, NULL, 0, 2 },
		{ "cuLaunchKernel", 7000, 2, "cuLaunchKernel_ptsz", 0, 0 },
		{ "cuCtxCreate", 12050, 0, "cuCtxCreate_v4", 0, 0 },
		{ "cuGetProcAddress", 11030, 0, "cuGetProcAddress", 0, 0 },
		{ "cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2", 0, 0 },
		{ "cuFlyToTheMoon", 13000, 0, NULL, 0, 1 },
		{ "", 0, 0, NULL, 0, 1 },
		{ "cuInit", 13000, 3, NULL, 1, 77 },
	};
	const void *table = &table;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const void *wanted =
			rows[i].elf ? dlsym(cu->library, rows[i].elf) : NULL;
		void *found = NULL;
		int status = 77;

		(void)fprintf(stderr, "  %s %d\n", rows[i].base,
			      rows[i].version);
		IS(cu->cuGetProcAddress_v2(rows[i].base, &found,
					   rows[i].version, rows[i].flags,
					   &status),
		   rows[i].result);
		IS(found == wanted, 1);
		IS(status, rows[i].status);
	}
	OK(cu->cuGetProcAddress_v2("cuInit", (void *[]){ NULL }, 13000, 0,
				   NULL));
	IS(cu->cuGetExportTable(&table, "0123456789abcdef"), 1);
	IS(table == NULL, 1);
}

static void the_driver(void **state)
{
	static const struct case_row rows[] = {
		{ "before it starts", before_it_starts, NULL },
		{ "devices", devices, NULL },
		{ "a primary context", a_primary_context, NULL },
		{ "a context ends", a_context_ends, NULL },
		{ "the stack", the_stack, NULL },
		{ "threads", threads, NULL },
		{ "forked", forked, NULL },
		{ "names", what_a_name_means, NULL },
	};

	case_play(*state, CASE_DRIVER, rows, sizeof(rows) / sizeof(*rows));
}

/* The driver of CUDA 11.2: the same memory, fewer names. */
static void the_old_one(const struct case_driver *cu)
{
	uint64_t pointer = 0;
	int version = 0;

	IS(cu->cuGetProcAddress_v2 == NULL, 1);
	IS(dlsym(cu->library, "cuGetProcAddress") == NULL, 1);
	IS(cu->cuGraphAddMemAllocNode == NULL, 1);
	IS(dlsym(cu->library, "cuLibraryLoadData") == NULL, 1);
	OK(cu->cuDriverGetVersion(&version));
	IS(version, 11020);
	case_begin(cu);
	pointer = case_alloc(cu, MIB);
	IS(case_taken(cu), 2 * MIB);
	OK(cu->cuMemFree_v2(pointer));
	OK(cu->cuMemAllocAsync_ptsz(&pointer, MIB, NULL));
	IS(case_taken(cu), 32 * MIB);
}

static void the_old_driver(void **state)
{
	static const struct case_row rows[] = {
		{ "CUDA 11.2", the_old_one, NULL },
	};

	case_play(*state, CASE_OLD_DRIVER, rows, sizeof(rows) / sizeof(*rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_driver, scratch_make,
						scratch_remove),
		cmocka_unit_test_setup_teardown(the_old_driver, scratch_make,
						scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
