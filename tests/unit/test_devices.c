/* `autofit devices`: the table and the JSON object over simulated GPUs. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/devices.h"

#include "base/units.h"

#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#define FIRST_UUID "GPU-516d0000-0000-4000-8000-000000000001"

struct fixture {
	char folder[64];
	struct strlist environment;
	struct options options;
	struct devices devices;
	struct strbuf text;
	json_t *json;
};

static void set(const char *name, const char *value)
{
	assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

static int make_machine(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char path[128];

	assert_non_null(fixture);
	(void)snprintf(fixture->folder, sizeof(fixture->folder),
		       "/tmp/autofit-test-devices-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	(void)snprintf(path, sizeof(path), "%s/state", fixture->folder);
	set("AUTOFIT_SIM_STATE", path);
	set("AUTOFIT_SIM_DEVICES", "Sim A100:8G:1G;Sim T4:4G");
	set("AUTOFIT_SIM_FAULT", NULL);
	fixture->options.device = DEVICE_AUTO;
	fixture->options.cuda_index = -1;
	*state = fixture;
	return 0;
}

static int remove_machine(void **state)
{
	struct fixture *fixture = *state;
	char command[128];

	devices_release(&fixture->devices);
	strlist_release(&fixture->environment);
	strbuf_release(&fixture->text);
	json_decref(fixture->json);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'",
		       fixture->folder);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

/* Look once more; the table is in text, the object in json. */
static void look(struct fixture *fixture)
{
	const struct devices_roots roots = { "/proc", fixture->folder,
					     "/sys/fs/cgroup" };
	struct strbuf json = STRBUF_INIT;

	devices_release(&fixture->devices);
	json_decref(fixture->json);
	strbuf_reset(&fixture->text);
	devices_look(&fixture->devices, &fixture->options,
		     &fixture->environment, &roots);
	devices_table(&fixture->devices, &fixture->text);
	devices_json(&fixture->devices, &json);
	fixture->json = json_loads(strbuf_text(&json), 0, NULL);
	strbuf_release(&json);
	assert_non_null(fixture->json);
}

static const json_t *device(const struct fixture *fixture, size_t index)
{
	return json_array_get(json_object_get(fixture->json, "devices"), index);
}

static void assert_shows(const struct fixture *fixture, const char *words)
{
	if (!strstr(strbuf_text(&fixture->text), words))
		fail_msg("'%s' is not in:\n%s", words,
			 strbuf_text(&fixture->text));
}

static void gpus_and_host_are_shown(void **state)
{
	struct fixture *fixture = *state;
	const json_t *gpu, *host;

	look(fixture);
	assert_string_equal(
		json_string_value(json_object_get(fixture->json, "schema")),
		"autofit.devices/1");
	assert_int_equal(
		json_array_size(json_object_get(fixture->json, "devices")), 3);
	gpu = device(fixture, 0);
	assert_string_equal(json_string_value(json_object_get(gpu, "uuid")),
			    FIRST_UUID);
	assert_int_equal(
		json_integer_value(json_object_get(gpu, "total_bytes")),
		8 * GIB);
	assert_int_equal(json_integer_value(json_object_get(gpu, "free_bytes")),
			 7 * GIB);
	assert_int_equal(json_array_size(json_object_get(gpu, "processes")), 0);
	assert_true(json_is_array(json_object_get(gpu, "processes")));
	host = device(fixture, 2);
	assert_string_equal(json_string_value(json_object_get(host, "kind")),
			    "host");
	assert_true(json_integer_value(json_object_get(host, "budget_bytes")) >
		    0);
	assert_shows(fixture, "Sim A100  " FIRST_UUID);
	assert_shows(fixture, "8.00 GiB   7.00 GiB  0\n");
	assert_shows(fixture, "Host memory: budget ");
	assert_null(fixture->devices.nvml_problem);
}

static void processes_have_their_user(void **state)
{
	struct fixture *fixture = *state;
	const struct passwd *me = getpwuid(geteuid());
	char words[256];
	const json_t *row;

	(void)snprintf(words, sizeof(words), "display=%d", (int)getpid());
	set("AUTOFIT_SIM_FAULT", words);
	look(fixture);
	row = json_array_get(json_object_get(device(fixture, 0), "processes"),
			     0);
	assert_int_equal(json_integer_value(json_object_get(row, "pid")),
			 getpid());
	assert_true(json_is_null(json_object_get(row, "used_bytes")));
	assert_true(json_is_false(json_object_get(row, "compute")));
	if (me)
		assert_string_equal(
			json_string_value(json_object_get(row, "user")),
			me->pw_name);
	(void)snprintf(words, sizeof(words), "pid %d", (int)getpid());
	assert_shows(fixture, words);
	assert_shows(fixture, "not known (display)");
	/* A pid of another namespace belongs to nobody we know. */
	set("AUTOFIT_SIM_FAULT", "display=2147483647");
	look(fixture);
	assert_shows(fixture, "(user not known)");
}

static void the_device_option_chooses(void **state)
{
	static const struct {
		enum device_choice device;
		int index;
		const char *devices, *problem;
		size_t count;
	} rows[] = {
		{ DEVICE_AUTO, -1, NULL, NULL, 2 },
		{ DEVICE_CUDA, -1, NULL, NULL, 2 },
		{ DEVICE_CUDA, 1, NULL, NULL, 1 },
		{ DEVICE_CUDA, 7, NULL, "there is no GPU 7", 0 },
		{ DEVICE_HOST, -1, NULL, NULL, 0 },
		{ DEVICE_AUTO, -1, "", NULL, 0 },
		{ DEVICE_CUDA, -1, "", "there is no visible NVIDIA GPU", 0 },
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("row %zu\n", i);
		fixture->options.device = rows[i].device;
		fixture->options.cuda_index = rows[i].index;
		set("CUDA_VISIBLE_DEVICES", rows[i].devices);
		look(fixture);
		assert_int_equal(fixture->devices.gpu_count, rows[i].count);
		if (rows[i].problem)
			assert_shows(fixture, rows[i].problem);
		else
			assert_null(fixture->devices.gpu_problem);
		if (rows[i].index == 1)
			assert_int_equal(fixture->devices.gpus[0].gpu.index, 1);
	}
	set("CUDA_VISIBLE_DEVICES", NULL);
}

static void problems_are_said(void **state)
{
	struct fixture *fixture = *state;
	char command[256];

	set("AUTOFIT_SIM_FAULT", "init=803");
	strlist_env_set(&fixture->environment, "CUDA_VISIBLE_DEVICES",
			"0\x1b[2J");
	(void)snprintf(command, sizeof(command),
		       "mkdir -p '%s/class/kfd/kfd/topology/nodes/0' && echo "
		       "'simd_count 4' > "
		       "'%s/class/kfd/kfd/topology/nodes/0/properties'",
		       fixture->folder, fixture->folder);
	assert_int_equal(system(command), 0);
	look(fixture);
	assert_shows(fixture, "GPU: the NVIDIA driver does not start: CUDA "
			      "error 803");
	assert_shows(fixture, "AMD GPU: not supported yet\n");
	assert_shows(fixture, "CUDA_VISIBLE_DEVICES=0\\x1b[2J\n");
	assert_true(json_is_true(
		json_object_get(fixture->json, "amd_gpu_present")));
	assert_int_equal(
		json_array_size(json_object_get(fixture->json, "problems")), 1);
	assert_int_equal(
		json_array_size(json_object_get(fixture->json, "devices")), 1);

	/* Without NVML the GPUs are still there. */
	set("AUTOFIT_SIM_FAULT", "nvml=missing");
	look(fixture);
	assert_int_equal(fixture->devices.gpu_count, 2);
	assert_non_null(fixture->devices.nvml_problem);
	assert_true(json_is_null(
		json_object_get(device(fixture, 0), "free_bytes")));
	assert_true(
		json_is_null(json_object_get(device(fixture, 0), "processes")));
	assert_shows(fixture, "not known  not known\n");
	assert_shows(fixture, "Observed: GPUs by the CUDA driver API, host");
	assert_shows(fixture, "Not observed: NVML cannot start: ");
	assert_int_equal(json_array_size(json_object_get(device(fixture, 0),
							 "observed_by")),
			 1);
}

static void the_exit_code_tells(void **state)
{
	static const struct {
		const char *fault;
		enum device_choice device;
		int code;
	} rows[] = {
		{ "", DEVICE_AUTO, 0 },
		{ "init=100", DEVICE_AUTO, 0 },
		{ "crash", DEVICE_AUTO, 125 },
		{ "crash", DEVICE_HOST, 0 },
		{ "init=100", DEVICE_CUDA, 125 },
		{ "nvml=missing", DEVICE_CUDA, 0 },
	};
	struct fixture *fixture = *state;
	char path[128];
	json_t *json;

	(void)snprintf(path, sizeof(path), "%s/devices.json", fixture->folder);
	fixture->options.json = path;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("row %zu\n", i);
		set("AUTOFIT_SIM_FAULT", rows[i].fault);
		fixture->options.device = rows[i].device;
		assert_int_equal(devices_command(&fixture->options,
						 &fixture->environment),
				 rows[i].code);
		json = json_load_file(path, 0, NULL);
		assert_non_null(json);
		json_decref(json);
		assert_int_equal(unlink(path), 0);
	}
	fixture->options.json = NULL;
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
		TEST(gpus_and_host_are_shown),
		TEST(processes_have_their_user),
		TEST(the_device_option_chooses),
		TEST(problems_are_said),
		TEST(the_exit_code_tells),
	};

	(void)argc;
	start_with_simulation(argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
