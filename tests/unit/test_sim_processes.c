/* The simulated devices as several processes and NVML see them. */
/* SPDX-License-Identifier: MIT */
/* USES base */
#include "sim_case.h"

#include <errno.h>

/* In a process of its own, from its start on; its answer is 'y'. */
static pid_t start_other(const struct case_driver *cu, uint64_t bytes)
{
	char answer = 0;
	int ends[2];
	pid_t pid;

	OK(pipe(ends));
	pid = fork();
	IS(pid >= 0, 1);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		case_begin(cu);
		(void)case_alloc(cu, bytes);
		IS(write(ends[1], "y", 1), 1);
		for (;;)
			(void)pause();
	}
	(void)close(ends[1]);
	IS(read(ends[0], &answer, 1), 1);
	(void)close(ends[0]);
	return pid;
}

/* Before it is reaped too. */
static void the_dead_have_nothing(const struct case_driver *cu)
{
	siginfo_t info;
	pid_t one = start_other(cu, 10 * GIB);
	pid_t other = start_other(cu, 10 * GIB);

	case_begin(cu);
	IS(case_taken(cu), 20 * GIB + 2 * CONTEXT);
	IS(case_alloc_result(cu, 4 * GIB), 2);
	OK(kill(one, SIGKILL));
	OK(waitid(P_PID, (id_t)one, &info, WEXITED | WNOWAIT));
	(void)case_alloc(cu, 4 * GIB);
	IS(case_taken(cu), 14 * GIB + CONTEXT);
	OK(kill(other, SIGKILL));
	OK(waitid(P_PID, (id_t)other, &info, WEXITED | WNOWAIT));
	IS(case_taken(cu), 4 * GIB);
}

/* More processes one after the other than there is room for at once. */
static void a_crowd(const struct case_driver *cu)
{
	for (int i = 0; i < 200; i++) {
		int status = -1;
		pid_t pid = fork();

		IS(pid >= 0, 1);
		if (pid == 0) {
			case_begin(cu);
			(void)case_alloc(cu, 20 * GIB);
			_exit(0);
		}
		IS(waitpid(pid, &status, 0), pid);
		OK(status);
	}
}

static void memory_of_another_process(const struct case_driver *cu)
{
	struct case_ipc handle;
	uint64_t pointer = 0;
	int status = -1;
	int ends[2];
	pid_t pid;

	OK(pipe(ends));
	pid = fork();
	IS(pid >= 0, 1);
	if (pid == 0) {
		IS(read(ends[0], &handle, sizeof(handle)), sizeof(handle));
		case_begin(cu);
		IS(case_taken(cu), GIB + CONTEXT);
		OK(cu->cuIpcOpenMemHandle_v2(&pointer, handle, 1));
		IS(case_taken(cu), GIB + CONTEXT);
		OK(cu->cuIpcCloseMemHandle(pointer));
		IS(cu->cuIpcCloseMemHandle(pointer), 1);
		_exit(0);
	}
	case_begin(cu);
	OK(cu->cuIpcGetMemHandle(&handle, case_alloc(cu, GIB)));
	IS(cu->cuIpcOpenMemHandle_v2(&pointer, handle, 1), 201);
	IS(write(ends[1], &handle, sizeof(handle)), sizeof(handle));
	IS(waitpid(pid, &status, 0), pid);
	OK(status);
	IS(case_taken(cu), GIB);
}

/* What it held before is not in the way of the second one. */
static void it_becomes_another_program(const struct case_driver *cu)
{
	case_begin(cu);
	(void)case_alloc(cu, 20 * GIB);
	OK(setenv("LD_LIBRARY_PATH", TEST_BINARY_DIR "/sim", 1));
	(void)execl(TEST_BINARY_DIR "/sim/sim_trainer", "sim_trainer",
		    "--fixed-mib", "8192", "--steps", "1", (char *)NULL);
	IS(errno, 0);
}

/* Whoever made it pays for it. */
static void memory_of_others(const struct case_driver *cu)
{
	const struct case_external what = { .type = 1, .bytes = GIB };
	const struct case_buffer part = { .offset = MIB, .bytes = MIB };
	const struct case_buffer beyond = { .offset = MIB, .bytes = GIB };
	char shared[64];
	uint64_t pointer = 0;
	uint64_t same = 0;
	void *external = NULL;
	void *pool = NULL;
	int fd = -1;

	case_begin(cu);
	OK(cu->cuImportExternalMemory(&external, &what));
	IS(cu->cuExternalMemoryGetMappedBuffer(&pointer, external, &beyond), 1);
	OK(cu->cuExternalMemoryGetMappedBuffer(&pointer, external, &part));
	OK(cu->cuMemFree_v2(pointer));
	OK(cu->cuDestroyExternalMemory(external));
	IS(cu->cuDestroyExternalMemory(external), 400);
	IS(case_taken(cu), 0);
	OK(cu->cuDeviceGetDefaultMemPool(&pool, 0));
	OK(cu->cuMemAllocAsync(&pointer, MIB, NULL));
	OK(cu->cuMemPoolExportPointer(shared, pointer));
	OK(cu->cuMemPoolExportToShareableHandle(&fd, pool, 1, 0));
	OK(cu->cuMemPoolImportFromShareableHandle(&pool, fd, 1, 0));
	OK(cu->cuMemPoolImportPointer(&same, pool, shared));
	IS(case_taken(cu), 32 * MIB);
	OK(cu->cuMemFreeAsync(same, NULL));
	IS(case_taken(cu), 32 * MIB);
	OK(cu->cuMemFreeAsync(pointer, NULL));
	OK(cu->cuCtxSynchronize());
	IS(case_taken(cu), 0);
}

/* NVML as a program of its own asks it. */
struct nvml {
	int (*init)(void);
	int (*count)(unsigned int *);
	int (*by_index)(unsigned int, void **);
	int (*by_uuid)(const char *, void **);
	int (*uuid)(void *, char *, unsigned int);
	int (*memory)(void *, uint64_t *);
	int (*processes)(void *, unsigned int *, void *);
};

struct nvml_process {
	unsigned int pid;
	unsigned long long used;
	unsigned int instances[2];
};

static void open_nvml(struct nvml *nvml)
{
	static const char *const names[] = {
		"nvmlInit_v2",
		"nvmlDeviceGetCount_v2",
		"nvmlDeviceGetHandleByIndex_v2",
		"nvmlDeviceGetHandleByUUID",
		"nvmlDeviceGetUUID",
		"nvmlDeviceGetMemoryInfo",
		"nvmlDeviceGetComputeRunningProcesses_v3",
	};
	void *library = case_open(CASE_NVML);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *found = dlsym(library, names[i]);

		IS(found != NULL, 1);
		memcpy((char *)nvml + i * sizeof(found), &found, sizeof(found));
	}
}

static void what_nvml_sees(const struct case_driver *cu)
{
	struct nvml_process process = { 0 };
	uint64_t memory[3]; /* total, free, used */
	uint64_t handle = 0;
	unsigned int count = 1;
	struct nvml nvml;
	void *device = NULL;
	void *same = NULL;
	char uuid[64];
	const struct case_virtual what = { .type = 1, .location_type = 1 };

	open_nvml(&nvml);
	IS(nvml.count(&count), 1);
	OK(nvml.init());
	OK(nvml.count(&count));
	IS(count, 2);
	IS(nvml.by_index(2, &device), 2);
	OK(nvml.by_index(0, &device));
	OK(nvml.uuid(device, uuid, sizeof(uuid)));
	OK(nvml.by_uuid(uuid, &same));
	IS(device == same, 1);
	case_begin(cu);
	(void)case_alloc(cu, MIB);
	OK(cu->cuMemAllocAsync(&handle, MIB, NULL));
	OK(cu->cuMemCreate(&handle, 4 * MIB, &what, 0));
	OK(nvml.memory(device, memory));
	IS(memory[0], 24 * GIB);
	IS(memory[2], case_used(cu));
	count = 1;
	OK(nvml.processes(device, &count, &process));
	IS(count, 1);
	IS(process.pid, getpid());
	IS(process.used, CONTEXT + 38 * MIB);
	OK(nvml.by_index(1, &device));
	OK(nvml.processes(device, &count, &process));
	IS(count, 0);
}

static void who_has_what(void **state)
{
	static const struct case_row rows[] = {
		{ "the dead", the_dead_have_nothing, NULL },
		{ "a crowd", a_crowd, NULL },
		{ "another process", memory_of_another_process, NULL },
		{ "another program", it_becomes_another_program, NULL },
		{ "others", memory_of_others, NULL },
		{ "NVML", what_nvml_sees, NULL },
	};

	case_play(*state, CASE_DRIVER, rows, sizeof(rows) / sizeof(*rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_has_what, scratch_make,
						scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
