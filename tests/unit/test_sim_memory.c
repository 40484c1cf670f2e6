/* Memory of the simulated driver: what each path takes and gives back. */
/* SPDX-License-Identifier: MIT */
/* USES base */
#include "sim_case.h"

#include <time.h>

#define POOL_STEP (32 * MIB)
#define MANY 100000

enum pool_attribute {
	THRESHOLD = 4,
	RESERVED = 5,
	RESERVED_HIGH = 6,
	USED = 7,
	USED_HIGH = 8,
};

static const struct case_virtual on_device = { .type = 1, .location_type = 1 };

static void linear_memory(const struct case_driver *cu)
{
	uint64_t pointer = 0;

	case_begin(cu);
	IS(cu->cuMemAlloc_v2(&pointer, 0), 1);
	IS(cu->cuMemAlloc_v2(NULL, 1), 1);
	IS(case_taken(cu), 0);
	pointer = case_alloc(cu, 1);
	IS(case_taken(cu), 2 * MIB);
	IS(case_alloc(cu, 2 * MIB + 1) != pointer, 1);
	IS(case_taken(cu), 6 * MIB);
	IS(cu->cuMemFree_v2(pointer + 1), 1);
	OK(cu->cuMemFree_v2(pointer));
	IS(cu->cuMemFree_v2(pointer), 1);
	IS(case_taken(cu), 4 * MIB);
	OK(cu->cuMemFree_v2(0));
	IS(cu->cuMemFree_v2(12345), 1);
}

static void the_last_byte(const struct case_driver *cu)
{
	size_t free_bytes = 0;
	uint64_t pointer;

	case_begin(cu);
	OK(cu->cuMemGetInfo_v2(&free_bytes, NULL));
	IS(free_bytes, 24 * GIB - GIB - CONTEXT);
	IS(case_alloc_result(cu, free_bytes + 1), 2);
	IS(case_alloc_result(cu, UINT64_MAX), 2);
	pointer = case_alloc(cu, free_bytes);
	IS(case_alloc_result(cu, 1), 2);
	OK(cu->cuMemFree_v2(pointer));
	(void)case_alloc(cu, free_bytes);
}

static void pitched_memory(const struct case_driver *cu)
{
	static const struct {
		size_t width, height, pitch;
	} rows[] = {
		{ 1, 1, 512 },
		{ 512, 3, 512 },
		{ 513, 8192, 1024 },
	};
	uint64_t pointer = 0;
	size_t pitch = 0;

	case_begin(cu);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		OK(cu->cuMemAllocPitch_v2(&pointer, &pitch, rows[i].width,
					  rows[i].height, 4));
		IS(pitch, rows[i].pitch);
		IS(case_taken(cu), i < 2 ? 2 * MIB : 8 * MIB);
		OK(cu->cuMemFree_v2(pointer));
	}
	IS(cu->cuMemAllocPitch_v2(&pointer, &pitch, 1, 0, 4), 1);
	IS(cu->cuMemAllocPitch_v2(&pointer, &pitch, 1, 1, 5), 1);
	IS(case_taken(cu), 0);
}

static void old_names(const struct case_driver *cu)
{
	unsigned int pointer = 0;

	case_begin(cu);
	OK(cu->cuMemAlloc(&pointer, 3 * MIB));
	IS(pointer != 0, 1);
	IS(case_taken(cu), 4 * MIB);
	OK(cu->cuMemFree(pointer));
	IS(cu->cuMemFree(pointer), 1);
	IS(case_taken(cu), 0);
}

static void managed_memory(const struct case_driver *cu)
{
	unsigned int is_managed = 0;
	uint64_t pointer = 0;

	case_begin(cu);
	IS(cu->cuMemAllocManaged(&pointer, MIB, 0), 1);
	OK(cu->cuMemAllocManaged(&pointer, 100 * GIB, 1));
	IS(case_taken(cu), 0);
	memset((char *)(uintptr_t)pointer + 50 * GIB, 1, 4096);
	OK(cu->cuPointerGetAttribute(&is_managed, 8, pointer));
	IS(is_managed, 1);
	OK(cu->cuMemFree_v2(pointer));
}

static uint64_t pool_value(const struct case_driver *cu, void *pool,
			   enum pool_attribute attribute)
{
	uint64_t value = 0;

	OK(cu->cuMemPoolGetAttribute(pool, (int)attribute, &value));
	return value;
}

static void the_default_pool(const struct case_driver *cu)
{
	uint64_t keep = 64 * MIB;
	uint64_t small = 0;
	uint64_t large = 0;
	uint64_t none = 0;
	void *pool = NULL;

	case_begin(cu);
	OK(cu->cuDeviceGetDefaultMemPool(&pool, 0));
	IS(cu->cuMemAllocAsync(&small, 0, NULL), 1);
	OK(cu->cuMemAllocAsync(&small, MIB, NULL));
	OK(cu->cuMemAllocAsync_ptsz(&large, 70 * MIB, NULL));
	IS(pool_value(cu, pool, USED), 71 * MIB);
	IS(pool_value(cu, pool, RESERVED), 3 * POOL_STEP);
	IS(case_taken(cu), 3 * POOL_STEP);
	OK(cu->cuMemFreeAsync(large, NULL));
	IS(pool_value(cu, pool, USED), MIB);
	IS(pool_value(cu, pool, USED_HIGH), 71 * MIB);
	IS(case_taken(cu), 3 * POOL_STEP);
	OK(cu->cuMemPoolSetAttribute(pool, THRESHOLD, &keep));
	OK(cu->cuStreamSynchronize(NULL));
	IS(case_taken(cu), 2 * POOL_STEP);
	OK(cu->cuMemPoolTrimTo(pool, 0));
	IS(case_taken(cu), POOL_STEP);
	OK(cu->cuMemFree_v2(small));
	OK(cu->cuMemPoolTrimTo(pool, 0));
	IS(case_taken(cu), 0);
	IS(pool_value(cu, pool, RESERVED_HIGH), 3 * POOL_STEP);
	OK(cu->cuMemPoolSetAttribute(pool, RESERVED_HIGH, &none));
	IS(pool_value(cu, pool, RESERVED_HIGH), 0);
	IS(cu->cuMemPoolSetAttribute(pool, RESERVED_HIGH, &keep), 1);
	IS(cu->cuMemPoolDestroy(pool), 1);
}

static void pools_of_its_own(const struct case_driver *cu)
{
	const struct case_pool what = { .type = 1,
					.location_type = 1,
					.location = 1,
					.max_bytes = 40 * MIB };
	uint64_t pointer = 0;
	void *found = NULL;
	void *pool = NULL;
	void *context = NULL;

	case_begin(cu);
	OK(cu->cuMemPoolCreate(&pool, &what));
	IS(cu->cuDeviceSetMemPool(0, pool), 1);
	OK(cu->cuDeviceSetMemPool(1, pool));
	OK(cu->cuDeviceGetMemPool(&found, 1));
	IS(found == pool, 1);
	IS(cu->cuMemAllocFromPoolAsync(&pointer, 41 * MIB, pool, NULL), 2);
	OK(cu->cuMemAllocFromPoolAsync(&pointer, 40 * MIB, pool, NULL));
	IS(pool_value(cu, pool, RESERVED), 40 * MIB);
	IS(case_taken(cu), 0);
	OK(cu->cuMemPoolDestroy(pool));
	IS(cu->cuMemAllocFromPoolAsync(&pointer, 1, pool, NULL), 1);
	OK(cu->cuCtxCreate_v2(&context, 0, 1));
	IS(case_used(cu), 64 * MIB - 24 * MIB);
	OK(cu->cuMemFreeAsync(pointer, NULL));
	IS(case_used(cu), 0);
}

/* A range, two handles in it, and what is left after each step. */
static void virtual_memory(const struct case_driver *cu)
{
	const uint64_t size = 4 * MIB;
	uint64_t handles[2] = { 0 };
	uint64_t range = 0;
	uint64_t again = 0;
	size_t granule = 0;
	int access[3] = { 1, 0, 3 };

	case_begin(cu);
	OK(cu->cuMemGetAllocationGranularity(&granule, &on_device, 0));
	IS(granule, 2 * MIB);
	IS(cu->cuMemCreate(&handles[0], granule + 1, &on_device, 0), 1);
	OK(cu->cuMemAddressReserve(&range, 100 * GIB, 0, 0, 0));
	IS(case_taken(cu), 0);
	for (uint64_t i = 0; i < 2; i++) {
		OK(cu->cuMemCreate(&handles[i], size, &on_device, 0));
		OK(cu->cuMemMap(range + i * size, size, 0, handles[i], 0));
	}
	IS(cu->cuMemMap(range, size, 0, handles[1], 0), 1);
	IS(cu->cuMemMap(range - size, size, 0, handles[1], 0), 1);
	OK(cu->cuMemSetAccess(range, 2 * size, access, 1));
	IS(cu->cuMemSetAccess(range, 3 * size, access, 1), 1);
	IS(case_taken(cu), 2 * size);
	/* It is mapped, so it stays; a new reference to it too. */
	OK(cu->cuMemRelease(handles[0]));
	IS(cu->cuMemRelease(handles[0]), 1);
	OK(cu->cuMemRetainAllocationHandle(&again, range + 1));
	IS(again == handles[0], 1);
	IS(cu->cuMemAddressFree(range, 100 * GIB), 1);
	IS(cu->cuMemUnmap(range, size / 2), 1);
	OK(cu->cuMemUnmap(range, 2 * size));
	IS(case_taken(cu), 2 * size);
	OK(cu->cuMemRelease(again));
	IS(case_taken(cu), size);
	OK(cu->cuMemRelease(handles[1]));
	IS(case_taken(cu), 0);
	OK(cu->cuMemAddressFree(range, 100 * GIB));
}

static void a_shared_handle(const struct case_driver *cu)
{
	uint64_t handle = 0;
	uint64_t other = 0;
	int fd = -1;

	case_begin(cu);
	OK(cu->cuMemCreate(&handle, 2 * MIB, &on_device, 0));
	OK(cu->cuMemExportToShareableHandle(&fd, handle, 1, 0));
	OK(cu->cuMemImportFromShareableHandle(&other, fd, 1));
	IS(case_taken(cu), 2 * MIB);
	OK(cu->cuMemRelease(other));
	IS(case_taken(cu), 2 * MIB);
	OK(cu->cuMemRelease(handle));
	IS(case_taken(cu), 0);
	IS(cu->cuMemImportFromShareableHandle(&other, 0, 1), 1);
}

static void arrays(const struct case_driver *cu)
{
	/* Half floats, 4 channels: 8 bytes an element. */
	const struct case_array what = { 1024, 1024, 0, 0x10, 4, 0 };
	const struct case_array wrong = { 1024, 1024, 0, 0x77, 4, 0 };
	void *array = NULL;
	void *mipmapped = NULL;

	case_begin(cu);
	IS(cu->cuArray3DCreate_v2(&array, &wrong), 1);
	OK(cu->cuArray3DCreate_v2(&array, &what));
	IS(case_taken(cu), 8 * MIB);
	OK(cu->cuMipmappedArrayCreate(&mipmapped, &what, 2));
	IS(case_taken(cu), 18 * MIB);
	IS(cu->cuArrayDestroy(mipmapped), 400);
	OK(cu->cuMipmappedArrayDestroy(mipmapped));
	OK(cu->cuArrayDestroy(array));
	IS(cu->cuArrayDestroy(array), 400);
	IS(case_taken(cu), 0);
}

static void host_memory(const struct case_driver *cu)
{
	static char own[8192];
	unsigned int type = 0;
	uint64_t same = 0;
	void *pointer = NULL;

	case_begin(cu);
	IS(cu->cuMemHostAlloc(&pointer, 0, 0), 1);
	OK(cu->cuMemHostAlloc(&pointer, MIB, 0));
	memset(pointer, 1, MIB);
	OK(cu->cuPointerGetAttribute(&type, 2, (uintptr_t)pointer));
	IS(type, 1);
	OK(cu->cuMemFreeHost(pointer));
	IS(cu->cuMemFreeHost(pointer), 1);
	OK(cu->cuMemHostRegister_v2(own, sizeof(own), 0));
	IS(cu->cuMemHostRegister_v2(own + 100, 100, 0), 712);
	OK(cu->cuMemHostGetDevicePointer_v2(&same, own + 1, 0));
	IS(same == (uintptr_t)own + 1, 1);
	OK(cu->cuMemHostUnregister(own));
	IS(cu->cuMemHostGetDevicePointer_v2(&same, own, 0), 1);
	IS(cu->cuMemHostUnregister(own), 713);
	IS(case_taken(cu), 0);
}

static void addresses(const struct case_driver *cu)
{
	char bytes[16];
	uint64_t pointer;
	uint64_t base = 0;
	size_t size = 0;
	unsigned int type = 0;
	int device = -1;

	case_begin(cu);
	pointer = case_alloc(cu, 1000);
	OK(cu->cuMemGetAddressRange_v2(&base, &size, pointer + 999));
	IS(base == pointer, 1);
	IS(size, 1000);
	IS(cu->cuMemGetAddressRange_v2(&base, &size, 4096), 500);
	OK(cu->cuPointerGetAttribute(&type, 2, pointer + 1));
	IS(type, 2);
	OK(cu->cuPointerGetAttribute(&device, 9, pointer));
	IS(device, 0);
	IS(cu->cuPointerGetAttribute(&device, 9, (uintptr_t)bytes), 1);
	OK(cu->cuMemcpyHtoD_v2(pointer, bytes, sizeof(bytes)));
	OK(cu->cuMemcpyDtoHAsync_v2(bytes, pointer, sizeof(bytes), NULL));
	IS(cu->cuMemcpyHtoD_v2(12345, bytes, 1), 1);
	IS(cu->cuMemcpyHtoD_v2(pointer, NULL, 1), 1);
	IS(cu->cuMemcpyDtoHAsync_v2(bytes, pointer, 1, bytes), 400);
	OK(cu->cuMemsetD32Async(pointer, 0, 250, NULL));
	IS(cu->cuMemsetD32Async(pointer, 0, 1U << 20, NULL), 1);
}

/* As a program with a hundred thousand tensors does. */
static void many(const struct case_driver *cu)
{
	static uint64_t pointers[MANY];
	struct timespec start;
	struct timespec end;

	case_begin(cu);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	for (size_t i = 0; i < MANY; i++)
		OK(cu->cuMemAllocAsync(&pointers[i], 1024, NULL));
	for (size_t i = 0; i < MANY; i++)
		OK(cu->cuMemFreeAsync(pointers[i * 77773 % MANY], NULL));
	for (size_t i = 0; i < MANY; i++)
		OK(cu->cuMemFree_v2(case_alloc(cu, 20 * MIB)));
	/* More addresses than there are, were they not used again. */
	for (int i = 0; i < 1000; i++)
		OK(cu->cuMemFree_v2(case_alloc(cu, 20 * GIB)));
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	OK(cu->cuCtxSynchronize());
	IS(case_taken(cu), 0);
	/* A second of the processor is plenty, whatever else runs; a list
	 * that is searched takes minutes. */
	IS(end.tv_sec - start.tv_sec < 20, 1);
}

static void each_path(void **state)
{
	static const struct case_row rows[] = {
		{ "linear", linear_memory, NULL },
		{ "the last byte", the_last_byte, NULL },
		{ "pitched", pitched_memory, NULL },
		{ "32 bits", old_names, NULL },
		{ "managed", managed_memory, NULL },
		{ "the default pool", the_default_pool, NULL },
		{ "other pools", pools_of_its_own, NULL },
		{ "virtual", virtual_memory, NULL },
		{ "a shared handle", a_shared_handle, NULL },
		{ "arrays", arrays, NULL },
		{ "pinned", host_memory, NULL },
		{ "addresses", addresses, NULL },
		{ "many", many, NULL },
	};

	case_play(*state, CASE_DRIVER, rows, sizeof(rows) / sizeof(*rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_path, scratch_make,
						scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
