/* The page of a probe's processes: what is read from it, whatever is there. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/channel/channel.h"

#include "configs/files/paths.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SLOTS_MAX 5
#define PYTHON_FLAGS (CHANNEL_PYTHON | CHANNEL_TORCH)

struct fixture {
	char folder[32];
	char path[64];
	struct channel channel;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	(void)snprintf(fixture->folder, sizeof(fixture->folder),
		       "/tmp/test_channel-XXXXXX");
	if (!mkdtemp(fixture->folder))
		return -1;
	(void)snprintf(fixture->path, sizeof(fixture->path), "%s/channel",
		       fixture->folder);
	*state = fixture;
	return channel_open(&fixture->channel, fixture->path, NULL);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	channel_close(&fixture->channel);
	channel_close(&fixture->channel);
	paths_remove_tree(fixture->folder);
	free(fixture);
	return 0;
}

/* As a process of the probe does it: through the path. */
static void write_at(const struct fixture *fixture, size_t offset,
		     const void *data, size_t length)
{
	int fd = open(fixture->path, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, length, (off_t)offset), length);
	assert_int_equal(close(fd), 0);
}

static void write_slot(const struct fixture *fixture, size_t index,
		       const struct channel_slot *slot)
{
	write_at(fixture, sizeof(struct channel_header) + index * sizeof(*slot),
		 slot, sizeof(*slot));
}

static const struct {
	const char *title;
	struct channel_slot slots[SLOTS_MAX];
	struct channel_reading expected;
} rows[] = {
	{ "nobody", { { 0 } }, { 0 } },
	{ "an interpreter",
	  { { .pid = 7, .flags = CHANNEL_PYTHON, .rank = -1 } },
	  { .flags = CHANNEL_PYTHON, .processes = 1 } },
	{ "one that steps",
	  { { .pid = 7,
	      .flags = PYTHON_FLAGS,
	      .steps = 3,
	      .alloc_retries = 2,
	      .rank = -1 } },
	  { .steps = 3,
	    .alloc_retries = 2,
	    .flags = PYTHON_FLAGS,
	    .processes = 1,
	    .stepping = 1 } },
	{ "the slowest rank, a launcher, a worker",
	  { { .pid = 1, .flags = PYTHON_FLAGS, .rank = -1 },
	    { .pid = 2,
	      .flags = PYTHON_FLAGS,
	      .steps = 9,
	      .alloc_retries = 1,
	      .rank = 0 },
	    { .pid = 3, .steps = 8, .rank = 1 },
	    { .pid = 4, .flags = CHANNEL_PYTHON, .rank = 0 } },
	  { .steps = 8,
	    .alloc_retries = 1,
	    .flags = PYTHON_FLAGS,
	    .processes = 4,
	    .stepping = 2 } },
	{ "a rank that has not stepped yet, and its launcher",
	  { { .pid = 1, .flags = PYTHON_FLAGS, .rank = 0 },
	    { .pid = 2, .flags = PYTHON_FLAGS, .steps = 9, .rank = 0 },
	    { .pid = 3, .flags = PYTHON_FLAGS, .rank = 1 } },
	  { .steps = 9,
	    .flags = PYTHON_FLAGS,
	    .processes = 3,
	    .stepping = 1,
	    .is_rank_behind = true } },
	{ "a rank without torch, and none that steps",
	  { { .pid = 1, .flags = PYTHON_FLAGS, .steps = 9, .rank = -1 },
	    { .pid = 2, .flags = PYTHON_FLAGS, .rank = 0 },
	    { .pid = 3, .flags = CHANNEL_PYTHON, .rank = 1 } },
	  { .steps = 9,
	    .flags = PYTHON_FLAGS,
	    .processes = 3,
	    .stepping = 1 } },
	{ "steps of neither a rank nor torch",
	  { { .pid = 1, .steps = 4, .rank = -1 } },
	  { .processes = 1 } },
	{ "a slot nobody owns",
	  { { .flags = PYTHON_FLAGS, .steps = 5, .rank = 0 } },
	  { 0 } },
	{ "no such pid",
	  { { .pid = UINT32_C(1) << 22, .steps = 5, .rank = 0 } },
	  { 0 } },
	{ "absurd steps",
	  { { .pid = 1, .steps = UINT64_MAX, .rank = 0 },
	    { .pid = 2, .steps = 6, .rank = 1 } },
	  { .steps = 6, .processes = 2, .stepping = 1 } },
	{ "what they do, and their errors",
	  { { .pid = 1,
	      .steps = 1,
	      .rank = 0,
	      .phase = PHASE_TRAIN,
	      .ooms = 2 },
	    { .pid = 2, .steps = 1, .rank = 1, .phase = PHASE_EVAL },
	    { .pid = 3, .rank = -1, .phase = PHASE_SAVE, .ooms = 1 },
	    { .phase = PHASE_SAVE, .ooms = 9 } },
	  { .steps = 1,
	    .processes = 3,
	    .stepping = 2,
	    .phase = PHASE_EVAL,
	    .ooms = 3 } },
	{ "rows of those that step",
	  { { .pid = 1, .steps = 2, .rank = 0, .rows = 8 },
	    { .pid = 2, .steps = 3, .rank = 1, .rows = 12 },
	    { .pid = 3, .rank = 2, .rows = 99 },
	    { .rows = 99 } },
	  { .steps = 2, .processes = 3, .stepping = 2, .rows = 12 } },
	{ "the passes, batches and ranks of a step",
	  { { .pid = 1, .steps = 2, .rank = 0, .passes = 4, .batches = 4 },
	    { .pid = 2, .steps = 3, .rank = 1, .world = 2, .group = 2 },
	    { .pid = 3,
	      .steps = 3,
	      .rank = 0,
	      .loader_rows = 16,
	      .data_rows = 40 },
	    { .pid = 4, .rank = 2, .passes = 99, .world = 99 } },
	  { .steps = 2,
	    .processes = 4,
	    .stepping = 3,
	    .passes = 4,
	    .batches = 4,
	    .loader_rows = 16,
	    .data_rows = 40,
	    .world = 2,
	    .group = 2 } },
	{ "memory at rest, and inputs of one size",
	  { { .pid = 1,
	      .steps = 2,
	      .rank = 0,
	      .rest_bytes = 30,
	      .forward_bytes = 4,
	      .pass_bytes = 9,
	      .torch_peak_bytes = 90,
	      .same_sizes = 7,
	      .columns = 3 },
	    { .pid = 2,
	      .steps = 3,
	      .rank = 1,
	      .rest_bytes = 20,
	      .forward_bytes = 6,
	      .pass_bytes = 7,
	      .torch_peak_bytes = 95,
	      .same_sizes = 5,
	      .columns = 4 },
	    { .pid = 3,
	      .rank = 2,
	      .rest_bytes = 99,
	      .same_sizes = 1,
	      .torch_reserved_bytes = 120 } },
	  { .steps = 2,
	    .processes = 3,
	    .stepping = 2,
	    .rest_bytes = 30,
	    .rest_total_bytes = 50,
	    .forward_bytes = 6,
	    .forward_total_bytes = 10,
	    .pass_bytes = 9,
	    .pass_total_bytes = 16,
	    .torch_peak_bytes = 95,
	    .torch_reserved_bytes = 120,
	    .same_sizes = 5,
	    .columns = 4 } },
	{ "passes of the slowest rank",
	  { { .pid = 1,
	      .steps = 2,
	      .rank = 0,
	      .first_passes = 4,
	      .later_passes = 7,
	      .last_pass_ns = 50 },
	    { .pid = 2,
	      .steps = 2,
	      .rank = 1,
	      .first_passes = 5,
	      .later_passes = 6,
	      .last_pass_ns = 40 },
	    { .pid = 3, .rank = 2 } },
	  { .steps = 2,
	    .processes = 3,
	    .stepping = 2,
	    .first_passes = 5,
	    .later_passes = 6,
	    .last_pass_ns = 40 } },
	{ "one that does not say what it holds",
	  { { .pid = 1, .steps = 2, .rank = 0 },
	    { .pid = 2, .steps = 3, .rank = 1, .rest_bytes = 20 } },
	  { .steps = 2, .processes = 2, .stepping = 2, .rest_bytes = 20 } },
	{ "absurd memory",
	  { { .pid = 1,
	      .steps = 2,
	      .rank = 0,
	      .rest_bytes = UINT64_MAX,
	      .forward_bytes = UINT64_MAX,
	      .pass_bytes = UINT64_MAX,
	      .torch_peak_bytes = UINT64_MAX } },
	  { .steps = 2,
	    .processes = 1,
	    .stepping = 1,
	    .torch_peak_bytes = UINT64_C(1) << 50 } },
	{ "passes of those without an optimizer",
	  { { .pid = 1,
	      .rank = 0,
	      .first_passes = 9,
	      .rows = 8,
	      .phase = PHASE_TRAIN },
	    { .pid = 2, .rank = 1, .first_passes = 7 },
	    { .pid = 3, .rank = -1, .first_passes = 5 },
	    { .first_passes = 1 } },
	  { .processes = 3, .by_hand = 7, .rows = 8, .phase = PHASE_TRAIN } },
	{ "passes beside steps",
	  { { .pid = 1, .rank = 0, .first_passes = 9 },
	    { .pid = 2, .rank = 1, .steps = 2 } },
	  { .processes = 2, .stepping = 1, .steps = 2 } },
	{ "all the rows there can be",
	  { { .pid = 1, .steps = 1, .rank = 0, .rows = UINT32_MAX } },
	  { .steps = 1, .processes = 1, .stepping = 1, .rows = UINT32_MAX } },
	{ "before the first step",
	  { { .pid = 1, .rank = 0 },
	    { .pid = 2, .rank = 1, .phase = PHASE_EVAL },
	    { .pid = 3, .rank = 2 } },
	  { .processes = 3, .phase = PHASE_EVAL } },
	{ "the first step is one",
	  { { .pid = 1, .steps = 1, .rank = 0 },
	    { .pid = 2, .rank = 1, .phase = PHASE_SAVE } },
	  { .steps = 1, .processes = 2, .stepping = 1 } },
	{ "absurd phases and errors",
	  { { .pid = 1,
	      .steps = 1,
	      .rank = 0,
	      .phase = PHASE_SAVE + 1,
	      .ooms = UINT32_MAX },
	    { .pid = 2,
	      .steps = 1,
	      .rank = 1,
	      .phase = UINT32_MAX,
	      .ooms = UINT32_MAX } },
	  { .steps = 1, .processes = 2, .stepping = 2, .ooms = 2000000000 } },
	{ "absurd retries, unknown flags",
	  { { .pid = 1,
	      .flags = ~UINT32_C(0),
	      .alloc_retries = UINT64_MAX,
	      .rank = 0 },
	    { .pid = 2, .alloc_retries = UINT64_MAX, .rank = 0 } },
	  { .alloc_retries = 2000000000, .flags = 16383, .processes = 2 } },
};

static bool reading_equal(const struct channel_reading *a,
			  const struct channel_reading *b)
{
	return a->steps == b->steps && a->alloc_retries == b->alloc_retries &&
	       a->flags == b->flags && a->processes == b->processes &&
	       a->stepping == b->stepping && a->ooms == b->ooms &&
	       a->is_rank_behind == b->is_rank_behind && a->phase == b->phase &&
	       a->rows == b->rows && a->passes == b->passes &&
	       a->batches == b->batches && a->loader_rows == b->loader_rows &&
	       a->data_rows == b->data_rows && a->world == b->world &&
	       a->group == b->group && a->by_hand == b->by_hand &&
	       a->rest_bytes == b->rest_bytes &&
	       a->rest_total_bytes == b->rest_total_bytes &&
	       a->forward_bytes == b->forward_bytes &&
	       a->forward_total_bytes == b->forward_total_bytes &&
	       a->pass_bytes == b->pass_bytes &&
	       a->pass_total_bytes == b->pass_total_bytes &&
	       a->torch_peak_bytes == b->torch_peak_bytes &&
	       a->torch_reserved_bytes == b->torch_reserved_bytes &&
	       a->same_sizes == b->same_sizes && a->columns == b->columns &&
	       a->first_passes == b->first_passes &&
	       a->later_passes == b->later_passes &&
	       a->last_pass_ns == b->last_pass_ns;
}

static void slots_add_up(void **state)
{
	const struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct channel_reading reading;

		/* The far end of the page as well. */
		for (size_t s = 0; s < SLOTS_MAX; s++)
			write_slot(fixture, s == 1 ? CHANNEL_SLOTS - 1 : 2 * s,
				   &rows[i].slots[s]);
		reading = channel_read(&fixture->channel);
		if (!reading_equal(&reading, &rows[i].expected))
			fail_msg("%s: steps %llu processes %zu stepping %zu "
				 "phase %d errors %llu rows %llu",
				 rows[i].title,
				 (unsigned long long)reading.steps,
				 reading.processes, reading.stepping,
				 (int)reading.phase,
				 (unsigned long long)reading.ooms,
				 (unsigned long long)reading.rows);
	}
}

static void garbage_and_short_files_are_read(void **state)
{
	const struct fixture *fixture = *state;
	const struct channel_slot slot = { .pid = 1, .steps = 1 };
	const char one = 1;
	unsigned char noise[CHANNEL_SIZE];

	memset(noise, 0xff, sizeof(noise));
	write_at(fixture, 0, noise, sizeof(noise));
	assert_int_equal(channel_read(&fixture->channel).processes, 0);
	memset(noise, 0, sizeof(noise));
	write_at(fixture, 0, noise, sizeof(noise));
	write_slot(fixture, 0, &slot);
	/* Longer, without its header, cut inside the slot, empty, gone. */
	write_at(fixture, (size_t)1 << 24, &one, 1);
	assert_int_equal(channel_read(&fixture->channel).steps, 1);
	assert_int_equal(truncate(fixture->path, 64 + 12), 0);
	assert_int_equal(channel_read(&fixture->channel).processes, 1);
	assert_int_equal(channel_read(&fixture->channel).steps, 0);
	assert_int_equal(truncate(fixture->path, 0), 0);
	assert_int_equal(channel_read(&fixture->channel).processes, 0);
	assert_false(channel_process(&fixture->channel, 1, NULL));
	assert_int_equal(unlink(fixture->path), 0);
	assert_int_equal(channel_read(&fixture->channel).processes, 0);
}

static void processes_are_known_by_pid(void **state)
{
	const struct fixture *fixture = *state;
	const struct channel_slot slot = { .pid = 4711 };

	assert_false(channel_process(&fixture->channel, 4711, NULL));
	write_slot(fixture, CHANNEL_SLOTS - 1, &slot);
	assert_true(channel_process(&fixture->channel, 4711, NULL));
	assert_false(channel_process(&fixture->channel, 4712, NULL));
	assert_false(channel_process(&fixture->channel, 0, NULL));
}

/* Slots of pid 7, and what is to be told of it. */
static const struct {
	const char *title;
	struct channel_slot slots[2];
	bool is_there;
	enum phase phase;
} process_rows[] = {
	{ "no slot", { { .pid = 8, .phase = PHASE_EVAL } }, false, 0 },
	{ "it saves",
	  { { .pid = 8, .phase = PHASE_EVAL },
	    { .pid = 7, .phase = PHASE_SAVE } },
	  true,
	  PHASE_SAVE },
	{ "the pid's last process, first",
	  { { .pid = 7, .start_time = 5, .phase = PHASE_EVAL },
	    { .pid = 7, .start_time = 4, .phase = PHASE_SAVE } },
	  true,
	  PHASE_EVAL },
	{ "the pid's last process, last",
	  { { .pid = 7, .start_time = 4, .phase = PHASE_SAVE },
	    { .pid = 7, .start_time = 5, .phase = PHASE_EVAL } },
	  true,
	  PHASE_EVAL },
	{ "absurd",
	  { { .pid = 7, .rank = INT32_MIN, .phase = UINT32_MAX } },
	  true,
	  PHASE_START },
};

static void map_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, CHANNEL_SIZE) < 0 ||
	    mmap(NULL, CHANNEL_SIZE, PROT_READ, MAP_SHARED, fd, 0) ==
		    MAP_FAILED)
		_exit(2);
	(void)close(fd);
}

/* A process with these files, and its copy: what is said of the copy. */
static bool copy_is_bypassed(const struct fixture *fixture, bool has_torch,
			     bool has_page)
{
	char torch[64];
	int ready[2];
	int end[2];
	char word;
	bool is_bypassed;
	pid_t copy = 0;
	pid_t pid;

	(void)snprintf(torch, sizeof(torch), "%s/libtorch_cpu.so",
		       fixture->folder);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(end), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (has_torch)
			map_file(torch);
		if (has_page)
			map_file(fixture->path);
		(void)close(end[1]);
		copy = fork();
		if (copy > 0)
			_exit(write(ready[1], &copy, sizeof(copy)) < 0);
		_exit(read(end[0], &word, 1) != 0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(read(ready[0], &copy, sizeof(copy)), sizeof(copy));
	is_bypassed = channel_is_bypassed(&fixture->channel, copy);
	(void)close(end[0]);
	(void)close(end[1]);
	(void)close(ready[0]);
	(void)close(ready[1]);
	return is_bypassed;
}

static void copies_of_a_hooked_process_are_hooked(void **state)
{
	const struct fixture *fixture = *state;

	assert_true(copy_is_bypassed(fixture, true, false));
	assert_false(copy_is_bypassed(fixture, true, true));
	assert_false(copy_is_bypassed(fixture, false, false));
	assert_false(channel_is_bypassed(&fixture->channel, -1));
}

static void a_process_tells_its_phase(void **state)
{
	const struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(process_rows) / sizeof(*process_rows);
	     i++) {
		enum phase phase = PHASE_START;
		bool is_there;

		write_slot(fixture, 0, &process_rows[i].slots[0]);
		write_slot(fixture, CHANNEL_SLOTS - 1,
			   &process_rows[i].slots[1]);
		is_there = channel_process(&fixture->channel, 7, &phase);
		if (is_there != process_rows[i].is_there ||
		    phase != process_rows[i].phase)
			fail_msg("%s: %d phase %d", process_rows[i].title,
				 is_there, (int)phase);
		assert_false(channel_process(&fixture->channel, 0, &phase));
	}
}

static void an_older_file_gives_way(void **state)
{
	const struct fixture *fixture = *state;
	const struct channel_slot slot = { .pid = 1, .steps = 1 };
	struct channel second;
	struct stat status;

	write_slot(fixture, 0, &slot);
	assert_int_equal(channel_open(&second, fixture->path, NULL), 0);
	assert_int_equal(channel_read(&second).processes, 0);
	assert_int_equal(channel_read(&fixture->channel).processes, 1);
	assert_int_equal(stat(fixture->path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(status.st_size, CHANNEL_SIZE);
	channel_close(&second);
	assert_int_equal(channel_read(&second).processes, 0);
}

/* Containers have it small or not at all. */
static void memory_is_used_where_it_can_be(void **state)
{
	const struct fixture *fixture = *state;
	char link[64];
	char *path = channel_memory_path("12ab");

	assert_string_equal(path, CHANNEL_MEMORY_FOLDER "/.autofit-12ab");
	free(path);
	assert_false(channel_memory_has_room("/nowhere"));
	assert_false(channel_memory_has_room("/proc"));
	(void)snprintf(link, sizeof(link), "%s/link", fixture->folder);
	assert_int_equal(symlink(CHANNEL_MEMORY_FOLDER, link), 0);
	assert_false(channel_memory_has_room(link));
}

static void what_cannot_be_made_is_an_error(void **state)
{
	struct error err = ERROR_INIT;
	struct channel channel = { .is_open = true, .fd = 0 };

	(void)state;
	assert_true(channel_open(&channel, "/nonexistent/x", &err) < 0);
	assert_non_null(strstr(err.message, "/nonexistent/x"));
	assert_false(channel.is_open);
	channel_close(&channel);
}

/* The two halves know the same layout: Python writes, C reads. */
static void python_writes_what_is_read_here(void **state)
{
	const struct fixture *fixture = *state;
	static const unsigned char rest[4096] = { 7, 8, 9 };
	unsigned char after[sizeof(rest)];
	struct channel_reading reading;
	enum phase phase;
	int status;
	pid_t pid;

	/* The file goes on behind the slots. */
	write_at(fixture, CHANNEL_SIZE, rest, sizeof(rest));
	pid = fork();
	if (pid == 0) {
		(void)setenv("AUTOFIT_CHANNEL", fixture->path, 1);
		(void)setenv("PYTHONPATH",
			     TEST_SOURCE_DIR "/probes/python:" TEST_SOURCE_DIR
					     "/tests/data/hook_fake_torch",
			     1);
		(void)setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
		(void)setenv("RANK", "3", 1);
		(void)setenv("FAKE_CUDA", "1", 1);
		(void)execlp(
			"python3", "python3",
			TEST_SOURCE_DIR "/tests/data/hook_fake_training.py",
			"5", "compile", "error", "rows", "save", (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	reading = channel_read(&fixture->channel);
	assert_int_equal(reading.steps, 5);
	assert_int_equal(reading.alloc_retries, 2 + 3);
	assert_int_equal(reading.flags, PYTHON_FLAGS | CHANNEL_CUDA |
						CHANNEL_COMPILED |
						CHANNEL_COUNTS_OOMS);
	assert_int_equal(reading.ooms, 2);
	assert_int_equal(reading.rows, 7);
	assert_int_equal(reading.phase, PHASE_SAVE);
	/* A python3 that is a script may have run others before. */
	assert_true(reading.processes >= 1);
	assert_int_equal(reading.stepping, 1);
	assert_true(channel_process(&fixture->channel, pid, NULL));
	assert_true(channel_process(&fixture->channel, pid, &phase));
	assert_int_equal(phase, PHASE_SAVE);
	assert_int_equal(
		pread(fixture->channel.fd, after, sizeof(after), CHANNEL_SIZE),
		sizeof(after));
	assert_memory_equal(after, rest, sizeof(rest));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(slots_add_up),
		TEST(garbage_and_short_files_are_read),
		TEST(processes_are_known_by_pid),
		TEST(copies_of_a_hooked_process_are_hooked),
		TEST(a_process_tells_its_phase),
		TEST(an_older_file_gives_way),
		TEST(memory_is_used_where_it_can_be),
		TEST(what_cannot_be_made_is_an_error),
		TEST(python_writes_what_is_read_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
