/* Other tenants of a GPU before a tuning, over a simulated NVML. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/admission/neighbours.h"

#include "base/units.h"

#include <dlfcn.h>
#include <errno.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define FIRST_UUID "GPU-516d0000-0000-4000-8000-000000000001"
#define TENANTS_MAX 8
#define NO_USER 54321

struct fixture {
	char folder[64];
	struct memory_target target;
	struct options options;
	struct error err;
	pid_t tenants[TENANTS_MAX];
	int tenant_count;
};

static void set(const char *name, const char *value)
{
	assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

static void open_target(struct fixture *fixture)
{
	struct memory_target *target = &fixture->target;
	int count;

	memory_target_release(target);
	memset(target, 0, sizeof(*target));
	target->device = PROBE_CUDA;
	target->assumes_exact = true;
	count = cuda_devices_list(target->gpus, NULL, NULL);
	assert_int_equal(count, 2);
	target->gpu_count = (size_t)count;
	assert_int_equal(nvml_open(&target->nvml, target->gpus,
				   target->gpu_count, NULL, NULL),
			 0);
}

static int make_machine(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char path[128];

	assert_non_null(fixture);
	(void)snprintf(fixture->folder, sizeof(fixture->folder),
		       "/tmp/autofit-test-neighbours-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	(void)snprintf(path, sizeof(path), "%s/state", fixture->folder);
	set("AUTOFIT_SIM_STATE", path);
	set("AUTOFIT_SIM_DEVICES", "Sim A100:80G:512M:640M;Sim T4:16G:0:640M");
	set("AUTOFIT_SIM_FAULT", NULL);
	set("CUDA_VISIBLE_DEVICES", NULL);
	open_target(fixture);
	*state = fixture;
	return 0;
}

static int remove_machine(void **state)
{
	struct fixture *fixture = *state;
	char command[128];

	while (fixture->tenant_count) {
		pid_t pid = fixture->tenants[--fixture->tenant_count];

		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	memory_target_release(&fixture->target);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'",
		       fixture->folder);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

/* Who computes, where, and under what name and user. */
struct tenant {
	int device;
	uint64_t bytes;
	const char *name;
	uid_t user; /* 0: ours */
};

static void find_function(void *slot, void *library, const char *symbol)
{
	void *found = library ? dlsym(library, symbol) : NULL;

	if (!found)
		_exit(1);
	memcpy(slot, &found, sizeof(found));
}

__attribute__((noreturn)) static void be_tenant(const struct tenant *tenant,
						int ready)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned int);
	int (*retain)(void **, int);
	int (*set_current)(void *);
	int (*allocate)(unsigned long long *, size_t);
	unsigned long long pointer = 0;
	void *context = NULL;
	char answer = 'y';

	find_function(&init, library, "cuInit");
	find_function(&retain, library, "cuDevicePrimaryCtxRetain");
	find_function(&set_current, library, "cuCtxSetCurrent");
	find_function(&allocate, library, "cuMemAlloc_v2");
	if (init(0) || retain(&context, tenant->device) ||
	    set_current(context) ||
	    (tenant->bytes && allocate(&pointer, tenant->bytes)))
		answer = 'n';
	if (tenant->name && prctl(PR_SET_NAME, tenant->name) < 0)
		answer = 'n';
	if (tenant->user && setresuid(tenant->user, tenant->user, tenant->user))
		answer = 'n';
	/* A change of user takes this back, so it is asked for last. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)!write(ready, &answer, 1);
	for (;;)
		(void)pause();
}

static pid_t add_tenant(struct fixture *fixture, const struct tenant *tenant)
{
	char answer = 0;
	int ends[2];
	pid_t pid;

	assert_true(fixture->tenant_count < TENANTS_MAX);
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		be_tenant(tenant, ends[1]);
	fixture->tenants[fixture->tenant_count++] = pid;
	(void)close(ends[1]);
	assert_int_equal(read(ends[0], &answer, 1), 1);
	assert_int_equal(answer, 'y');
	(void)close(ends[0]);
	return pid;
}

static int check(struct fixture *fixture)
{
	memset(&fixture->err, 0, sizeof(fixture->err));
	return neighbours_check(&fixture->target, &fixture->options,
				&fixture->err);
}

static void assert_refused(struct fixture *fixture, const char *words)
{
	assert_int_equal(check(fixture), -EBUSY);
	assert_int_equal(fixture->err.code, -EBUSY);
	if (!strstr(fixture->err.message, words))
		fail_msg("'%s' is not in: %s", words, fixture->err.message);
	assert_null(strchr(fixture->err.message, '\n'));
	assert_null(strchr(fixture->err.message, '\x1b'));
	assert_non_null(strstr(fixture->err.message, "--shared"));
}

static void a_free_gpu_is_free(void **state)
{
	static const char *const faults[] = { "", "nvml=old", "nvml=hidden",
					      "display=1" };
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		print_message("fault: '%s'\n", faults[i]);
		set("AUTOFIT_SIM_FAULT", faults[i]);
		open_target(fixture);
		assert_int_equal(check(fixture), 0);
		assert_int_equal(fixture->err.code, 0);
		assert_int_equal(fixture->target.limit_bytes, 0);
	}
}

static void a_tenant_is_named(void **state)
{
	struct fixture *fixture = *state;
	const struct tenant tenant = { 0, 3 * GIB, "train", 0 };
	const struct passwd *me = getpwuid(geteuid());
	pid_t pid = add_tenant(fixture, &tenant);
	char words[512];

	assert_non_null(me);
	(void)snprintf(words, sizeof(words),
		       "GPU 0 (Sim A100, " FIRST_UUID ") is in use: pid %d "
		       "(%s, train) 3.62 GiB; probing beside it would not be "
		       "safe: wait, choose another with --device cuda:1, or "
		       "share it with --shared",
		       (int)pid, me->pw_name);
	assert_refused(fixture, words);
	assert_string_equal(fixture->err.message, words);
	fixture->target.may_be_host = true;
	assert_refused(fixture, "a training without a GPU: --device host");
	/* One that draws as well still computes. */
	(void)snprintf(words, sizeof(words), "display=%d", (int)pid);
	set("AUTOFIT_SIM_FAULT", words);
	open_target(fixture);
	assert_refused(fixture, "3.62 GiB");
}

static void names_from_outside_are_harmless(void **state)
{
	struct fixture *fixture = *state;
	const struct tenant tenant = { 0, 0, "a\nb\x1b[2J\xff", 0 };

	(void)add_tenant(fixture, &tenant);
	assert_refused(fixture, ", a\\x0ab\\x1b[2J\\xff) 640 MiB;");
}

static void a_user_without_a_name_has_a_number(void **state)
{
	struct fixture *fixture = *state;
	const struct tenant tenant = { 0, 0, "train", NO_USER };

	if (geteuid() != 0 || getpwuid(NO_USER))
		skip();
	(void)add_tenant(fixture, &tenant);
	assert_refused(fixture, "(user 54321, train) 640 MiB;");
}

static void many_tenants_are_counted(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 5; i++) {
		const struct tenant tenant = { 0, 0, "t", 0 };

		(void)add_tenant(fixture, &tenant);
	}
	assert_refused(fixture, " and 2 more; probing");
}

static void the_gpu_in_use_is_named(void **state)
{
	struct fixture *fixture = *state;
	const struct tenant second = { 1, 0, "t", 0 };
	const struct tenant first = { 0, 0, "t", 0 };

	(void)add_tenant(fixture, &second);
	assert_refused(fixture, "GPU 1 (Sim T4, ");
	assert_non_null(strstr(fixture->err.message, "--device cuda:0,"));
	(void)add_tenant(fixture, &first);
	assert_refused(fixture, "GPU 0 (Sim A100, ");
	assert_non_null(strstr(fixture->err.message, "--device cuda:N,"));
}

static void pids_of_other_places_are_told(void **state)
{
	static const struct {
		const char *fault, *words;
	} rows[] = {
		{ "nvml=host_pids", " (not visible from here) 640 MiB;" },
		{ "nvml=hidden,tenant=5000001,tenant_bytes=13207024435",
		  "pid 5000001 (not visible from here) 12.3 GiB;" },
		{ "nvml=hidden,tenant=5000001",
		  "pid 5000001 (not visible from here) of memory not known;" },
		{ "nvml=hidden,tenant=1", "pid 1 (" },
	};
	struct fixture *fixture = *state;
	const struct tenant tenant = { 0, 0, "t", 0 };

	(void)add_tenant(fixture, &tenant);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		set("AUTOFIT_SIM_FAULT", rows[i].fault);
		open_target(fixture);
		assert_refused(fixture, rows[i].words);
	}
}

/* What a desktop keeps there is missing anyway, and it stays. */
static void a_small_process_is_base_load(void **state)
{
	struct fixture *fixture = *state;
	char words[96];

	(void)snprintf(words, sizeof(words), "tenant=%d,tenant_bytes=200M",
		       (int)getpid());
	set("AUTOFIT_SIM_FAULT", words);
	open_target(fixture);
	assert_int_equal(check(fixture), 0);
	(void)snprintf(words, sizeof(words), "tenant=%d,tenant_bytes=513M",
		       (int)getpid());
	set("AUTOFIT_SIM_FAULT", words);
	open_target(fixture);
	assert_refused(fixture, "513 MiB");
}

/* In a container NVML leaves out who is not of it. */
static void memory_that_nobody_has_is_somebodys(void **state)
{
	struct fixture *fixture = *state;
	const struct tenant tenant = { 0, 18 * GIB, "t", 0 };

	(void)add_tenant(fixture, &tenant);
	set("AUTOFIT_SIM_FAULT", "nvml=hidden");
	open_target(fixture);
	assert_refused(fixture, "19.1 GiB of it are used by nobody who is "
				"listed here");
	assert_true(fixture->target.assumes_exact);
	fixture->options.probe.shared = true;
	assert_int_equal(check(fixture), 0);
	assert_false(fixture->target.assumes_exact);
	fixture->options.probe.shared = false;
	/* A display whose bytes are not known may have it. */
	set("AUTOFIT_SIM_FAULT", "nvml=hidden,display=1");
	open_target(fixture);
	assert_int_equal(check(fixture), 0);
}

static void a_mig_instance_is_asked_by_its_name(void **state)
{
	struct fixture *fixture = *state;
	const struct tenant tenant = { 0, 0, "t", 0 };

	set("AUTOFIT_SIM_FAULT", "mig");
	open_target(fixture);
	assert_int_equal(check(fixture), 0);
	(void)add_tenant(fixture, &tenant);
	assert_refused(fixture, "GPU 0 (Sim A100, MIG-516d0000-");
}

static void the_mps_server_is_nobody(void **state)
{
	struct fixture *fixture = *state;
	const struct tenant server = { 0, 0, "nvidia-cuda-mps-server", 0 };
	const struct tenant client = { 0, 0, "t", 0 };

	(void)add_tenant(fixture, &server);
	assert_int_equal(check(fixture), 0);
	(void)add_tenant(fixture, &client);
	assert_refused(fixture, ", t) 640 MiB;");
}

static void what_cannot_be_asked_is_no_refusal(void **state)
{
	struct fixture *fixture = *state;
	const struct tenant tenant = { 0, 0, "t", 0 };
	struct nvml *nvml = fixture->target.nvml;

	(void)add_tenant(fixture, &tenant);
	fixture->target.device = PROBE_HOST;
	assert_int_equal(check(fixture), 0);
	fixture->target.device = PROBE_CUDA;
	fixture->target.nvml = NULL;
	assert_int_equal(check(fixture), 0);
	fixture->target.nvml = nvml;
	(void)snprintf(fixture->target.gpus[0].uuid, GPU_UUID_MAX, "GPU-none");
	assert_int_equal(check(fixture), 0);
}

static void a_share_leaves_room_for_others(void **state)
{
	static const struct {
		const char *name;
		size_t gpu_count;
		uint64_t memory_mib, headroom_mib, tenant_mib, budget_mib;
		uint64_t air_mib;
	} rows[] = {
		/* 80 GiB less 1 held and 64 MiB of a context, less a tenth;
		 * of that 4%, at least 512 MiB */
		{ "a tenth of the card", 1, 0, 0, 10240,
		  (80 - 8 - 10) * 1024 - 512 - 640, 2493 },
		{ "the smallest card counts", 2, 0, 0, 0, 16384 - 1638, 589 },
		{ "--memory is less", 1, 4096, 0, 0, 4096, 512 },
		{ "--memory is more", 1, 99999, 1024, 0,
		  (80 - 8) * 1024 - 512 - 640, 1024 },
	};
	struct fixture *fixture = *state;
	struct memory_target *target = &fixture->target;

	fixture->options.probe.shared = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct tenant tenant = { 0, rows[i].tenant_mib * MIB, "t",
					       0 };
		uint64_t budget;

		print_message("  %s\n", rows[i].name);
		(void)add_tenant(fixture, &tenant);
		target->gpu_count = rows[i].gpu_count;
		fixture->options.target.memory_bytes = rows[i].memory_mib * MIB;
		fixture->options.target.has_headroom =
			rows[i].headroom_mib != 0;
		fixture->options.target.headroom.bytes =
			rows[i].headroom_mib * MIB;
		assert_int_equal(check(fixture), 0);
		budget = target->budget_bytes / MIB;
		assert_true(budget <= rows[i].budget_mib &&
			    budget + 1 >= rows[i].budget_mib);
		assert_int_equal(target->cap_bytes, target->budget_bytes);
		assert_in_range(target->headroom_bytes, rows[i].air_mib * MIB,
				(rows[i].air_mib + 1) * MIB);
		assert_int_equal(target->limit_bytes,
				 target->budget_bytes - target->headroom_bytes);
		assert_int_equal(kill(fixture->tenants[0], SIGKILL), 0);
		assert_int_equal(waitpid(fixture->tenants[0], NULL, 0),
				 fixture->tenants[0]);
		fixture->tenant_count = 0;
	}
}

static void a_share_of_nothing_is_refused(void **state)
{
	struct fixture *fixture = *state;
	const struct tenant tenant = { 1, (16 * 1024 - 1280) * MIB, "t", 0 };

	(void)add_tenant(fixture, &tenant);
	fixture->options.probe.shared = true;
	assert_int_equal(check(fixture), -ENOMEM);
	assert_non_null(strstr(fixture->err.message, "a share of 0 B"));
	/* It may be a training that needs no GPU: nothing fits there then. */
	fixture->target.may_be_host = true;
	assert_int_equal(check(fixture), 0);
	assert_int_equal(fixture->target.limit_bytes, 1);
	assert_int_equal(fixture->target.cap_bytes, 1);
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
		TEST(a_free_gpu_is_free),
		TEST(a_tenant_is_named),
		TEST(names_from_outside_are_harmless),
		TEST(a_user_without_a_name_has_a_number),
		TEST(many_tenants_are_counted),
		TEST(the_gpu_in_use_is_named),
		TEST(pids_of_other_places_are_told),
		TEST(a_small_process_is_base_load),
		TEST(memory_that_nobody_has_is_somebodys),
		TEST(a_mig_instance_is_asked_by_its_name),
		TEST(the_mps_server_is_nobody),
		TEST(what_cannot_be_asked_is_no_refusal),
		TEST(a_share_leaves_room_for_others),
		TEST(a_share_of_nothing_is_refused),
	};

	(void)argc;
	start_with_simulation(argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
