/* The script of the simulated driver: who is told what, and when. */
/* SPDX-License-Identifier: MIT */
/* USES base */
#include "sim_case.h"

#include <time.h>

#define CALLS 12

/* Allocations of 2 MiB one after the other: what each answered. */
static void expect_answers(const struct case_driver *cu, const char *wanted)
{
	char found[CALLS + 1] = "";

	for (size_t i = 0; wanted[i]; i++) {
		int result = case_alloc_result(cu, 2 * MIB);

		if (result == 999)
			found[i] = 'L';
		else
			found[i] = "01234"[result % 5];
		found[i + 1] = '\0';
	}
	if (strcmp(found, wanted) != 0)
		(void)fprintf(stderr, "%s, not %s\n", found, wanted);
	IS(strcmp(found, wanted), 0);
}

static void the_second_and_fifth(const struct case_driver *cu)
{
	case_begin(cu);
	expect_answers(cu, "020020");
	IS(case_taken(cu), 8 * MIB);
}

static void all_from_the_third(const struct case_driver *cu)
{
	case_begin(cu);
	expect_answers(cu, "00222");
}

static void the_first_large_one(const struct case_driver *cu)
{
	case_begin(cu);
	expect_answers(cu, "00");
	OK(case_alloc_result(cu, 20 * MIB));
	IS(case_alloc_result(cu, 20 * MIB + 1), 2);
	OK(case_alloc_result(cu, 20 * MIB + 1));
}

static void another_tenant(const struct case_driver *cu)
{
	case_begin(cu);
	expect_answers(cu, "0");
	IS(case_taken(cu), 2 * MIB);
	expect_answers(cu, "0");
	IS(case_taken(cu), 4 * MIB + 3 * GIB);
	expect_answers(cu, "0");
	IS(case_taken(cu), 6 * MIB + 3 * GIB);
}

/* A retry always helps, and about a third of the others fail. */
static void by_chance(const struct case_driver *cu)
{
	int failed = 0;

	case_begin(cu);
	for (int i = 0; i < 1000; i++) {
		if (!case_alloc_result(cu, 2 * MIB))
			continue;
		failed++;
		OK(case_alloc_result(cu, 2 * MIB));
	}
	IS(failed > 200 && failed < 400, 1);
	IS(case_taken(cu), 2000 * MIB);
}

/* Every kind of device memory is an allocation to the script. */
static void each_kind_is_counted(const struct case_driver *cu)
{
	const struct case_virtual where = { .type = 1, .location_type = 1 };
	const struct case_array what = { 16, 16, 0, 0x20, 1, 0 };
	struct case_node node = { .bytes = 1 };
	unsigned int low = 0;
	uint64_t pointer = 0;
	size_t pitch = 0;
	void *handle = NULL;
	void *graph = NULL;

	case_begin(cu);
	node.pool.location_type = 1;
	OK(cu->cuGraphCreate(&graph, 0));
	IS(cu->cuMemAlloc_v2(&pointer, 1), 2);
	IS(cu->cuMemAlloc(&low, 1), 2);
	IS(cu->cuMemAllocPitch_v2(&pointer, &pitch, 1, 1, 4), 2);
	IS(cu->cuMemAllocManaged(&pointer, 1, 1), 2);
	IS(cu->cuMemAllocAsync(&pointer, 1, NULL), 2);
	IS(cu->cuMemCreate(&pointer, 2 * MIB, &where, 0), 2);
	IS(cu->cuArray3DCreate_v2(&handle, &what), 2);
	IS(cu->cuMipmappedArrayCreate(&handle, &what, 1), 2);
	IS(cu->cuGraphAddMemAllocNode(&handle, graph, NULL, 0, &node), 2);
	IS(case_taken(cu), 0);
	OK(cu->cuMemHostAlloc(&handle, 1, 0));
}

static void pinned_memory(const struct case_driver *cu)
{
	static char own[16];
	void *pointer = NULL;

	case_begin(cu);
	OK(cu->cuMemHostAlloc(&pointer, 1, 0));
	IS(cu->cuMemHostRegister_v2(own, sizeof(own), 0), 2);
	OK(cu->cuMemHostRegister_v2(own, sizeof(own), 0));
	(void)case_alloc(cu, 1);
}

/* A function of a module. */
static void *function_of(const struct case_driver *cu)
{
	void *module = NULL;
	void *function = NULL;

	OK(cu->cuModuleLoadData(&module, "code"));
	OK(cu->cuModuleGetFunction(&function, module, "kernel"));
	return function;
}

static int launch(const struct case_driver *cu, void *function)
{
	return cu->cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL,
				  NULL);
}

static void launches(const struct case_driver *cu)
{
	void *function;

	case_begin(cu);
	function = function_of(cu);
	OK(launch(cu, function));
	IS(launch(cu, function), 2);
	OK(launch(cu, function));
	IS(launch(cu, NULL), 400);
	IS(cu->cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
	   1);
	IS(cu->cuLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, NULL, NULL,
			      NULL),
	   1);
}

static void code_that_is_loaded_late(const struct case_driver *cu)
{
	void *context = NULL;
	void *function;

	case_begin(cu);
	function = function_of(cu);
	IS(case_taken(cu), 0);
	for (int i = 1; i <= 5; i++) {
		OK(launch(cu, function));
		IS(case_taken(cu), (i < 3 ? 20 : 50) * MIB);
	}
	OK(cu->cuDevicePrimaryCtxReset_v2(0));
	OK(cu->cuDevicePrimaryCtxRetain(&context, 0));
	IS(case_taken(cu), 0);
}

/* No room for the code is out of memory in a launch. */
static void no_room_for_code(const struct case_driver *cu)
{
	void *function;

	case_begin(cu);
	function = function_of(cu);
	(void)case_alloc(cu, 22 * GIB);
	IS(launch(cu, function), 2);
	IS(launch(cu, function), 2);
	IS(case_taken(cu), 22 * GIB);
}

static void modules(const struct case_driver *cu)
{
	void *module = NULL;

	case_begin(cu);
	OK(cu->cuModuleLoadData(&module, "code"));
	IS(cu->cuModuleLoadData(&module, NULL), 1);
	IS(cu->cuModuleLoadData(&module, "code"), 2);
	OK(cu->cuModuleLoadData(&module, "code"));
	OK(cu->cuModuleUnload(module));
	IS(cu->cuModuleUnload(module), 400);
}

static void contexts(const struct case_driver *cu)
{
	void *context = NULL;

	OK(cu->cuInit(0));
	IS(cu->cuDevicePrimaryCtxRetain(&context, 0), 2);
	IS(cu->cuCtxCreate_v2(&context, 0, 0), 2);
}

static void a_lost_device(const struct case_driver *cu)
{
	void *event = NULL;
	void *function;

	case_begin(cu);
	function = function_of(cu);
	OK(cu->cuEventCreate(&event, 0));
	OK(cu->cuEventRecord(event, NULL));
	OK(launch(cu, function));
	expect_answers(cu, "0");
	OK(cu->cuEventSynchronize(event));
	expect_answers(cu, "LL");
	IS(launch(cu, function), 719);
	IS(cu->cuStreamSynchronize(NULL), 719);
	IS(cu->cuEventSynchronize(event), 719);
	IS(cu->cuCtxSynchronize(), 719);
}

static void a_slow_driver(const struct case_driver *cu)
{
	struct timespec start;
	struct timespec end;

	case_begin(cu);
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	expect_answers(cu, "00000");
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	IS((end.tv_sec - start.tv_sec) * 1000 +
			   (end.tv_nsec - start.tv_nsec) / 1000000 >=
		   50,
	   1);
}

/* A second process after this one: what its allocations answer. */
static void in_another(const struct case_driver *cu, const char *rank,
		       const char *wanted)
{
	int status = -1;
	pid_t pid = fork();

	IS(pid >= 0, 1);
	if (pid == 0) {
		OK(setenv("RANK", rank, 1));
		case_begin(cu);
		expect_answers(cu, wanted);
		_exit(0);
	}
	IS(waitpid(pid, &status, 0), pid);
	OK(status);
}

static void over_processes(const struct case_driver *cu)
{
	in_another(cu, "0", "00");
	in_another(cu, "1", "20");
	in_another(cu, "0", "000");
}

static void of_one_rank(const struct case_driver *cu)
{
	in_another(cu, "0", "00000");
	in_another(cu, "1", "0020");
	in_another(cu, "11", "00000");
}

static void of_each_process(const struct case_driver *cu)
{
	in_another(cu, "0", "0020");
	in_another(cu, "1", "0020");
}

static void another_rank_starts(const struct case_driver *cu)
{
	OK(setenv("RANK", "1", 1));
	OK(cu->cuInit(0));
}

static void that_rank_does_not(const struct case_driver *cu)
{
	OK(setenv("RANK", "2", 1));
	IS(cu->cuInit(0), 803);
}

static void the_script(void **state)
{
	static const struct case_row rows[] = {
		{ "fail_alloc", the_second_and_fifth,
		  "fail_alloc=2,fail_alloc=5" },
		{ "fail_from", all_from_the_third, "mig,fail_from=3" },
		{ "fail_over", the_first_large_one, "fail_over=20M" },
		{ "tenant_grows", another_tenant, "tenant_grows=3G@2" },
		{ "random", by_chance, "random=42,0.3" },
		{ "every kind", each_kind_is_counted, "fail_from=1" },
		{ "oom_host", pinned_memory, "oom_host=2" },
		{ "oom_launch", launches, "oom_launch=2" },
		{ "module, grow", code_that_is_loaded_late,
		  "module=20M,grow=30M@3" },
		{ "no room for code", no_room_for_code, "module=1G" },
		{ "oom_module", modules, "oom_module=2" },
		{ "oom_context", contexts, "oom_context" },
		{ "lost", a_lost_device, "lost=3" },
		{ "latency_us", a_slow_driver, "latency_us=10000" },
		{ "over processes", over_processes, "fail_alloc=3" },
		{ "only_rank", of_one_rank, "only_rank=1,fail_alloc=3" },
		{ "per_process", of_each_process, "fail_alloc=3,per_process" },
		{ "another rank starts", another_rank_starts,
		  "only_rank=2,init=803" },
		{ "that rank does not", that_rank_does_not,
		  "only_rank=2,init=803" },
	};

	case_play(*state, CASE_DRIVER, rows, sizeof(rows) / sizeof(*rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_script, scratch_make,
						scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
