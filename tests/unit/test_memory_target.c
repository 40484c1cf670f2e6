/* Budget, cap, headroom and limit of GPUs, over the simulated libraries. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/request/memory_target.h"
#include "launcher/request/memory_target_words.h"

#include "base/units.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define ONE "Sim H200:24G:500M"
#define TWO "Sim A:24G:500M;Sim B:16G:1G"
#define BARE "Sim C:12G:0"

static void set(const char *name, const char *value)
{
	assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

/* What is asked for, all sizes in MiB; 0: not given. */
struct asked {
	uint64_t memory, model, headroom;
	int64_t world;
	const char *fault;
};

static struct options options_of(const struct asked *asked)
{
	struct options options = { .target.device = DEVICE_AUTO,
				   .target.cuda_index = -1 };

	options.target.memory_bytes = asked->memory * MIB;
	options.target.model.usable_bytes = asked->model * MIB;
	if (asked->model)
		(void)snprintf(options.target.model.name,
			       sizeof(options.target.model.name), "Small Card");
	options.target.has_headroom = asked->headroom != 0;
	options.target.headroom.bytes = asked->headroom * MIB;
	return options;
}

/* A machine with these devices; the caller releases the target. */
static int open_on(struct memory_target *target, const struct options *options,
		   const char *devices, const struct asked *asked,
		   struct error *err)
{
	const char *state = getenv("AUTOFIT_SIM_STATE");

	/* Made by whoever comes first, then fixed. */
	if (state)
		(void)unlink(state);
	set("AUTOFIT_SIM_DEVICES", devices);
	set("AUTOFIT_SIM_FAULT", asked->fault);
	set("CUDA_VISIBLE_DEVICES", NULL);
	return memory_target_open(target, options,
				  asked->world ? asked->world : 1, err);
}

static const struct {
	const char *name, *devices;
	struct asked asked;
	uint64_t budget, headroom, cap; /* MiB; cap 0: none */
	const char *source;
} good_rows[] = {
	{ "all that is free",
	  ONE,
	  { 0, 0, 0, 1, NULL },
	  24576 - 500,
	  983,
	  0,
	  "free at start" },
	{ "several ranks",
	  ONE,
	  { 0, 0, 0, 4, NULL },
	  24576 - 500,
	  983 + 256,
	  0,
	  "free at start" },
	{ "the fullest of two",
	  TWO,
	  { 0 },
	  16384 - 1024,
	  655,
	  0,
	  "free at start" },
	{ "a small card", BARE, { 0 }, 12288, 512, 0, "free at start" },
	{ "--memory", ONE, { .memory = 20480 }, 20480, 819, 20480, "--memory" },
	{ "--memory as a small card has it",
	  ONE,
	  { .memory = 12288 },
	  12288,
	  512,
	  12288,
	  "--memory" },
	{ "--memory of more than is free",
	  ONE,
	  { .memory = 24576 },
	  24576 - 500,
	  983,
	  0,
	  "free at start" },
	{ "--as", ONE, { .model = 14909 }, 14909, 596, 14909, "--as" },
	{ "--as, several ranks",
	  ONE,
	  { .model = 14909, .world = 2 },
	  14909,
	  596 + 256,
	  14909,
	  "--as" },
	{ "--as and less --memory",
	  ONE,
	  { .model = 14909, .memory = 8192 },
	  8192,
	  512,
	  8192,
	  "--memory" },
	{ "--as and more --memory",
	  ONE,
	  { .model = 14909, .memory = 20480 },
	  14909,
	  596,
	  14909,
	  "--as" },
	{ "--as of more than is free",
	  ONE,
	  { .model = 24200 },
	  24576 - 500,
	  963,
	  24576 - 500,
	  "free at start" },
	{ "--headroom",
	  ONE,
	  { .model = 14909, .headroom = 100, .world = 2 },
	  14909,
	  100,
	  14909,
	  "--as" },
	{ "without NVML",
	  ONE,
	  { .memory = 12288, .fault = "nvml=missing" },
	  12288,
	  512,
	  12288,
	  "--memory" },
	{ "without NVML the driver tells what is free",
	  ONE,
	  { .fault = "nvml=missing" },
	  24576 - 500,
	  983,
	  0,
	  "free at start" },
	{ "what the driver keeps for itself is nobody's",
	  ONE,
	  { .fault = "reserved=561M" },
	  24576 - 500,
	  983,
	  0,
	  "free at start" },
};

/* Shares are of whole bytes: a MiB is near enough. */
static void near(uint64_t bytes, uint64_t mib)
{
	assert_in_range(bytes, mib * MIB, (mib + 1) * MIB);
}

static void each_bound_is_kept(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(good_rows); i++) {
		struct options options = options_of(&good_rows[i].asked);
		struct error err = ERROR_INIT;
		struct memory_target target;

		print_message("%s\n", good_rows[i].name);
		if (open_on(&target, &options, good_rows[i].devices,
			    &good_rows[i].asked, &err) < 0)
			fail_msg("%s", err.message);
		assert_int_equal(target.device, PROBE_CUDA);
		assert_true(target.assumes_exact);
		assert_int_equal(target.budget_bytes,
				 good_rows[i].budget * MIB);
		near(target.headroom_bytes, good_rows[i].headroom);
		assert_int_equal(target.limit_bytes,
				 target.budget_bytes - target.headroom_bytes);
		assert_int_equal(target.cap_bytes, good_rows[i].cap * MIB);
		assert_string_equal(
			memory_target_budget_source(&target, &options),
			good_rows[i].source);
		/* The library knows a device by its UUID. */
		for (size_t gpu = 0; gpu < target.gpu_count; gpu++)
			assert_string_equal(target.probe_gpus[gpu].uuid,
					    target.gpus[gpu].uuid);
		memory_target_release(&target);
	}
}

/* NVML counts the board: what the driver keeps is used by nobody. */
static void what_was_used_is_compared_with_what_is_seen(void **state)
{
	static const char *const faults[] = { "", "reserved=561M",
					      "reserved=561M,nvml=old" };
	const struct asked none = { 0 };
	struct options options = options_of(&none);

	(void)state;
	for (size_t i = 0; i < COUNT(faults); i++) {
		const struct asked asked = { .fault = faults[i] };
		struct error err = ERROR_INIT;
		struct memory_target target;

		print_message("%s\n", faults[i]);
		assert_int_equal(open_on(&target, &options, ONE, &asked, &err),
				 0);
		assert_int_equal(target.probe_gpus[0].total_bytes, 24 * GIB);
		assert_int_equal(target.probe_gpus[0].baseline_used_bytes,
				 500 * MIB);
		memory_target_release(&target);
	}
}

/* GPU and host have one memory: what the host lacks the GPU lacks too. */
static void unified_memory_is_one_pool(void **state)
{
	static const struct {
		const char *devices, *fault;
	} rows[] = {
		{ "Sim GB10:4096G:0", "integrated,nvml=unsupported" },
		{ "Sim GB10:4096G:0", "integrated" },
		{ "Sim Orin:512M:0", "integrated,nvml=missing" },
	};
	const struct asked none = { 0 };
	struct options options = options_of(&none);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct asked asked = { .fault = rows[i].fault };
		struct error err = ERROR_INIT;
		struct memory_target target;
		bool is_large = i < 2;
		int result = open_on(&target, &options, rows[i].devices, &asked,
				     &err);

		print_message("%s, %s\n", rows[i].devices, rows[i].fault);
		/* A small one has no room beside its headroom. */
		assert_int_equal(result, 0);
		assert_true(target.is_unified);
		assert_int_equal(target.budget_bytes,
				 is_large ? target.host.budget_bytes
					  : 512 * MIB);
		assert_int_equal(target.cap_bytes, target.budget_bytes);
		assert_true(target.headroom_bytes >= target.budget_bytes / 10);
		assert_string_equal(
			memory_target_budget_source(&target, &options),
			"shared with the host");
		memory_target_release(&target);
	}
}

static void a_cap_is_as_a_card_of_its_size(void **state)
{
	static const struct {
		const char *devices;
		struct asked asked;
	} rows[] = {
		{ ONE, { .memory = 12288 } },
		{ ONE, { .model = 12288 } },
		{ BARE, { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct options options = options_of(&rows[i].asked);
		struct memory_target target;

		assert_int_equal(open_on(&target, &options, rows[i].devices,
					 &rows[i].asked, NULL),
				 0);
		assert_int_equal(target.limit_bytes, (12288 - 512) * MIB);
		assert_true(memory_target_lose_exact(&target, &options, 1));
		assert_int_equal(target.limit_bytes, (12288 - 1024) * MIB);
		memory_target_release(&target);
	}
}

static void what_was_not_seen_exactly_gets_more_air(void **state)
{
	static const struct {
		const char *name;
		struct asked asked;
		uint64_t headroom; /* MiB, then */
		uint64_t while_rising;
		bool changes, is_one;
	} rows[] = {
		{ "a share of the card", { 0 }, 1966, 3932, true, false },
		{ "several ranks", { .world = 2 }, 2222, 4444, true, false },
		{ "of the cap", { .memory = 8192 }, 1024, 2048, true, false },
		{ "of a small cap",
		  { .memory = 2048 },
		  1024,
		  1280,
		  true,
		  false },
		{ "of the model", { .model = 14909 }, 1192, 2385, true, false },
		{ "as the user says",
		  { .headroom = 700 },
		  700,
		  700,
		  false,
		  false },
		{ "nothing is left",
		  { .memory = 900 },
		  1024,
		  1136,
		  true,
		  true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct options options = options_of(&rows[i].asked);
		struct trial trial = { .peak_rising = true };
		struct memory_target target;

		print_message("%s\n", rows[i].name);
		assert_int_equal(
			open_on(&target, &options, ONE, &rows[i].asked, NULL),
			0);
		assert_int_equal(memory_target_lose_exact(&target, &options,
							  target.world_size),
				 rows[i].changes);
		assert_false(target.assumes_exact);
		near(target.headroom_bytes, rows[i].headroom);
		/* 0 would be no limit. */
		assert_int_equal(target.limit_bytes,
				 rows[i].is_one
					 ? 1
					 : target.budget_bytes -
						   target.headroom_bytes);
		near(memory_target_headroom_for(&target, &options, &trial),
		     rows[i].while_rising);
		assert_false(memory_target_lose_exact(&target, &options, 1));
		memory_target_release(&target);
	}
}

static void what_cannot_be_emulated_is_refused(void **state)
{
	static const struct {
		const char *name, *devices;
		enum device_choice device;
		uint64_t model;
		const char *words;
	} rows[] = {
		{ "a larger card", ONE, DEVICE_AUTO, 40325,
		  "--as: GPU 0 (Sim H200, 24.0 GiB) cannot emulate a larger "
		  "card: programs have 39.4 GiB on Small Card" },
		{ "the smaller of two", TWO, DEVICE_CUDA, 20000,
		  "GPU 1 (Sim B, 16.0 GiB) cannot emulate a larger" },
		{ "host memory", ONE, DEVICE_HOST, 4096,
		  "--as Small Card: host memory cannot emulate a GPU: leave "
		  "out --device host" },
		{ "no GPU", "", DEVICE_AUTO, 4096,
		  "--as Small Card: host memory cannot emulate a GPU, and "
		  "there is none here" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct asked asked = { .model = rows[i].model };
		struct options options = options_of(&asked);
		struct error err = ERROR_INIT;
		struct memory_target target;

		print_message("%s\n", rows[i].name);
		options.target.device = rows[i].device;
		assert_true(open_on(&target, &options, rows[i].devices, &asked,
				    &err) < 0);
		assert_true(err.code < 0);
		if (!strstr(err.message, rows[i].words))
			fail_msg("%s", err.message);
		assert_null(strchr(err.message, '\n'));
		memory_target_release(&target);
	}
}

/* Cards of one model differ by a few MiB. */
static void a_card_stands_in_for_itself(void **state)
{
	const struct asked asked = { .model = 24600 };
	struct options options = options_of(&asked);
	struct memory_target target;

	(void)state;
	(void)snprintf(options.target.model.name,
		       sizeof(options.target.model.name), "Sim H200");
	assert_int_equal(open_on(&target, &options, ONE, &asked, NULL), 0);
	assert_int_equal(target.cap_bytes, (uint64_t)(24576 - 500) * MIB);
	memory_target_release(&target);
}

static void emulation_is_said(void **state)
{
	const struct asked asked = { .model = 4096 };
	const struct asked nothing = { 0 };
	struct options options = options_of(&asked);
	struct options plain = options_of(&nothing);
	struct strlist caveats = STRLIST_INIT;
	struct strbuf words = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct memory_target target;

	(void)state;
	assert_int_equal(open_on(&target, &plain, ONE, &nothing, NULL), 0);
	memory_target_add_caveat(&target, &caveats);
	assert_int_equal(caveats.count, 0);
	memory_target_release(&target);
	assert_int_equal(open_on(&target, &options, ONE, &asked, NULL), 0);
	memory_target_words(&target, &words);
	assert_string_equal(strbuf_text(&words), "1x Sim H200 as Small Card");
	memory_target_add_caveat(&target, &caveats);
	assert_int_equal(caveats.count, 1);
	assert_string_equal(
		caveats.items[0],
		"emulated: Small Card on Sim H200; workspaces, context size "
		"and free memory differ on the real one: re-check there "
		"(autofit does at the first launch)");
	/* The first probe used no GPU: there is nothing to emulate it on. */
	assert_true(memory_target_become_host(&target, &options, &err) < 0);
	assert_non_null(strstr(err.message, "the first probe used none"));
	assert_int_equal(target.device, PROBE_CUDA);
	memory_target_release(&target);
	strlist_release(&caveats);
	strbuf_release(&words);
}

static void host_memory_has_no_cap(void **state)
{
	const struct asked asked = { .memory = 1024 };
	struct options options = options_of(&asked);
	struct memory_target target;

	(void)state;
	assert_int_equal(open_on(&target, &options, ONE, &asked, NULL), 0);
	assert_int_equal(target.cap_bytes, GIB);
	assert_int_equal(memory_target_become_host(&target, &options, NULL), 0);
	assert_int_equal(target.cap_bytes, 0);
	assert_false(target.assumes_exact);
	assert_false(memory_target_lose_exact(&target, &options, 1));
	memory_target_release(&target);
}

static void a_share_is_a_cap(void **state)
{
	static const struct {
		const char *name;
		struct asked asked;
		uint64_t share, budget, cap_bytes, headroom; /* MiB, but cap */
	} rows[] = {
		{ "a share", { 0 }, 20000, 20000, 20000 * MIB, 800 },
		{ "--memory is less",
		  { .memory = 8192 },
		  20000,
		  8192,
		  8192 * MIB,
		  512 },
		{ "--as is less",
		  { .model = 14909 },
		  20000,
		  14909,
		  14909 * MIB,
		  596 },
		{ "--memory is more",
		  { .memory = 20480 },
		  10000,
		  10000,
		  10000 * MIB,
		  512 },
		/* A cap of 0 would be none. */
		{ "nothing", { 0 }, 0, 0, 1, 512 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct options options = options_of(&rows[i].asked);
		struct memory_target target;

		print_message("%s\n", rows[i].name);
		assert_int_equal(
			open_on(&target, &options, ONE, &rows[i].asked, NULL),
			0);
		memory_target_share(&target, &options, rows[i].share * MIB);
		assert_int_equal(target.budget_bytes, rows[i].budget * MIB);
		assert_int_equal(target.cap_bytes, rows[i].cap_bytes);
		near(target.headroom_bytes, rows[i].headroom);
		memory_target_release(&target);
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

static int make_machine(void **state)
{
	char path[SCRATCH_PATH_MAX];

	if (scratch_make(state) < 0)
		return -1;
	scratch_path(path, *state, "sim");
	return setenv("AUTOFIT_SIM_STATE", path, 1);
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, make_machine, scratch_remove)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(each_bound_is_kept),
		TEST(what_was_used_is_compared_with_what_is_seen),
		TEST(unified_memory_is_one_pool),
		TEST(a_cap_is_as_a_card_of_its_size),
		TEST(what_was_not_seen_exactly_gets_more_air),
		TEST(what_cannot_be_emulated_is_refused),
		TEST(a_card_stands_in_for_itself),
		TEST(emulation_is_said),
		TEST(host_memory_has_no_cap),
		TEST(a_share_is_a_cap),
	};

	(void)argc;
	start_with_simulation(argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
