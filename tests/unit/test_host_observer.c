/* The bytes of a process tree against memory of known size. */
/* SPDX-License-Identifier: MIT */
/* USES base configs probes */
#include "base/units.h"
#include "probes/observers/host/host.h"
#include "probes/observers/host/host_origin.h"
#include "probes/observers/host/host_process.h"
#include "probes/observers/host/host_shm.h"
#include "probes/process/proctree.h"

#include "isolation_case.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define HELPER TEST_BINARY_DIR "/helpers/host_work"
#define LOADER TEST_SOURCE_DIR "/tests/data/host_loader.py"
#define PYTHON "/usr/bin/python3"
/* For whoever cannot come to their folders; open over an exec as well. */
#define HELPER_FD 100
#define HELPER_BY_FD "/proc/self/fd/100"
#define LOADER_FD 101
#define LOADER_BY_FD "/proc/self/fd/101"
/* Enough for any dear reading to be due again. */
#define LOOK_MS 10000
#define STEPS_MAX 8

/* A stand-in for the keeper with one program below it. */
struct fixture {
	pid_t keeper;
	int in, out; /* the program's stdin and stdout */
	struct host_observer *observer;
	struct host_reading reading;
	int64_t now_ms;
};

static void keeper_run(const int in[2], const int out[2], char *const argv[],
		       const struct isolation_spec *isolation)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fork() == 0) {
		struct error err = ERROR_INIT;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)dup2(in[0], STDIN_FILENO);
		(void)dup2(out[1], STDOUT_FILENO);
		if (isolation && isolation_enter(isolation, &err) < 0) {
			(void)fprintf(stderr, "no view: %s\n", err.message);
			_exit(CASE_NO_ENTRY);
		}
		(void)execv(argv[0], argv);
		_exit(127);
	}
	(void)close(in[0]);
	(void)close(in[1]);
	(void)close(out[0]);
	(void)close(out[1]);
	for (;;)
		(void)pause();
}

static void start_in(struct fixture *fixture, char *const argv[],
		     const struct isolation_spec *isolation)
{
	int in[2], out[2];

	*fixture = (struct fixture){ 0 };
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	fixture->keeper = fork();
	assert_true(fixture->keeper >= 0);
	if (fixture->keeper == 0)
		keeper_run(in, out, argv, isolation);
	(void)close(in[0]);
	(void)close(out[1]);
	fixture->in = in[1];
	fixture->out = out[0];
	assert_int_equal(
		host_observer_open(&fixture->observer, fixture->keeper, NULL),
		0);
}

static void start(struct fixture *fixture, char *const argv[])
{
	start_in(fixture, argv, NULL);
}

static void line_receive(const struct fixture *fixture, char *line, size_t size)
{
	size_t length = 0;
	char byte = 0;

	while (byte != '\n') {
		/* The end of the file: the program failed. */
		assert_int_equal(read(fixture->out, &byte, 1), 1);
		if (length < size - 1 && byte != '\n')
			line[length++] = byte;
	}
	line[length] = '\0';
}

static void expect_ok(const struct fixture *fixture)
{
	char line[16];

	line_receive(fixture, line, sizeof(line));
	assert_string_equal(line, "ok");
}

static void start_helper(struct fixture *fixture)
{
	char program[] = HELPER;
	char *const argv[] = { program, NULL };

	start(fixture, argv);
	expect_ok(fixture);
}

static void tell(const struct fixture *fixture, const char *line)
{
	assert_int_equal(write(fixture->in, line, strlen(line)),
			 (ssize_t)strlen(line));
	assert_int_equal(write(fixture->in, "\n", 1), 1);
	expect_ok(fixture);
}

static void look_now(struct fixture *fixture, uint64_t limit_bytes)
{
	host_observer_sample(fixture->observer, fixture->now_ms, limit_bytes,
			     &fixture->reading);
}

static void look(struct fixture *fixture)
{
	fixture->now_ms += LOOK_MS;
	look_now(fixture, 0);
}

/* To the end of the file: nobody has it any more. */
static void drain(const struct fixture *fixture)
{
	char line[64];

	while (read(fixture->out, line, sizeof(line)) > 0)
		continue;
}

static void end_processes(struct fixture *fixture)
{
	struct pid_list list = PID_LIST_INIT;

	(void)proctree_descendants(fixture->keeper, PROCTREE_WHOLE, &list);
	for (size_t i = 0; i < list.count; i++)
		(void)kill(list.items[i], SIGKILL);
	(void)kill(fixture->keeper, SIGKILL);
	drain(fixture);
	assert_int_equal(waitpid(fixture->keeper, NULL, 0), fixture->keeper);
	pid_list_release(&list);
}

static void finish(struct fixture *fixture)
{
	end_processes(fixture);
	(void)close(fixture->in);
	(void)close(fixture->out);
	host_observer_close(fixture->observer);
}

/* Within 2% of what is known, or of 3 MiB where that is (nearly) nothing. */
static void assert_near(uint64_t bytes, uint64_t mebibytes)
{
	uint64_t expected = mebibytes * MIB;
	uint64_t slack = expected / 50 > 3 * MIB ? expected / 50 : 3 * MIB;

	if (bytes > expected + slack || bytes + slack < expected)
		fail_msg("%.1f MiB, not %llu MiB", (double)bytes / MIB,
			 (unsigned long long)mebibytes);
}

/* %s in a step becomes the path of a new file in /dev/shm. */
struct truth {
	const char *name;
	const char *steps[STEPS_MAX]; /* a look after each */
	uint64_t current_mib, peak_mib;
	size_t processes;
};

static const struct truth truths[] = {
	{ "one process", { "anon x 300" }, 300, 300, 1 },
	{ "copies on write are private, the rest is shared",
	  { "anon x 300", "child write 50", "child write 50",
	    "child write 50" },
	  450,
	  450,
	  4 },
	{ "a child that frees what it inherited frees nothing",
	  { "anon x 300", "child free", "child free" },
	  300,
	  300,
	  3 },
	{ "children that came and went",
	  { "anon x 100", "child write 100", "child write 100", "reap" },
	  100,
	  300,
	  1 },
	{ "one shared mapping of four processes",
	  { "shared x 300", "child read", "child read", "child read" },
	  300,
	  300,
	  4 },
	{ "an open file in /dev/shm that nobody maps",
	  { "create %s 300", "unlink %s" },
	  300,
	  300,
	  1 },
	{ "a closed file in /dev/shm",
	  { "create %s 300", "close" },
	  300,
	  300,
	  1 },
	{ "a file in /dev/shm closed and removed",
	  { "create %s 300", "close", "unlink %s" },
	  0,
	  300,
	  1 },
	{ "a memfd beside anonymous memory",
	  { "anon x 100", "memfd x 200" },
	  300,
	  300,
	  1 },
	{ "a memfd that is mapped in part counts once",
	  { "memfd x 300", "map x 100" },
	  300,
	  300,
	  1 },
	{ "a memfd mapped whole and closed counts by its mapping",
	  { "memfd x 300", "map x 300", "close" },
	  300,
	  300,
	  1 },
	{ "a memfd mapped in part beside another shared mapping",
	  { "shared x 100", "memfd x 200", "map x 150" },
	  300,
	  300,
	  1 },
	{ "a named file mapped by four and held by one counts once",
	  { "create %s 300", "map x 300", "child read", "child read",
	    "child read" },
	  300,
	  300,
	  4 },
	{ "a named file mapped and closed counts once",
	  { "create %s 300", "map x 150", "close" },
	  300,
	  300,
	  1 },
	{ "a reader of a mapped file",
	  { "read " TEST_BINARY_DIR "/host_observer_file" },
	  0,
	  0,
	  1 },
	{ "a reader of a mapped file with memory of its own",
	  { "read " TEST_BINARY_DIR "/host_observer_file", "anon x 300" },
	  300,
	  300,
	  1 },
	{ "a spike between two looks",
	  { "anon x 300", "spike x 400" },
	  300,
	  700,
	  1 },
	{ "a spike of a reader of a mapped file",
	  { "read " TEST_BINARY_DIR "/host_observer_file", "spike x 400" },
	  0,
	  400,
	  1 },
	{ "a spike in one of several processes",
	  { "anon x 300", "child write 50", "child write 50", "spike x 400" },
	  400,
	  800,
	  3 },
	{ "a spike beside a memfd",
	  { "memfd x 200", "anon x 50", "spike x 300" },
	  250,
	  550,
	  1 },
	{ "a small spike below an old peak",
	  { "anon x 200", "spike x 300", "spike x 200", "child write 50" },
	  250,
	  500,
	  2 },
	{ "file pages of the program before hide nothing",
	  { "read " TEST_BINARY_DIR "/host_observer_file", "exec",
	    "spike x 200" },
	  0,
	  200,
	  1 },
	{ "a new program has the peak of the tree, not of the old one",
	  { "anon x 300", "exec", "anon x 100" },
	  100,
	  300,
	  1 },
};

static void tell_step(const struct fixture *fixture, const char *step,
		      const char *path)
{
	const char *mark = strstr(step, "%s");
	char line[256];

	if (mark)
		(void)snprintf(line, sizeof(line), "%.*s%s%s",
			       (int)(mark - step), step, path, mark + 2);
	else
		(void)snprintf(line, sizeof(line), "%s", step);
	tell(fixture, line);
}

static void truth_check(const struct truth *truth)
{
	struct fixture fixture;
	char path[64];

	(void)snprintf(path, sizeof(path), "/dev/shm/autofit-test-%d",
		       (int)getpid());
	start_helper(&fixture);
	look(&fixture);
	for (size_t i = 0; i < STEPS_MAX && truth->steps[i]; i++) {
		tell_step(&fixture, truth->steps[i], path);
		look(&fixture);
	}
	look(&fixture);
	end_processes(&fixture);
	(void)host_observer_remove_shm(fixture.observer);
	assert_int_equal(access(path, F_OK), -1);
	assert_near(fixture.reading.current_bytes, truth->current_mib);
	assert_near(fixture.reading.peak_bytes, truth->peak_mib);
	assert_int_equal(fixture.reading.processes, truth->processes);
	(void)close(fixture.in);
	(void)close(fixture.out);
	host_observer_close(fixture.observer);
}

static void make_file(const char *path, size_t bytes)
{
	static char piece[MIB];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	memset(piece, 7, sizeof(piece));
	for (size_t done = 0; done < bytes; done += sizeof(piece))
		assert_int_equal(write(fd, piece, sizeof(piece)),
				 sizeof(piece));
	assert_int_equal(close(fd), 0);
}

static void bytes_of_known_trees(void **state)
{
	const char *file = TEST_BINARY_DIR "/host_observer_file";

	(void)state;
	make_file(file, 300 * MIB);
	for (size_t i = 0; i < sizeof(truths) / sizeof(*truths); i++) {
		print_message("  %s\n", truths[i].name);
		truth_check(&truths[i]);
	}
	assert_int_equal(unlink(file), 0);
}

static void vfork_check(void)
{
	struct fixture fixture;

	start_helper(&fixture);
	tell(&fixture, "anon x 300");
	look(&fixture);
	tell(&fixture, "vfork");
	look(&fixture);
	assert_int_equal(fixture.reading.processes, 2);
	assert_near(fixture.reading.current_bytes, 300);
	assert_near(fixture.reading.peak_bytes, 300);
	assert_int_equal(write(fixture.in, "\n", 1), 1);
	expect_ok(&fixture);
	look(&fixture);
	assert_int_equal(fixture.reading.processes, 1);
	assert_near(fixture.reading.peak_bytes, 300);
	finish(&fixture);
}

static void a_child_before_exec_is_not_counted_twice(void **state)
{
	(void)state;
	vfork_check();
}

/* Whenever it ends: its memory is that of who goes on. */
static void a_copy_that_ends_is_not_counted_twice(void **state)
{
	static const char forks[] = "forks x 400\n";
	struct fixture fixture;
	struct pollfd answer = { .events = POLLIN };

	(void)state;
	start_helper(&fixture);
	tell(&fixture, "anon x 300");
	look(&fixture);
	answer.fd = fixture.out;
	assert_int_equal(write(fixture.in, forks, sizeof(forks) - 1),
			 (ssize_t)sizeof(forks) - 1);
	while (poll(&answer, 1, 0) == 0)
		look(&fixture);
	expect_ok(&fixture);
	assert_near(fixture.reading.peak_bytes, 300);
	finish(&fixture);
}

/* Until what is made from now on is later on every clock. */
static void let_ticks_pass(void)
{
	uint64_t until = proctree_now_ticks() + 4;

	while (proctree_now_ticks() < until)
		continue;
}

static void path_of(char path[64], const char *name, int number)
{
	(void)snprintf(path, 64, "/dev/shm/%s_%d_autofit", name, number);
}

static void what_was_there_before_is_not_the_trees(void **state)
{
	char before[64], own[64], torch[64], other[64], stranger[64];
	struct fixture fixture;
	char line[128];
	size_t count;
	pid_t helper;

	(void)state;
	path_of(before, "before", getpid());
	make_file(before, 100 * MIB);
	let_ticks_pass();
	start_helper(&fixture);
	look(&fixture);
	helper = *host_observer_pids(fixture.observer, &count);
	assert_int_equal(count, 1);
	path_of(own, "own", helper);
	path_of(torch, "torch", helper);
	path_of(other, "other", helper);
	path_of(stranger, "torch", 1);

	(void)snprintf(line, sizeof(line), "read %s", before);
	tell(&fixture, line);
	/* No time for a dear reading: not known whose it is, so no peak. */
	look_now(&fixture, 0);
	assert_near(fixture.reading.peak_bytes, 0);
	look(&fixture);
	assert_near(fixture.reading.current_bytes, 0);
	assert_near(fixture.reading.peak_bytes, 0);
	/* A new program that maps both kinds before anyone looks. */
	tell(&fixture, "exec");
	look(&fixture);
	tell(&fixture, line);
	(void)snprintf(line, sizeof(line), "create %s 50", own);
	tell(&fixture, line);
	tell(&fixture, "map x 50");
	look(&fixture);
	assert_near(fixture.reading.current_bytes, 50);
	assert_near(fixture.reading.peak_bytes, 50);
	/* Never seen open, but named after a process of the tree. */
	make_file(torch, MIB);
	make_file(other, MIB);
	make_file(stranger, MIB);

	end_processes(&fixture);
	assert_int_equal(host_observer_remove_shm(fixture.observer), 2);
	assert_int_equal(access(own, F_OK), -1);
	assert_int_equal(access(torch, F_OK), -1);
	assert_int_equal(unlink(before), 0);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(unlink(stranger), 0);
	(void)close(fixture.in);
	(void)close(fixture.out);
	host_observer_close(fixture.observer);
}

static void a_file_that_took_the_name_stays(void **state)
{
	struct fixture fixture;
	char path[64], line[128];

	(void)state;
	path_of(path, "replaced", getpid());
	start_helper(&fixture);
	(void)snprintf(line, sizeof(line), "create %s 1", path);
	tell(&fixture, line);
	look(&fixture);
	assert_int_equal(unlink(path), 0);
	make_file(path, MIB);
	end_processes(&fixture);
	assert_int_equal(host_observer_remove_shm(fixture.observer), 0);
	assert_int_equal(unlink(path), 0);
	(void)close(fixture.in);
	(void)close(fixture.out);
	host_observer_close(fixture.observer);
}

/* Written whole under another name, in a folder that is of the tree as well. */
static void what_was_renamed_goes_with_its_new_folders(void **state)
{
	struct fixture fixture;
	char old[64], young[64], before[96], path[96], other[96], line[128];

	(void)state;
	path_of(old, "old", getpid());
	path_of(young, "young", getpid());
	(void)snprintf(before, sizeof(before), "%s/part", old);
	(void)snprintf(path, sizeof(path), "%s/part", young);
	(void)snprintf(other, sizeof(other), "%s/whole", young);
	assert_int_equal(mkdir(old, 0700), 0);
	let_ticks_pass();
	start_helper(&fixture);
	assert_int_equal(mkdir(young, 0700), 0);
	for (int i = 0; i < 2; i++) {
		(void)snprintf(line, sizeof(line), "create %s 1",
			       i ? before : path);
		tell(&fixture, line);
		look(&fixture);
		tell(&fixture, "close");
	}
	assert_int_equal(rename(path, other), 0);
	look(&fixture);
	assert_near(fixture.reading.current_bytes, 2);
	end_processes(&fixture);
	assert_int_equal(host_observer_remove_shm(fixture.observer), 2);
	assert_int_equal(access(young, F_OK), -1);
	assert_int_equal(rmdir(old), 0);
	(void)close(fixture.in);
	(void)close(fixture.out);
	host_observer_close(fixture.observer);
}

/* As on kernels whose tmpfs keeps no time of birth. */
static void without_births_a_list_tells_what_was_there(void **state)
{
	struct pid_list none = PID_LIST_INIT;
	struct host_process self;
	struct host_shm shm;
	char before[64], after[64];
	int before_fd, after_fd;

	(void)state;
	path_of(before, "before", getpid());
	path_of(after, "after", getpid());
	make_file(before, 2 * MIB);
	host_shm_init(&shm, getpid(), HOST_SHM_BIRTHS_LIST);
	make_file(after, 3 * MIB);
	before_fd = open(before, O_RDWR | O_CLOEXEC);
	after_fd = open(after, O_RDONLY | O_CLOEXEC);
	/* Written to: younger by all its times but that of birth. */
	assert_int_equal(pwrite(before_fd, "x", 1, 0), 1);
	assert_int_equal(host_process_open(&self, getpid()), 0);
	host_shm_scan_begin(&shm);
	host_shm_scan(&shm, &self);
	host_shm_scan_end(&shm);
	assert_int_equal(host_shm_bytes(&shm), 3 * MIB);
	assert_int_equal(host_shm_remove(&shm, &none), 1);
	assert_int_equal(access(after, F_OK), -1);
	assert_int_equal(unlink(before), 0);
	(void)close(before_fd);
	(void)close(after_fd);
	host_process_close(&self);
	host_shm_release(&shm);
}

static void signs_of_life_never_fall(void **state)
{
	struct host_reading before;
	struct fixture fixture;

	(void)state;
	start_helper(&fixture);
	look(&fixture);
	before = fixture.reading;
	assert_true(before.io_bytes > 0);
	assert_true(before.largest_vm_peak_bytes > 0);
	tell(&fixture, "burn x 5");
	tell(&fixture, "anon x 100");
	look(&fixture);
	assert_true(fixture.reading.cpu_ticks >= 5);
	assert_true(fixture.reading.io_bytes > before.io_bytes);
	assert_true(fixture.reading.largest_vm_peak_bytes >=
		    before.largest_vm_peak_bytes + 99 * MIB);
	assert_true(fixture.reading.largest_vm_data_bytes >= 100 * MIB);
	before = fixture.reading;
	end_processes(&fixture);
	look(&fixture);
	assert_int_equal(fixture.reading.processes, 0);
	assert_int_equal(fixture.reading.current_bytes, 0);
	assert_int_equal(fixture.reading.peak_bytes, before.peak_bytes);
	assert_int_equal(fixture.reading.cpu_ticks, before.cpu_ticks);
	assert_int_equal(fixture.reading.io_bytes, before.io_bytes);
	(void)close(fixture.in);
	(void)close(fixture.out);
	host_observer_close(fixture.observer);
}

static int64_t cpu_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Shared memory keeps the cheap sum above the peak for ever: each look would
 * like an exact reading. */
static void looking_costs_little(void **state)
{
	static const char *const steps[] = { "anon x 600", "child write 50",
					     "child write 50", "child write 50",
					     "memfd x 50" };
	const int64_t looks = 500;
	struct fixture fixture;
	int64_t began;

	(void)state;
	start_helper(&fixture);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		tell(&fixture, steps[i]);
	look(&fixture);
	began = cpu_ms();
	for (int64_t i = 0; i < looks; i++) {
		fixture.now_ms += 20;
		look_now(&fixture, 0);
	}
	began = cpu_ms() - began;
	print_message("  %.1f%% of a CPU\n",
		      100.0 * (double)began / (double)(looks * 20));
	finish(&fixture);
	/* Exact readings 5%, open files 2%, threads 2%, counters. */
	assert_in_range(began, 0, looks * 20 / 100 * 12);
}

/* Once it may be over the limit, waiting for the next reading is short. */
static void near_the_limit_safety_comes_first(void **state)
{
	struct fixture fixture;
	int64_t waited_ms = 0;

	(void)state;
	start_helper(&fixture);
	tell(&fixture, "anon x 300");
	tell(&fixture, "child write 10");
	look(&fixture);
	assert_near(fixture.reading.peak_bytes, 310);
	tell(&fixture, "child write 250");
	while (fixture.reading.peak_bytes < 500 * MIB && waited_ms < 1000) {
		waited_ms += 20;
		fixture.now_ms += 20;
		look_now(&fixture, 400 * MIB);
	}
	assert_near(fixture.reading.peak_bytes, 560);
	finish(&fixture);
}

/*
 * Looks at which no exact reading is due: what the same processes take of their
 * own makes a peak; of what may be shared nothing is claimed until it is caught
 * up with.
 */
static const struct hurry {
	const char *known[3], *hurried[3];
	uint64_t peak_mib, caught_up_mib, ended_mib;
	bool is_behind;
} hurries[] = {
	{ { "anon x 100", "child write 20" },
	  { "anon y 200" },
	  .peak_mib = 320,
	  .caught_up_mib = 320,
	  .ended_mib = 320,
	  .is_behind = true },
	{ { "anon x 100", "child write 20" },
	  { "anon y 200", "drop y" },
	  .peak_mib = 320,
	  .caught_up_mib = 320,
	  .ended_mib = 320 },
	{ { "anon x 100" },
	  { "shared x 200" },
	  .peak_mib = 100,
	  .caught_up_mib = 300,
	  .ended_mib = 300,
	  .is_behind = true },
	{ { "anon x 100", "child write 20" },
	  { "child write 50" },
	  .peak_mib = 120,
	  .caught_up_mib = 170,
	  .ended_mib = 120,
	  .is_behind = true },
};

/* A look after each; ms: how long after the look before. */
static void tell_all(struct fixture *fixture, const char *const steps[3],
		     int64_t ms)
{
	for (size_t i = 0; i < 3 && steps[i]; i++) {
		tell(fixture, steps[i]);
		fixture->now_ms += ms;
		look_now(fixture, 0);
	}
}

static void look_in_a_hurry(struct fixture *fixture, const struct hurry *hurry)
{
	start_helper(fixture);
	tell_all(fixture, hurry->known, LOOK_MS);
	tell_all(fixture, hurry->hurried, 0);
	assert_near(fixture->reading.peak_bytes, hurry->peak_mib);
}

static void what_no_reading_was_due_for_is_caught_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hurries) / sizeof(*hurries); i++) {
		const struct hurry *hurry = &hurries[i];
		struct fixture fixture;

		look_in_a_hurry(&fixture, hurry);
		assert_int_equal(host_observer_catch_up(fixture.observer,
							fixture.now_ms,
							&fixture.reading),
				 hurry->is_behind);
		assert_near(fixture.reading.peak_bytes, hurry->caught_up_mib);
		finish(&fixture);
		look_in_a_hurry(&fixture, hurry);
		host_observer_command_ended(fixture.observer, 0,
					    &fixture.reading);
		assert_near(fixture.reading.peak_bytes, hurry->ended_mib);
		finish(&fixture);
	}
}

/* What grew since the last look is in the kernel's maximum, which counts shared
 * pages too. */
static void a_command_that_ended_had_its_maximum(void **state)
{
	static const struct {
		const char *steps[2];
		uint64_t max_mib; /* 0: not known */
		uint64_t peak_mib;
		bool has_files;
	} rows[] = {
		{ { "anon x 60" }, 0, 60, false },
		{ { "anon x 60" }, 40, 60, false },
		{ { "anon x 60" }, 500, 500, true },
		{ { "anon x 60", "shared x 200" }, 500, 300, false },
		{ { "anon x 60", "shared x 200" }, 600, 600, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture fixture;

		start_helper(&fixture);
		for (size_t k = 0; k < 2 && rows[i].steps[k]; k++) {
			tell(&fixture, rows[i].steps[k]);
			look(&fixture);
		}
		host_observer_command_ended(fixture.observer,
					    rows[i].max_mib * MIB,
					    &fixture.reading);
		assert_near(fixture.reading.peak_bytes, rows[i].peak_mib);
		assert_int_equal(fixture.reading.peak_has_files,
				 rows[i].has_files);
		finish(&fixture);
	}
}

static void a_root_that_is_gone_is_an_error(void **state)
{
	struct host_observer *observer = NULL;
	struct error err = ERROR_INIT;
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(host_observer_open(&observer, pid, &err), -ESRCH);
	assert_null(observer);
	assert_non_null(strstr(err.message, "cannot observe"));
	host_observer_close(NULL);
}

static bool torch_is_there(void)
{
	return system(PYTHON " -c 'import torch.utils.data' 2>/dev/null") == 0;
}

/* Anonymous and mapped shared pages of one process, by smaps_rollup. */
static uint64_t share_of(pid_t pid)
{
	unsigned long long anon = 0, shmem = 0;
	char path[64], line[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "Pss_Anon:", 9))
			anon = strtoull(line + 9, NULL, 10);
		if (!strncmp(line, "Pss_Shmem:", 10))
			shmem = strtoull(line + 10, NULL, 10);
	}
	(void)fclose(file);
	return (anon + shmem) * KIB;
}

static void loader_check(char *script, const struct isolation_spec *isolation)
{
	char program[] = PYTHON, quiet[] = "-Wignore";
	char *const argv[] = { program, quiet, script, NULL };
	struct pid_list list = PID_LIST_INIT;
	struct fixture fixture;
	uint64_t truth = 0;
	char line[32];

	if (!torch_is_there()) {
		print_message("skipped: %s has no torch\n", PYTHON);
		skip();
	}
	start_in(&fixture, argv, isolation);
	line_receive(&fixture, line, sizeof(line));
	truth = strtoull(line, NULL, 10);
	assert_true(truth >= 64 * MIB);
	(void)proctree_descendants(fixture.keeper, PROCTREE_WHOLE, &list);
	for (size_t i = 0; i < list.count; i++)
		truth += share_of(list.items[i]);
	look(&fixture);
	look(&fixture);
	assert_int_equal(fixture.reading.processes, list.count);
	assert_true(list.count >= 5);
	print_message("  %.1f MiB\n", (double)truth / MIB);
	assert_near(fixture.reading.current_bytes, truth / MIB);
	assert_true(fixture.reading.peak_bytes >=
		    fixture.reading.current_bytes);
	/* It ends by itself then, and takes its temporary files along. */
	(void)close(fixture.in);
	drain(&fixture);
	end_processes(&fixture);
	(void)host_observer_remove_shm(fixture.observer);
	(void)close(fixture.out);
	host_observer_close(fixture.observer);
	pid_list_release(&list);
}

static void a_data_loader_is_counted_once_and_whole(void **state)
{
	char script[] = LOADER;

	(void)state;
	loader_check(script, NULL);
}

/* ------------------------------------------ in a view, with its /dev/shm */

static const struct truth views[] = {
	{ "one process", { "anon x 300" }, 300, 300, 1 },
	{ "a file that nobody maps",
	  { "create %s 300", "close" },
	  300,
	  300,
	  1 },
	{ "mapped by four",
	  { "create %s 300", "map x 300", "close", "child read", "child read",
	    "child read" },
	  300,
	  300,
	  4 },
	{ "removed, and mapped by four",
	  { "create %s 300", "map x 300", "close", "unlink %s", "child read",
	    "child read", "child read" },
	  300,
	  300,
	  4 },
	{ "removed, open and mapped in part",
	  { "create %s 300", "unlink %s", "map x 100" },
	  300,
	  300,
	  1 },
	{ "removed, and mapped in part",
	  { "create %s 300", "map x 100", "close", "unlink %s" },
	  300,
	  300,
	  1 },
	{ "removed", { "create %s 300", "close", "unlink %s" }, 0, 300, 1 },
	{ "beside what has no name",
	  { "shared x 100", "memfd x 100", "create %s 100", "map x 50" },
	  300,
	  300,
	  1 },
	{ "beside memory of its own, in two processes",
	  { "anon x 100", "create %s 100", "map x 100", "child write 50" },
	  250,
	  250,
	  2 },
	{ "a spike beside it",
	  { "create %s 200", "close", "anon x 50", "spike x 300" },
	  250,
	  550,
	  1 },
};

static void view_check(const struct truth *truth,
		       const struct isolation_spec *view)
{
	char program[] = HELPER_BY_FD;
	char *const argv[] = { program, NULL };
	struct fixture fixture;
	char path[64];

	(void)snprintf(path, sizeof(path), "/dev/shm/autofit-test-%d",
		       (int)getpid());
	start_in(&fixture, argv, view);
	expect_ok(&fixture);
	look(&fixture);
	for (size_t i = 0; i < STEPS_MAX && truth->steps[i]; i++) {
		tell_step(&fixture, truth->steps[i], path);
		assert_int_equal(access(path, F_OK), -1);
		look(&fixture);
	}
	look(&fixture);
	assert_near(fixture.reading.current_bytes, truth->current_mib);
	assert_near(fixture.reading.peak_bytes, truth->peak_mib);
	assert_int_equal(fixture.reading.processes, truth->processes);
	end_processes(&fixture);
	look(&fixture);
	assert_int_equal(fixture.reading.current_bytes, 0);
	assert_int_equal(host_observer_remove_shm(fixture.observer), 0);
	(void)close(fixture.in);
	(void)close(fixture.out);
	host_observer_close(fixture.observer);
}

/* The case is in a folder of the state's, and its spec is for a view. */
static struct isolation_spec view_make(struct isolation_case *made,
				       void **state)
{
	case_make(made, *state, geteuid());
	return case_spec(made, ISOLATION_VIEW);
}

static void bytes_of_known_trees_in_a_view(void **state)
{
	struct isolation_case made;
	const struct isolation_spec view = view_make(&made, state);

	for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
		print_message("  %s\n", views[i].name);
		view_check(&views[i], &view);
		(void)case_remove_layers(&made);
	}
	case_release(&made);
}

static void what_was_there_before_a_view_is_not_the_trees(void **state)
{
	char program[] = HELPER_BY_FD;
	char *const argv[] = { program, NULL };
	char before[64], own[64], line[128];
	struct isolation_case made;
	const struct isolation_spec view = view_make(&made, state);
	struct fixture fixture;

	path_of(before, "before", getpid());
	path_of(own, "own", getpid());
	make_file(before, 100 * MIB);
	let_ticks_pass();
	start_in(&fixture, argv, &view);
	expect_ok(&fixture);
	(void)snprintf(line, sizeof(line), "read %s", before);
	tell(&fixture, line);
	look(&fixture);
	assert_near(fixture.reading.current_bytes, 0);
	(void)snprintf(line, sizeof(line), "create %s 50", own);
	tell(&fixture, line);
	tell(&fixture, "map x 50");
	look(&fixture);
	finish(&fixture);
	assert_near(fixture.reading.current_bytes, 50);
	assert_near(fixture.reading.peak_bytes, 50);
	assert_int_equal(unlink(before), 0);
	(void)case_remove_layers(&made);
	case_release(&made);
}

static void a_data_loader_in_a_view_is_counted_too(void **state)
{
	struct isolation_case made;
	const struct isolation_spec view = view_make(&made, state);
	char script[SCRATCH_PATH_MAX];

	(void)scratch_path(script, *state, "loader.py");
	loader_check(script, &view);
	(void)case_remove_layers(&made);
	case_release(&made);
}

static int copy_loader(void **state)
{
	char path[SCRATCH_PATH_MAX];
	char *text = case_read(LOADER_BY_FD);
	int result = scratch_make(state);

	if (result == 0)
		result = scratch_write(scratch_path(path, *state, "loader.py"),
				       text, strlen(text));
	free(text);
	return result;
}

#define VIEW_TESTS                                                             \
	cmocka_unit_test_setup_teardown(bytes_of_known_trees_in_a_view,        \
					scratch_make, scratch_remove),         \
		cmocka_unit_test_setup_teardown(                               \
			what_was_there_before_a_view_is_not_the_trees,         \
			scratch_make, scratch_remove),                         \
		cmocka_unit_test_setup_teardown(                               \
			a_data_loader_in_a_view_is_counted_too, copy_loader,   \
			scratch_remove)

/* This program as somebody else, who may not come to its folder. */
static void exec_self_as(uid_t user)
{
	char self[64];
	int fd = open("/proc/self/exe", O_RDONLY);
	char *const argv[] = { self, (char[]){ "views" }, NULL };

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	case_become(user);
	(void)execv(self, argv);
	_exit(127);
}

static void views_of_an_ordinary_user_count_the_same(void **state)
{
	int status = -1;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		exec_self_as(CASE_NOBODY);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void refuse_kcmp(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kcmp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(code) / sizeof(*code),
		.filter = code,
	};

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
			 0);
}

/* As in most containers. The last test: there is no way back. */
static void without_kcmp_a_child_before_exec_is_known_too(void **state)
{
	static const struct truth forked = {
		"forked children count",
		{ "anon x 300", "child write 50", "child write 50" },
		400,
		400,
		3,
	};

	(void)state;
	refuse_kcmp();
	assert_int_equal(syscall(SYS_kcmp, getpid(), getpid(), 0, 0, 0), -1);
	vfork_check();
	truth_check(&forked);
}

/* Its two children write a tenth of what they have from it. */
static pid_t program_with_copies(struct fixture *fixture)
{
	const pid_t *pids;
	pid_t program;
	size_t count;

	start_helper(fixture);
	tell(fixture, "anon x 300");
	look(fixture);
	pids = host_observer_pids(fixture->observer, &count);
	assert_int_equal(count, 1);
	program = pids[0];
	tell(fixture, "child write 30");
	tell(fixture, "child write 30");
	look(fixture);
	assert_int_equal(fixture->reading.processes, 3);
	return program;
}

/* What a zygote and its copies share is the copies', who would have it alone.
 */
static void a_copy_has_what_it_shares_with_its_origin(void **state)
{
	struct fixture fixture;
	struct host_observer *copies;
	struct host_reading reading;
	pid_t origin = program_with_copies(&fixture);

	(void)state;
	assert_int_equal(host_observer_open(&copies, origin, NULL), 0);
	host_observer_copied_from(copies, origin);
	host_observer_sample(copies, LOOK_MS, 0, &reading);
	/* 270 that all three have, and what each has written. */
	assert_near(reading.current_bytes, 330);
	assert_near(reading.peak_bytes, 330);
	assert_int_equal(reading.processes, 2);
	host_observer_close(copies);
	finish(&fixture);
}

/* Whoever else is a copy at that moment takes a part of each page too. */
static void a_copy_lacks_no_more_than_others_have(void **state)
{
	struct fixture fixture;
	struct host_origin origin;
	struct host_process copy;
	struct host_share share;
	pid_t program = program_with_copies(&fixture);
	const pid_t *pids;
	size_t count;

	(void)state;
	tell(&fixture, "child write 30");
	look(&fixture);
	pids = host_observer_pids(fixture.observer, &count);
	assert_int_equal(count, 4);
	assert_int_equal(pids[0], program);
	host_origin_init(&origin);
	host_origin_open(&origin, program, pids[1]);
	assert_int_equal(host_process_open(&copy, pids[2]), 0);
	assert_int_equal(host_process_share(&copy, &share), 0);
	copy.others_part = share.whole - share.anon;
	assert_near(share.anon + host_origin_lent(&origin, &copy, 1), 300);
	host_process_close(&copy);
	host_origin_release(&origin);
	finish(&fixture);
}

static void launchers_are_those_that_wait_for_it(void **state)
{
	struct fixture fixture;
	pid_t program = program_with_copies(&fixture);
	const pid_t *pids;
	size_t count;

	(void)state;
	pids = host_observer_pids(fixture.observer, &count);
	for (size_t i = 0; i < count; i++)
		assert_near(host_observer_launchers(fixture.observer, pids[i]),
			    pids[i] == program ? 0 : 300);
	assert_int_equal(host_observer_launchers(fixture.observer, getpid()),
			 0);
	finish(&fixture);
}

static void keep_open(const char *path, int fd)
{
	int opened = open(path, O_RDONLY | O_CLOEXEC);

	if (opened >= 0)
		(void)dup2(opened, fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_of_known_trees),
		cmocka_unit_test(a_child_before_exec_is_not_counted_twice),
		cmocka_unit_test(a_copy_that_ends_is_not_counted_twice),
		cmocka_unit_test(what_was_there_before_is_not_the_trees),
		cmocka_unit_test(a_file_that_took_the_name_stays),
		cmocka_unit_test(what_was_renamed_goes_with_its_new_folders),
		cmocka_unit_test(without_births_a_list_tells_what_was_there),
		cmocka_unit_test(signs_of_life_never_fall),
		cmocka_unit_test(looking_costs_little),
		cmocka_unit_test(near_the_limit_safety_comes_first),
		cmocka_unit_test(what_no_reading_was_due_for_is_caught_up),
		cmocka_unit_test(a_command_that_ended_had_its_maximum),
		cmocka_unit_test(a_root_that_is_gone_is_an_error),
		cmocka_unit_test(a_data_loader_is_counted_once_and_whole),
		cmocka_unit_test(a_copy_has_what_it_shares_with_its_origin),
		cmocka_unit_test(a_copy_lacks_no_more_than_others_have),
		cmocka_unit_test(launchers_are_those_that_wait_for_it),
		VIEW_TESTS,
		cmocka_unit_test(views_of_an_ordinary_user_count_the_same),
		cmocka_unit_test(without_kcmp_a_child_before_exec_is_known_too),
	};
	const struct CMUnitTest view_tests[] = { VIEW_TESTS };

	/* A program that failed shows as a failed test, not as a signal. */
	(void)signal(SIGPIPE, SIG_IGN);
	if (argc == 2 && strcmp(argv[1], "views") == 0)
		return cmocka_run_group_tests(view_tests, NULL, NULL);
	keep_open(HELPER, HELPER_FD);
	keep_open(LOADER, LOADER_FD);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
