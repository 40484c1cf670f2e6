/* `autofit devices`: the table and the JSON object over simulated GPUs. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/devices/devices.h"

#include "base/units.h"
#include "launcher/devices/devices_sample.h"

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
	fixture->options.target.device = DEVICE_AUTO;
	fixture->options.target.cuda_index = -1;
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
	struct strbuf json = STRBUF_INIT;

	devices_release(&fixture->devices);
	json_decref(fixture->json);
	strbuf_reset(&fixture->text);
	devices_look(&fixture->devices, &fixture->options,
		     &fixture->environment, &host_roots_here);
	devices_table(&fixture->devices, 120, &fixture->text);
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
		{ DEVICE_CUDA, -1, "", "there is no visible GPU", 0 },
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("row %zu\n", i);
		fixture->options.target.device = rows[i].device;
		fixture->options.target.cuda_index = rows[i].index;
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

	set("AUTOFIT_SIM_FAULT", "init=803");
	strlist_env_set(&fixture->environment, "CUDA_VISIBLE_DEVICES",
			"0\x1b[2J");
	look(fixture);
	assert_shows(fixture, "GPU: the NVIDIA driver does not start: CUDA "
			      "error 803");
	assert_shows(fixture, "CUDA_VISIBLE_DEVICES=0\\x1b[2J\n");
	assert_true(json_is_false(
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
	/* The driver tells what is free, not who uses the rest. */
	assert_int_equal(json_integer_value(json_object_get(device(fixture, 0),
							    "free_bytes")),
			 7 * GIB);
	assert_true(
		json_is_null(json_object_get(device(fixture, 0), "processes")));
	assert_shows(fixture, "7.00 GiB  not known\n");
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
	fixture->options.output.json = path;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("row %zu\n", i);
		set("AUTOFIT_SIM_FAULT", rows[i].fault);
		fixture->options.target.device = rows[i].device;
		assert_int_equal(devices_command(&fixture->options,
						 &fixture->environment),
				 rows[i].code);
		json = json_load_file(path, 0, NULL);
		assert_non_null(json);
		json_decref(json);
		assert_int_equal(unlink(path), 0);
	}
	fixture->options.output.json = NULL;
}

/* One GPU of the simulation, one that has gone, and the tenant's process. */
static void a_device_may_vanish(void **state)
{
	struct fixture *fixture = *state;
	struct gpu_device gpus[2];
	struct nvml *nvml = NULL;
	struct error err = ERROR_INIT;
	char words[128];

	(void)snprintf(words, sizeof(words),
		       "tenant=%d,tenant_bytes=1000,display=%d", (int)getpid(),
		       (int)getppid());
	set("AUTOFIT_SIM_FAULT", words);
	look(fixture);
	gpus[0] = fixture->devices.gpus[0].gpu;
	gpus[1] = fixture->devices.gpus[1].gpu;
	(void)snprintf(gpus[1].uuid, GPU_UUID_MAX,
		       "GPU-516d0000-0000-4000-8000-0000000000ff");
	assert_int_equal(nvml_prepare(&nvml, gpus, 2, &err), 0);
	for (int i = 0; i < 2; i++) {
		const struct gpu_look *first, *second;

		assert_int_equal(nvml_ask(nvml, &err), 0);
		assert_int_equal(nvml_take(nvml, &err), 0);
		first = nvml_seen(nvml, gpus[0].uuid);
		second = nvml_seen(nvml, gpus[1].uuid);
		assert_non_null(first);
		assert_non_null(second);
		assert_int_equal(first->memory.total_bytes, 8 * GIB);
		assert_string_equal(first->problem, "");
		assert_int_equal(first->process_count, 2);
		assert_int_equal(first->processes[0].pid, getpid());
		assert_int_equal(first->processes[0].used_bytes, 1000);
		assert_false(second->has_memory);
		assert_int_equal(second->process_count, -1);
		assert_non_null(
			strstr(second->problem, "NVML cannot find the device"));
	}
	nvml_close(nvml);
}

static char plain_name[] = "r-1";
static char odd_name[] = "r\x1b";

/* What a row of a sample may hold, and what its line and object say of it. */
static const struct {
	const char *name;
	struct sample_gpu row;
	struct devices_need need;
	const char *line, *json;
} sample_rows[] = {
	{ "nothing used is a figure",
	  { .total_bytes = GIB, .has_memory = true, .free_bytes = GIB },
	  { .kind = NEED_NONE },
	  "used 0 B, free 1.00 GiB, total 1.00 GiB, peak 0 B, need -, "
	  "processes 0\n",
	  "\"used_bytes\":0,\"free_bytes\":1073741824,\"peak_bytes\":0" },
	{ "nothing known is none",
	  { .total_bytes = GIB, .process_count = -1, .problem = "lost\x1b" },
	  { .kind = NEED_NONE },
	  "used -, free -, total 1.00 GiB, peak -, need -, processes not "
	  "known; lost\\x1b\n",
	  "\"used_bytes\":null,\"free_bytes\":null,\"peak_bytes\":null,"
	  "\"process_count\":null" },
	{ "a peak outlives what is known",
	  { .total_bytes = GIB, .peak_bytes = MIB },
	  { .kind = NEED_NONE },
	  "used -, free -, total 1.00 GiB, peak 1.00 MiB",
	  "\"peak_bytes\":1048576" },
	{ "an exact need has its headroom",
	  { .total_bytes = GIB },
	  { .kind = NEED_EXACT,
	    .record = plain_name,
	    .peak_bytes = 3 * MIB,
	    .headroom_bytes = 2 * MIB },
	  "need 5.00 MiB (peak 3.00 MiB + headroom 2.00 MiB: r-1)",
	  "{\"kind\":\"exact\",\"record\":\"r-1\",\"bytes\":5242880," },
	{ "other needs are peaks",
	  { .total_bytes = GIB },
	  { .kind = NEED_NEAR,
	    .record = odd_name,
	    .peak_bytes = 3 * MIB,
	    .headroom_bytes = 2 * MIB },
	  "need 3.00 MiB (peak of a similar command: r\\x1b)",
	  "{\"kind\":\"near\",\"record\":\"r\\u001B\",\"bytes\":3145728," },
	{ "absurd numbers do not wrap around",
	  { .total_bytes = GIB },
	  { .kind = NEED_EXACT,
	    .record = plain_name,
	    .peak_bytes = UINT64_MAX,
	    .headroom_bytes = 2 },
	  "need 16384 PiB (",
	  "\"bytes\":null" },
	{ "whose process it is",
	  { .total_bytes = GIB,
	    .process_count = 3,
	    .largest = { .pid = 7, .used_bytes = MIB },
	    .user = "ann\n" },
	  { .kind = NEED_NONE },
	  "processes 3, largest pid 7 ann\\x0a 1.00 MiB\n",
	  "\"largest_process\":{\"pid\":7,\"user\":\"ann\\n\"," },
	{ "nobody we know, of a size nobody knows",
	  { .total_bytes = GIB, .process_count = 1, .largest = { .pid = 7 } },
	  { .kind = NEED_NONE },
	  "processes 1, largest pid 7 (user not known) -\n",
	  "{\"pid\":7,\"user\":null,\"used_bytes\":null" },
};

static void samples_are_written(void **state)
{
	static const struct gpu_device gpu = { .name = "Sim", .index = 2 };
	static const struct devices_need none = { .kind = NEED_NONE };
	static const struct host_budget budget = { .total_bytes = 5 };
	const struct report_style style = { .columns = 30 };
	struct fixture *fixture = *state;
	struct devices_sample *sample = calloc(1, sizeof(*sample));

	assert_non_null(sample);
	sample->time = (struct timespec){ 1795231385, 250000000 };
	sample->interval_seconds = 0.5;
	sample->gpu_count = 1;
	sample->host.budget = &budget;
	sample->host.need = &none;
	for (size_t i = 0; i < sizeof(sample_rows) / sizeof(*sample_rows);
	     i++) {
		print_message("%s\n", sample_rows[i].name);
		sample->gpus[0] = sample_rows[i].row;
		sample->gpus[0].gpu = &gpu;
		sample->gpus[0].need = &sample_rows[i].need;
		strbuf_reset(&fixture->text);
		sample_lines(sample, &fixture->text);
		assert_shows(fixture, "2026-11-21T03:23:05.250Z GPU 2 Sim: ");
		assert_shows(fixture, sample_rows[i].line);
		strbuf_reset(&fixture->text);
		sample_json(sample, &fixture->text);
		assert_shows(fixture, sample_rows[i].json);
		assert_ptr_equal(strchr(strbuf_text(&fixture->text), '\n'),
				 strbuf_text(&fixture->text) +
					 fixture->text.length - 1);
		strbuf_reset(&fixture->text);
		sample_table(sample, &style, &fixture->text);
		for (const char *line = strbuf_text(&fixture->text); *line;
		     line += strcspn(line, "\n") + 1)
			assert_true(strcspn(line, "\n") <= 30);
	}
	free(sample);
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
		TEST(a_device_may_vanish),
		TEST(samples_are_written),
	};

	(void)argc;
	start_with_simulation(argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
