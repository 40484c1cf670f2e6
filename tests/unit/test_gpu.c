/* GPUs as autofit sees them, against simulated NVIDIA libraries. */
/* SPDX-License-Identifier: MIT */
/* USES probes base */
#include "probes/observers/gpu/gpu.h"

#include "base/units.h"
#include "probes/observers/gpu/cuda_api.h"
#include "probes/observers/gpu/nvml_api.h"
#include "probes/observers/gpu/nvml_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define FIRST_UUID "GPU-516d0000-0000-4000-8000-000000000001"
#define SECOND_UUID "GPU-516d0000-0000-4000-8000-000000000002"
#define TENANTS_MAX 40
/* Long enough for a slow machine, short enough to wait for a hang. */
#define SHORT_MS 1500

static const struct cuda_lookup impatient = {
	CUDA_LIBRARY, SHORT_MS, SHORT_MS, { 0 }
};

struct fixture {
	char folder[64];
	pid_t tenants[TENANTS_MAX];
	int tenant_count;
};

static void set(const char *name, const char *value)
{
	assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

/* A fresh machine: 8 GiB of which 1 GiB is held, and 4 GiB. */
static int make_machine(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char path[128];

	assert_non_null(fixture);
	(void)snprintf(fixture->folder, sizeof(fixture->folder),
		       "/tmp/autofit-test-gpu-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	(void)snprintf(path, sizeof(path), "%s/state", fixture->folder);
	set("AUTOFIT_SIM_STATE", path);
	set("AUTOFIT_SIM_DEVICES", "Sim A100:8G:1G:64M;Sim T4:4G:0:0");
	set("AUTOFIT_SIM_FAULT", NULL);
	set("CUDA_VISIBLE_DEVICES", NULL);
	*state = fixture;
	return 0;
}

static void end_tenants(struct fixture *fixture)
{
	while (fixture->tenant_count) {
		pid_t pid = fixture->tenants[--fixture->tenant_count];

		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
}

static int remove_machine(void **state)
{
	struct fixture *fixture = *state;
	char command[128];

	end_tenants(fixture);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'",
		       fixture->folder);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

/* A function of the driver, as a program finds it. */
static void find_function(void *slot, void *library, const char *symbol)
{
	void *found = library ? dlsym(library, symbol) : NULL;

	if (!found)
		_exit(1);
	memcpy(slot, &found, sizeof(found));
}

__attribute__((noreturn)) static void be_tenant(uint64_t bytes, int ready)
{
	void *library = dlopen(CUDA_LIBRARY, RTLD_NOW);
	int (*init)(unsigned int);
	int (*retain)(void **, int);
	int (*set_current)(void *);
	int (*allocate)(unsigned long long *, size_t);
	unsigned long long pointer = 0;
	void *context = NULL;
	char answer = 'y';

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	find_function(&init, library, "cuInit");
	find_function(&retain, library, "cuDevicePrimaryCtxRetain");
	find_function(&set_current, library, "cuCtxSetCurrent");
	find_function(&allocate, library, "cuMemAlloc_v2");
	if (init(0) || retain(&context, 0) || set_current(context) ||
	    (bytes && allocate(&pointer, bytes)))
		answer = 'n';
	(void)!write(ready, &answer, 1);
	for (;;)
		(void)pause();
}

/* A forked process that holds bytes on the first device; 'n': refused. */
static char add_tenant(struct fixture *fixture, uint64_t bytes, pid_t *pid)
{
	char answer = 0;
	int ends[2];

	assert_true(fixture->tenant_count < TENANTS_MAX);
	assert_int_equal(pipe(ends), 0);
	*pid = fork();
	assert_true(*pid >= 0);
	if (*pid == 0)
		be_tenant(bytes, ends[1]);
	fixture->tenants[fixture->tenant_count++] = *pid;
	(void)close(ends[1]);
	assert_int_equal(read(ends[0], &answer, 1), 1);
	(void)close(ends[0]);
	return answer;
}

static void devices_are_listed(void **state)
{
	static struct gpu_device devices[GPU_MAX];
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(cuda_devices_list(devices, NULL, &err), 2);
	assert_int_equal(err.code, 0);
	assert_string_equal(devices[0].name, "Sim A100");
	assert_string_equal(devices[0].uuid, FIRST_UUID);
	assert_int_equal(devices[0].index, 0);
	assert_int_equal(devices[0].total_bytes, 8 * GIB);
	assert_int_equal(devices[0].free_bytes, 7 * GIB);
	assert_string_equal(devices[1].name, "Sim T4");
	assert_string_equal(devices[1].uuid, SECOND_UUID);
	assert_int_equal(devices[1].index, 1);
	assert_int_equal(devices[1].total_bytes, 4 * GIB);
	assert_int_equal(devices[1].free_bytes, 4 * GIB);
}

/* Of an instance, the two functions of the driver say different things. */
static void a_mig_instance_is_told_by_its_uuid(void **state)
{
	static struct gpu_device devices[GPU_MAX];

	(void)state;
	set("AUTOFIT_SIM_FAULT", "mig");
	assert_int_equal(cuda_devices_list(devices, NULL, NULL), 2);
	assert_string_equal(devices[0].uuid,
			    "MIG-516d0000-0000-4000-8000-000000000001");
}

static void only_visible_devices_are_listed(void **state)
{
	static const struct {
		const char *visible;
		int count;
		const char *first;
	} rows[] = {
		{ "1", 1, "Sim T4" },
		{ "1,0", 2, "Sim T4" },
		{ "0,9,1", 1, "Sim A100" },
		{ SECOND_UUID, 1, "Sim T4" },
		{ "", 0, "" },
		{ "-1", 0, "" },
	};
	static struct gpu_device devices[GPU_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("visible: '%s'\n", rows[i].visible);
		set("CUDA_VISIBLE_DEVICES", rows[i].visible);
		assert_int_equal(cuda_devices_list(devices, NULL, NULL),
				 rows[i].count);
		if (rows[i].count)
			assert_string_equal(devices[0].name, rows[i].first);
	}
}

static void a_broken_driver_is_named(void **state)
{
	static const struct {
		const char *fault;
		int result;
		const char *words;
	} rows[] = {
		{ "crash", -EIO, "crashed while listing devices (signal 11)" },
		{ "name=crash", -EIO, "(signal 6)" },
		{ "exit", -EIO, "ended the process that lists devices" },
		{ "hang", -ETIMEDOUT, "did not answer within 1.5 s" },
		{ "init=803", -EIO,
		  "CUDA error 803 (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH); the "
		  "driver was updated while loaded; reboot" },
		{ "init=999", -EIO, "CUDA error 999 (CUDA_ERROR_UNKNOWN)" },
		{ "init=12345", -EIO, "CUDA error 12345 (no name for it)" },
		{ "init=34", -EIO, "stub of libcuda.so.1" },
		{ "init=808", -EIO, "MPS daemon" },
		{ "init=100", 0, "" },
		{ "nvml=missing", 2, "" },
		{ "nvml=hang", 2, "" },
	};
	static struct gpu_device devices[GPU_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct error err = ERROR_INIT;

		print_message("fault: %s\n", rows[i].fault);
		set("AUTOFIT_SIM_FAULT", rows[i].fault);
		assert_int_equal(
			cuda_devices_look_up(&impatient, devices, &err),
			rows[i].result);
		assert_non_null(strstr(err.message, rows[i].words));
		/* Beside a context of its own, the driver tells as well. */
		if (rows[i].result == 2) {
			assert_int_equal(devices[0].free_source,
					 GPU_FREE_DRIVER);
			assert_int_equal(devices[0].free_bytes,
					 7 * GIB - 64 * MIB);
		}
		/* It is reaped, hanging or not. */
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
		assert_int_equal(errno, ECHILD);
	}
}

static void a_library_may_be_missing_or_broken(void **state)
{
	const struct fixture *fixture = *state;
	static struct gpu_device devices[GPU_MAX];
	struct error err = ERROR_INIT;
	struct cuda_lookup lookup = {
		"libautofit-none.so.1", SHORT_MS, SHORT_MS, { 0 }
	};
	struct nvml_library *nvml = NULL;
	char path[128];
	int fd;

	assert_int_equal(cuda_devices_look_up(&lookup, devices, &err), 0);
	assert_int_equal(err.code, 0);
	assert_int_equal(nvml_library_open(&nvml, lookup.library, &err),
			 -ENOENT);

	(void)snprintf(path, sizeof(path), "%s/empty.so", fixture->folder);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	(void)close(fd);
	lookup.library = path;
	assert_int_equal(cuda_devices_look_up(&lookup, devices, &err), -EIO);
	assert_non_null(strstr(err.message, "file too short"));

	/* Each is a library, but not the one that is looked for. */
	lookup.library = NVML_LIBRARY;
	assert_int_equal(cuda_devices_look_up(&lookup, devices, &err), -EIO);
	assert_non_null(strstr(err.message, "lacks functions"));
	assert_int_equal(nvml_library_open(&nvml, CUDA_LIBRARY, &err), -EIO);
	assert_non_null(strstr(err.message, "lacks functions"));
	assert_null(nvml);
}

static void the_child_is_quiet_and_leaves_others_alone(void **state)
{
	const struct fixture *fixture = *state;
	static struct gpu_device devices[GPU_MAX];
	int kept[2] = { dup(1), dup(2) };
	struct stat info;
	char path[128];
	int status = 0;
	int count, fd;
	pid_t other;

	other = fork();
	if (other == 0)
		_exit(7);
	(void)snprintf(path, sizeof(path), "%s/output", fixture->folder);
	fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	(void)fflush(stdout);
	assert_int_equal(dup2(fd, 1), 1);
	assert_int_equal(dup2(fd, 2), 2);
	set("AUTOFIT_SIM_FAULT", "noise");
	count = cuda_devices_list(devices, NULL, NULL);
	(void)dup2(kept[0], 1);
	(void)dup2(kept[1], 2);
	(void)close(kept[0]);
	(void)close(kept[1]);
	assert_int_equal(count, 2);
	assert_int_equal(fstat(fd, &info), 0);
	assert_int_equal(info.st_size, 0);
	(void)close(fd);
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(WEXITSTATUS(status), 7);
}

static void closed_descriptors_do_no_harm(void **state)
{
	static struct gpu_device devices[GPU_MAX];
	int kept = dup(0);
	int count;

	(void)state;
	/* The pipe would be descriptor 0, which the child gives away. */
	(void)close(0);
	count = cuda_devices_list(devices, NULL, NULL);
	(void)dup2(kept, 0);
	(void)close(kept);
	assert_int_equal(count, 2);
}

static struct nvml_library *open_nvml(void)
{
	struct error err = ERROR_INIT;
	struct nvml_library *nvml = NULL;

	assert_int_equal(nvml_library_open(&nvml, NVML_LIBRARY, &err), 0);
	return nvml;
}

static void memory_is_read(void **state)
{
	static const char *const faults[] = { "", "nvml=old" };
	struct gpu_memory memory = { 0 };
	struct error err = ERROR_INIT;
	struct nvml_library *nvml;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		set("AUTOFIT_SIM_FAULT", faults[i]);
		nvml = open_nvml();
		assert_int_equal(
			nvml_library_memory(nvml, FIRST_UUID, &memory, &err),
			0);
		assert_int_equal(memory.total_bytes, 8 * GIB);
		assert_int_equal(memory.free_bytes, 7 * GIB);
		assert_int_equal(
			nvml_library_memory(nvml, "GPU-none", &memory, &err),
			-ENODEV);
		assert_non_null(strstr(err.message, "GPU-none"));
		assert_non_null(strstr(err.message, "Not Found"));
		nvml_library_close(nvml);
	}
	set("AUTOFIT_SIM_FAULT", "nvml=missing");
	nvml = NULL;
	assert_int_equal(nvml_library_open(&nvml, NVML_LIBRARY, &err), -ENOENT);
	assert_null(nvml);
	nvml_library_close(NULL);
}

static const struct gpu_process *
find_process(const struct gpu_process *processes, int count, pid_t pid)
{
	for (int i = 0; i < count; i++)
		if (processes[i].pid == pid)
			return &processes[i];
	return NULL;
}

static void processes_are_listed(void **state)
{
	/* Each driver writes elements of another size. */
	static const char *const faults[] = { "", "nvml=old", "nvml=wide" };
	struct fixture *fixture = *state;
	static struct gpu_process processes[GPU_PROCESSES_MAX];
	const struct gpu_process *one, *two;
	struct nvml_library *nvml = open_nvml();
	pid_t first, second;

	assert_int_equal(
		nvml_library_processes(nvml, FIRST_UUID, processes, NULL), 0);
	assert_int_equal(add_tenant(fixture, 100 * MIB, &first), 'y');
	assert_int_equal(add_tenant(fixture, 1 * MIB, &second), 'y');
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		print_message("fault: '%s'\n", faults[i]);
		set("AUTOFIT_SIM_FAULT", faults[i]);
		assert_int_equal(nvml_library_processes(nvml, FIRST_UUID,
							processes, NULL),
				 2);
		one = find_process(processes, 2, first);
		two = find_process(processes, 2, second);
		assert_non_null(one);
		assert_non_null(two);
		/* The context, and what was asked for in pieces of 2 MiB. */
		assert_int_equal(one->used_bytes, 164 * MIB);
		assert_int_equal(two->used_bytes, 66 * MIB);
		assert_int_equal(one->is_compute, 1);
		assert_int_equal(nvml_library_processes(nvml, SECOND_UUID,
							processes, NULL),
				 0);
	}
	assert_int_equal(
		nvml_library_processes(nvml, "GPU-none", processes, NULL),
		-ENODEV);
	nvml_library_close(nvml);
}

static void the_dead_release_their_memory(void **state)
{
	struct fixture *fixture = *state;
	static struct gpu_process processes[GPU_PROCESSES_MAX];
	struct nvml_library *nvml = open_nvml();
	struct gpu_memory memory = { 0 };
	pid_t pid;

	/* 7 GiB are free, with a context of 64 MiB each: one fits, not two. */
	assert_int_equal(add_tenant(fixture, 4 * GIB, &pid), 'y');
	assert_int_equal(add_tenant(fixture, 4 * GIB, &pid), 'n');
	assert_int_equal(nvml_library_memory(nvml, FIRST_UUID, &memory, NULL),
			 0);
	assert_int_equal(memory.free_bytes, 7 * GIB - 4 * GIB - 128 * MIB);
	end_tenants(fixture);
	assert_int_equal(
		nvml_library_processes(nvml, FIRST_UUID, processes, NULL), 0);
	assert_int_equal(nvml_library_memory(nvml, FIRST_UUID, &memory, NULL),
			 0);
	assert_int_equal(memory.free_bytes, 7 * GIB);
	assert_int_equal(add_tenant(fixture, 4 * GIB, &pid), 'y');
	nvml_library_close(nvml);
}

static void long_lists_and_displays_are_read(void **state)
{
	struct fixture *fixture = *state;
	static struct gpu_process processes[GPU_PROCESSES_MAX];
	const struct gpu_process *display;
	struct nvml_library *nvml = open_nvml();
	char fault[64];
	pid_t pid = 0;

	for (int i = 0; i < TENANTS_MAX; i++)
		assert_int_equal(add_tenant(fixture, 0, &pid), 'y');
	(void)snprintf(fault, sizeof(fault), "display=%d", (int)getpid());
	set("AUTOFIT_SIM_FAULT", fault);
	assert_int_equal(
		nvml_library_processes(nvml, FIRST_UUID, processes, NULL),
		TENANTS_MAX + 1);
	assert_non_null(find_process(processes, TENANTS_MAX + 1, pid));
	display = find_process(processes, TENANTS_MAX + 1, getpid());
	assert_non_null(display);
	assert_int_equal(display->is_compute, 0);
	assert_int_equal(display->used_bytes, 0);
	/* One that computes and draws is one process, and computes. */
	(void)snprintf(fault, sizeof(fault), "display=%d", (int)pid);
	set("AUTOFIT_SIM_FAULT", fault);
	assert_int_equal(
		nvml_library_processes(nvml, FIRST_UUID, processes, NULL),
		TENANTS_MAX);
	display = find_process(processes, TENANTS_MAX, pid);
	assert_non_null(display);
	assert_int_equal(display->is_compute, 1);
	assert_int_equal(display->used_bytes, 64 * MIB);
	nvml_library_close(nvml);
}

static void put_file(const struct fixture *fixture, const char *name,
		     const char *text)
{
	char command[512];
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", fixture->folder, name);
	(void)snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\"",
		       path);
	assert_int_equal(system(command), 0);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void identities_need_no_driver_library(void **state)
{
	const struct fixture *fixture = *state;
	static struct gpu_device devices[GPU_MAX];
	char cut[32];

	assert_int_equal(gpu_identities(fixture->folder, devices), 0);
	put_file(fixture, "driver/nvidia/gpus/0000:81:00.0/information",
		 "Model: \t\t NVIDIA T4\nIRQ:   \t\t 9\n"
		 "GPU UUID: \t GPU-\?\?\?\?\?\?\?\?-\?\?\?\?-"
		 "\?\?\?\?-\?\?\?\?-\?\?\?\?\?\?\?\?\?\?\?\?\n");
	put_file(fixture, "driver/nvidia/gpus/0000:01:00.0/information",
		 "Model: \t\t NVIDIA H200 \nIRQ:   \t\t 42\n"
		 "GPU UUID: \t " FIRST_UUID "\nVideo BIOS: \t 1\n");
	put_file(fixture, "driver/nvidia/gpus/0000:02:00.0/information",
		 "nothing to see\n");
	put_file(fixture, "driver/nvidia/gpus/0000:c1:00.0/information",
		 "Model: \t evil\x1b[2J");
	put_file(fixture, "driver/nvidia/gpus/0000:c2:00.0/power", "");
	assert_int_equal(gpu_identities(fixture->folder, devices), 3);
	assert_string_equal(devices[0].name, "NVIDIA H200");
	assert_string_equal(devices[0].uuid, FIRST_UUID);
	assert_int_equal(devices[0].index, 0);
	assert_string_equal(devices[1].name, "NVIDIA T4");
	assert_string_equal(devices[1].uuid, "");
	assert_int_equal(devices[1].index, 1);
	(void)snprintf(cut, sizeof(cut), "%s", devices[2].name);
	assert_string_equal(cut, "evil?[2J");
}

/* What the black-box tests rely on: a peak known to the byte. */
static void the_trainer_runs_out_where_it_should(void **state)
{
	/* 7 GiB free, less a context of 64 MiB, less 1 GiB fixed. */
	static const struct {
		int batch_size, exit_status;
		const char *words;
	} rows[] = {
		{ 16, 0, "step 3/3" },
		{ 95, 0, "step 3/3" },
		{ 96, 1,
		  "CUDA out of memory. Tried to allocate 20.00 MiB. "
		  "GPU 0 has a total capacity of 8.00 GiB of which" },
	};
	const struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char command[512];
		char output[4096];
		size_t length;
		int status;
		FILE *stream;

		(void)snprintf(command, sizeof(command),
			       "%s/sim/sim_trainer --batch-size %d --steps 3 "
			       "--grad-accum 2 --fixed-mib 1024 "
			       "--per-sample-kib 65536 > '%s/log' 2>&1",
			       TEST_BINARY_DIR, rows[i].batch_size,
			       fixture->folder);
		status = system(command);
		assert_int_equal(WEXITSTATUS(status), rows[i].exit_status);
		(void)snprintf(command, sizeof(command), "%s/log",
			       fixture->folder);
		stream = fopen(command, "r");
		assert_non_null(stream);
		length = fread(output, 1, sizeof(output) - 1, stream);
		output[length] = '\0';
		(void)fclose(stream);
		assert_non_null(strstr(output, rows[i].words));
	}
}

/* The loader reads LD_LIBRARY_PATH once, when the program starts. */
static void start_with_simulation(char **argv)
{
	static const char folder[] = TEST_BINARY_DIR "/sim";
	const char *path = getenv("LD_LIBRARY_PATH");

	if (path && strcmp(path, folder) == 0)
		return;
	if (setenv("LD_LIBRARY_PATH", folder, 1) == 0)
		(void)execv("/proc/self/exe", argv);
	perror("cannot start with the simulated libraries");
	exit(1);
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, make_machine, remove_machine)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(devices_are_listed),
		TEST(a_mig_instance_is_told_by_its_uuid),
		TEST(only_visible_devices_are_listed),
		TEST(a_broken_driver_is_named),
		TEST(a_library_may_be_missing_or_broken),
		TEST(the_child_is_quiet_and_leaves_others_alone),
		TEST(closed_descriptors_do_no_harm),
		TEST(memory_is_read),
		TEST(processes_are_listed),
		TEST(the_dead_release_their_memory),
		TEST(long_lists_and_displays_are_read),
		TEST(identities_need_no_driver_library),
		TEST(the_trainer_runs_out_where_it_should),
	};

	(void)argc;
	start_with_simulation(argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
