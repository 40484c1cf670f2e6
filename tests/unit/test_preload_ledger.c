/* The page as many processes write it at once, and as they leave it. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/preload/ledger/ledger.h"

/* The library is a program of its own and no room that a test could link. */
/* NOLINTBEGIN(bugprone-suspicious-include) */
#include "probes/preload/ledger/ledger.c"
#include "probes/preload/ledger/ledger_bytes.c"
#include "probes/preload/ledger/ledger_counts.c"
#include "probes/preload/ledger/ledger_dead.c"
#include "probes/preload/ledger/ledger_events.c"
#include "probes/preload/ledger/ledger_rows.c"
#include "probes/preload/ledger/process.c"
#include "probes/preload/ledger/table.c"
/* NOLINTEND(bugprone-suspicious-include) */

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cmocka.h>

#include <pthread.h>

#define MIB (UINT64_C(1) << 20)
/* Longer than any machine takes, and shorter than a test may. */
#define WAIT_SECONDS 600

/*
 * The parent never opens the page: it maps it to look. Each process under test
 * is a child, for a process has one slot. They meet at the gates.
 */
struct gates {
	uint32_t arrived[8];
	uint32_t open[8];
};

struct fixture {
	char folder[32], path[64];
	struct preload_page *page;
	struct gates *gates;
};

static const unsigned char uuid_a[16] = { 1, 2, 3 };

static void fresh_page(struct preload_page *page)
{
	memset(page, 0, sizeof(*page));
	page->header.version = PRELOAD_VERSION;
	page->header.slots = PRELOAD_SLOTS;
	page->header.size = sizeof(*page);
	page->header.magic = PRELOAD_MAGIC;
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char *file;
	int fd;

	if (!fixture)
		return -1;
	*state = fixture;
	(void)snprintf(fixture->folder, sizeof(fixture->folder),
		       "/tmp/test_ledger-XXXXXX");
	if (!mkdtemp(fixture->folder))
		return -1;
	(void)snprintf(fixture->path, sizeof(fixture->path), "%s/channel",
		       fixture->folder);
	fd = open(fixture->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, FILE_SIZE))
		return -1;
	file = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	fixture->gates =
		mmap(NULL, sizeof(*fixture->gates), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (file == MAP_FAILED || fixture->gates == MAP_FAILED || close(fd))
		return -1;
	fixture->page = (void *)(file + PRELOAD_PAGE_OFFSET);
	fresh_page(fixture->page);
	return setenv(PRELOAD_PATH_VARIABLE, fixture->path, 1) ||
	       unsetenv(PRELOAD_FD_VARIABLE) ||
	       unsetenv(PRELOAD_SWITCH_VARIABLE) || unsetenv("RANK");
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	(void)munmap((char *)fixture->page - PRELOAD_PAGE_OFFSET, FILE_SIZE);
	(void)munmap(fixture->gates, sizeof(*fixture->gates));
	(void)unlink(fixture->path);
	(void)rmdir(fixture->folder);
	free(fixture);
	return 0;
}

/* In a child: the line says what was wrong. */
#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__,         \
				      __LINE__, #condition);                   \
			_exit(1);                                              \
		}                                                              \
	} while (0)

typedef void child_fn(struct fixture *fixture, int number);

static pid_t start(struct fixture *fixture, child_fn *run, int number)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		alarm(WAIT_SECONDS);
		run(fixture, number);
		_exit(0);
	}
	return pid;
}

static void finish(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void run_one(struct fixture *fixture, child_fn *run)
{
	finish(start(fixture, run, 0));
}

/* A child waits at its gate until the parent opens it. */
static void pass(struct fixture *fixture, int gate)
{
	(void)__atomic_add_fetch(&fixture->gates->arrived[gate], 1,
				 __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&fixture->gates->open[gate], __ATOMIC_SEQ_CST))
		(void)sched_yield();
}

static void await(struct fixture *fixture, int gate, uint32_t count)
{
	time_t end = time(NULL) + WAIT_SECONDS;

	while (__atomic_load_n(&fixture->gates->arrived[gate],
			       __ATOMIC_SEQ_CST) < count) {
		assert_true(time(NULL) < end);
		(void)sched_yield();
	}
}

static void open_gate(struct fixture *fixture, int gate)
{
	__atomic_store_n(&fixture->gates->open[gate], 1, __ATOMIC_SEQ_CST);
}

static int open_device(void)
{
	int device;

	CHECK(ledger_open());
	device = ledger_device(uuid_a);
	CHECK(device == 0);
	return device;
}

static void allocate(int device, uint64_t bytes)
{
	CHECK(ledger_take(device, bytes));
	ledger_done();
}

static void release(int device, uint64_t bytes)
{
	ledger_give_begin();
	ledger_give(device, bytes);
	ledger_done();
}

enum damage {
	NONE,
	NO_PATH,
	BY_DESCRIPTOR,
	WRONG_DESCRIPTOR,
	SWITCHED_OFF,
	SWITCHED_ON,
	MAGIC,
	VERSION,
	SLOTS,
	SIZE,
	SHORT,
};

static const struct {
	const char *title;
	enum damage damage;
	bool opens;
} openings[] = {
	{ "a page", NONE, true },
	{ "no path", NO_PATH, false },
	{ "a descriptor", BY_DESCRIPTOR, true },
	{ "a descriptor of something else", WRONG_DESCRIPTOR, false },
	{ "switched off", SWITCHED_OFF, false },
	{ "switched on", SWITCHED_ON, true },
	{ "another file", MAGIC, false },
	{ "another version", VERSION, false },
	{ "other slots", SLOTS, false },
	{ "another size", SIZE, false },
	{ "a shorter file", SHORT, false },
};

static void damage_page(struct fixture *fixture, enum damage damage)
{
	struct preload_header *header = &fixture->page->header;

	header->magic += damage == MAGIC;
	header->version += damage == VERSION;
	header->slots -= damage == SLOTS;
	header->size += damage == SIZE;
	if (damage == SHORT)
		CHECK(!truncate(fixture->path, FILE_SIZE - 1));
}

static void damage_environment(struct fixture *fixture, enum damage damage)
{
	char number[16];
	int fd;

	if (damage == NO_PATH || damage == BY_DESCRIPTOR)
		CHECK(!setenv(PRELOAD_PATH_VARIABLE, "/nowhere/at/all", 1));
	if (damage == SWITCHED_OFF || damage == SWITCHED_ON)
		CHECK(!setenv(PRELOAD_SWITCH_VARIABLE,
			      damage == SWITCHED_OFF ? "0" : "1", 1));
	if (damage != BY_DESCRIPTOR && damage != WRONG_DESCRIPTOR)
		return;
	if (damage == WRONG_DESCRIPTOR)
		CHECK(!unsetenv(PRELOAD_PATH_VARIABLE));
	fd = open(damage == BY_DESCRIPTOR ? fixture->path : "/dev/zero",
		  O_RDWR);
	CHECK(fd >= 0);
	(void)snprintf(number, sizeof(number), "%d", fd);
	CHECK(!setenv(PRELOAD_FD_VARIABLE, number, 1));
}

static void open_damaged(struct fixture *fixture, int number)
{
	bool opens = openings[number].opens;

	damage_page(fixture, openings[number].damage);
	damage_environment(fixture, openings[number].damage);
	errno = EXDEV;
	CHECK(ledger_open() == opens);
	CHECK(ledger_open() == opens);
	CHECK(errno == EXDEV);
	/* Nothing is counted, and nothing is refused. */
	CHECK(ledger_take(0, MIB));
	ledger_untake(0, MIB);
	ledger_done();
	ledger_launch();
	CHECK(errno == EXDEV);
	CHECK(ledger_cap(0) == 0 && ledger_room(0) == 0);
	if (openings[number].damage != SHORT)
		CHECK(fixture->page->header.slots_used == (opens ? 1 : 0));
}

static void it_opens_what_is_a_page(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++) {
		fresh_page(fixture->page);
		print_message("%s\n", openings[i].title);
		finish(start(fixture, open_damaged, (int)i));
	}
}

static void open_as_rank(struct fixture *fixture, int number)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%d", number);
	CHECK(!setenv(number % 2 ? "RANK" : "SLURM_PROCID", text, 1));
	CHECK(ledger_open());
	CHECK(fixture->page->slots[0].rank == number);
}

static void a_slot_says_who_it_is(void **state)
{
	struct fixture *fixture = *state;
	const struct preload_slot *slot = &fixture->page->slots[0];
	pid_t pid = start(fixture, open_as_rank, 3);

	finish(pid);
	assert_int_equal(slot->pid, pid);
	assert_true(slot->start_time > 0);
	assert_int_equal(slot->rank, 3);
	fresh_page(fixture->page);
	finish(start(fixture, open_as_rank, 4));
}

static void count_bytes(struct fixture *fixture, int number)
{
	int device = open_device();
	struct preload_device *row = &fixture->page->devices[0];
	struct preload_use *use = &fixture->page->slots[0].devices[0];

	(void)number;
	CHECK(ledger_take(device, 100));
	CHECK(row->current_bytes == 100 && use->current_bytes == 100);
	CHECK(row->peak_bytes == 0 && use->peak_bytes == 0);
	CHECK(fixture->page->slots[0].busy == 1);
	ledger_done();
	CHECK(row->peak_bytes == 100 && use->peak_bytes == 100);
	CHECK(fixture->page->slots[0].busy == 0);
	allocate(device, 50);
	release(device, 100);
	CHECK(row->current_bytes == 50 && use->current_bytes == 50);
	/* Refused: it never was a peak. */
	CHECK(ledger_take(device, 1000));
	ledger_untake(device, 1000);
	ledger_done();
	CHECK(row->current_bytes == 50 && row->peak_bytes == 150);
	CHECK(use->peak_bytes == 150 && use->largest_bytes == 100);
	CHECK(use->pending_bytes == 0);
	/* What is asked for once it computes is no pool of its own. */
	ledger_launch();
	allocate(device, 120);
	release(device, 120);
	CHECK(use->largest_bytes == 100);
	/* More than it has: only that. */
	release(device, 1000);
	CHECK(row->current_bytes == 0 && use->current_bytes == 0);
	/* What nobody has: no sum of it. */
	CHECK(ledger_take(device, UINT64_MAX));
	CHECK(row->current_bytes == 0);
	ledger_done();
	CHECK(row->peak_bytes == 170);
	CHECK(fixture->page->slots[0].flags ==
	      (PRELOAD_CUDA | PRELOAD_CONTEXT));
}

static void bytes_come_and_go(void **state)
{
	run_one(*state, count_bytes);
}

static void count_pools(struct fixture *fixture, int number)
{
	int device = open_device();
	struct preload_device *row = &fixture->page->devices[0];
	struct preload_use *use = &fixture->page->slots[0].devices[0];

	(void)number;
	allocate(device, 10);
	ledger_pool(device, 0, 100);
	CHECK(row->current_bytes == 110 && row->peak_bytes == 110);
	CHECK(use->pool_bytes == 100 && use->largest_bytes == 100);
	ledger_pool(device, 100, 30);
	CHECK(row->current_bytes == 40 && row->peak_bytes == 110);
	ledger_pool(device, 30, 30);
	ledger_pool(device, 100, 0);
	CHECK(row->current_bytes == 10 && use->pool_bytes == 0);
}

static void pools_are_within(void **state)
{
	run_one(*state, count_pools);
}

static void count_apart(struct fixture *fixture, int number)
{
	int device = open_device();
	struct preload_device *row = &fixture->page->devices[0];
	struct preload_slot *slot = &fixture->page->slots[0];

	(void)number;
	ledger_managed(device, 100);
	ledger_managed(device, 50);
	ledger_managed(device, -120);
	ledger_host(7);
	ledger_host(5);
	ledger_host(-100);
	CHECK(row->current_bytes == 0 && row->peak_bytes == 0);
	CHECK(row->managed_bytes == 30 && row->managed_peak_bytes == 150);
	CHECK(slot->devices[0].managed_bytes == 30);
	CHECK(slot->host_bytes == 0 && slot->host_peak_bytes == 12);
	ledger_managed(device, -1000);
	CHECK(row->managed_bytes == 0);
}

static void managed_and_host_are_apart(void **state)
{
	run_one(*state, count_apart);
}

static void count_calls(struct fixture *fixture, int number)
{
	struct preload_slot *slot = &fixture->page->slots[0];
	int device = open_device();

	(void)number;
	ledger_allocation();
	ledger_allocation();
	ledger_free();
	CHECK(!slot->flags);
	ledger_launch();
	ledger_synchronization();
	ledger_copy(5, 0);
	ledger_copy(0, 7);
	ledger_context(device);
	ledger_total(device, 77);
	ledger_flag(PRELOAD_NVML);
	CHECK(slot->allocations == 2 && slot->frees == 1);
	CHECK(slot->launches == 1 && slot->synchronizations == 1);
	CHECK(slot->to_device_bytes == 5 && slot->to_host_bytes == 7);
	CHECK(slot->devices[0].contexts == 1);
	CHECK(fixture->page->devices[0].total_bytes == 77);
	CHECK(slot->flags == (PRELOAD_CUDA | PRELOAD_CONTEXT | PRELOAD_NVML));
}

static void calls_are_counted(void **state)
{
	run_one(*state, count_calls);
}

#define RANKS 8

static void hold_a_share(struct fixture *fixture, int number)
{
	uint64_t bytes = (uint64_t)(number + 1) * 10 * MIB;
	int device = open_device();

	pass(fixture, 0);
	allocate(device, bytes);
	pass(fixture, 1);
	release(device, bytes);
}

static void the_peak_is_of_the_sum(void **state)
{
	struct fixture *fixture = *state;
	struct preload_device *row = &fixture->page->devices[0];
	pid_t pids[RANKS];

	for (int i = 0; i < RANKS; i++)
		pids[i] = start(fixture, hold_a_share, i);
	for (int gate = 0; gate < 2; gate++) {
		await(fixture, gate, RANKS);
		open_gate(fixture, gate);
	}
	for (int i = 0; i < RANKS; i++)
		finish(pids[i]);
	assert_int_equal(row->peak_bytes, 360 * MIB);
	assert_int_equal(row->current_bytes, 0);
	assert_int_equal(fixture->page->header.slots_used, RANKS);
	for (int i = 0; i < RANKS; i++) {
		const struct preload_slot *slot = &fixture->page->slots[i];

		assert_int_equal(slot->devices[0].current_bytes, 0);
		assert_int_equal(slot->devices[0].peak_bytes % (10 * MIB), 0);
	}
}

#define STORM_ROUNDS 20000
#define STORM_BYTES 1000
#define STORM_RANKS 4

static void ask_in_vain(int device)
{
	CHECK(ledger_take(device, 1000 * MIB));
	ledger_untake(device, 1000 * MIB);
	ledger_done();
}

/* Half of what is asked for is refused, and is never a peak. */
static void storm(struct fixture *fixture, int number)
{
	unsigned int seed = (unsigned int)number;
	int device = open_device();

	pass(fixture, 0);
	for (int i = 0; i < STORM_ROUNDS; i++) {
		if (rand_r(&seed) % 2) {
			allocate(device, STORM_BYTES);
			release(device, STORM_BYTES);
		} else {
			ask_in_vain(device);
		}
	}
}

static void a_storm_leaves_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct preload_device *row = &fixture->page->devices[0];
	pid_t pids[STORM_RANKS];

	for (int i = 0; i < STORM_RANKS; i++)
		pids[i] = start(fixture, storm, i);
	await(fixture, 0, STORM_RANKS);
	open_gate(fixture, 0);
	for (int i = 0; i < STORM_RANKS; i++)
		finish(pids[i]);
	assert_int_equal(row->current_bytes, 0);
	assert_in_range(row->peak_bytes, STORM_BYTES,
			STORM_RANKS * STORM_BYTES);
	for (int i = 0; i < STORM_RANKS; i++) {
		assert_int_equal(fixture->page->slots[i].busy, 0);
		assert_int_equal(
			fixture->page->slots[i].devices[0].pending_bytes, 0);
	}
}

/* Waiting for the driver's answer, with a gigabyte asked for. */
static void ask_for_much(struct fixture *fixture, int number)
{
	int device = open_device();

	(void)number;
	CHECK(ledger_take(device, 1000 * MIB));
	pass(fixture, 0);
	ledger_untake(device, 1000 * MIB);
	ledger_done();
}

static void ask_for_little(struct fixture *fixture, int number)
{
	int device = open_device();

	(void)number;
	allocate(device, MIB);
	CHECK(fixture->page->devices[0].current_bytes == 1001 * MIB);
	CHECK(fixture->page->devices[0].peak_bytes == MIB);
}

static void what_waits_is_no_peak(void **state)
{
	struct fixture *fixture = *state;
	pid_t pid = start(fixture, ask_for_much, 0);

	await(fixture, 0, 1);
	run_one(fixture, ask_for_little);
	open_gate(fixture, 0);
	finish(pid);
	assert_int_equal(fixture->page->devices[0].peak_bytes, MIB);
}

static void hold_for_ever(struct fixture *fixture, int number)
{
	int device = open_device();

	(void)number;
	allocate(device, 100 * MIB);
	ledger_managed(device, 5);
	pass(fixture, 0);
}

/* Its slot is in a call, and the device's sum got what no slot has. */
static void hold_and_change(struct fixture *fixture, int number)
{
	int device = open_device();

	(void)number;
	allocate(device, 100 * MIB);
	CHECK(ledger_take(device, 50 * MIB));
	(void)ledger_add(&fixture->page->devices[0].current_bytes, 7);
	pass(fixture, 0);
}

static void raise_the_peak(struct fixture *fixture, int number)
{
	int device = open_device();

	(void)fixture;
	(void)number;
	allocate(device, 120 * MIB);
}

enum end {
	REAPED,
	ZOMBIE,
	STOPPED,
};

static const struct {
	const char *title;
	child_fn *holder;
	enum end end;
	uint64_t peak_bytes, current_bytes;
} deaths[] = {
	{ "killed and reaped", hold_for_ever, REAPED, 120 * MIB, 120 * MIB },
	{ "killed, a zombie", hold_for_ever, ZOMBIE, 120 * MIB, 120 * MIB },
	{ "only stopped", hold_for_ever, STOPPED, 220 * MIB, 220 * MIB },
	{ "killed in a call", hold_and_change, REAPED, 120 * MIB, 120 * MIB },
	{ "a zombie in a call", hold_and_change, ZOMBIE, 120 * MIB, 120 * MIB },
};

static void kill_as(pid_t pid, enum end end)
{
	siginfo_t info;

	assert_int_equal(kill(pid, end == STOPPED ? SIGSTOP : SIGKILL), 0);
	assert_int_equal(
		waitid(P_PID, (id_t)pid, &info,
		       WEXITED | WSTOPPED | (end == ZOMBIE ? WNOWAIT : 0)),
		0);
}

static void clean_up(pid_t pid, enum end end)
{
	if (end == REAPED)
		return;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void the_dead_hold_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct preload_device *row = &fixture->page->devices[0];

	for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++) {
		pid_t pid;

		print_message("%s\n", deaths[i].title);
		fresh_page(fixture->page);
		memset(fixture->gates, 0, sizeof(*fixture->gates));
		pid = start(fixture, deaths[i].holder, 0);
		await(fixture, 0, 1);
		kill_as(pid, deaths[i].end);
		assert_true(row->current_bytes >= 100 * MIB);
		run_one(fixture, raise_the_peak);
		assert_int_equal(row->peak_bytes, deaths[i].peak_bytes);
		assert_int_equal(row->current_bytes, deaths[i].current_bytes);
		if (deaths[i].end != STOPPED)
			assert_int_equal(row->managed_bytes, 0);
		assert_int_equal(fixture->page->slots[0].busy, 0);
		clean_up(pid, deaths[i].end);
	}
}

static void *sleep_on(void *data)
{
	pass(data, 0);
	_exit(0);
}

static void leave_main_thread(struct fixture *fixture, int number)
{
	pthread_t thread;

	(void)number;
	CHECK(!pthread_create(&thread, NULL, sleep_on, fixture));
	(void)syscall(SYS_exit, 0);
}

static bool is_zombie(pid_t pid)
{
	struct stat_line line;

	return read_process((uint32_t)pid, &line) == 1 && line.state == 'Z';
}

static void a_main_thread_may_end_first(void **state)
{
	struct fixture *fixture = *state;
	pid_t pid = start(fixture, leave_main_thread, 0);
	time_t end = time(NULL) + WAIT_SECONDS;
	struct stat_line line;

	while (!is_zombie(pid)) {
		assert_true(time(NULL) < end);
		(void)sched_yield();
	}
	assert_int_equal(read_process((uint32_t)pid, &line), 1);
	assert_false(process_is_dead((uint32_t)pid, line.start_time));
	assert_true(process_is_dead((uint32_t)pid, line.start_time + 1));
	assert_false(process_is_dead((uint32_t)pid, 0));
	open_gate(fixture, 0);
	finish(pid);
	assert_true(process_is_dead((uint32_t)pid, line.start_time));
}

static const struct {
	const char *text;
	bool is_read;
	char state;
	uint64_t threads, start_time;
} lines[] = {
	{ "7 (sh) S 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 3 0 99 1 1", true, 'S', 3,
	  99 },
	{ "7 (a) Z) R 9) Z 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 5", true, 'Z',
	  1, 5 },
	{ "7 (sh) S 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 3 0", false, 0, 0, 0 },
	{ "7 (sh) S 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 3 0 x", false, 0, 0, 0 },
	{ "7 (sh)", false, 0, 0, 0 },
	{ "7 (sh) ", false, 0, 0, 0 },
	{ "", false, 0, 0, 0 },
};

static void stat_lines_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct stat_line line = { 0 };

		print_message("\"%s\"\n", lines[i].text);
		assert_int_equal(parse(lines[i].text, &line), lines[i].is_read);
		if (!lines[i].is_read)
			continue;
		assert_int_equal(line.pid, 7);
		assert_int_equal(line.state, lines[i].state);
		assert_int_equal(line.threads, lines[i].threads);
		assert_int_equal(line.start_time, lines[i].start_time);
	}
}

/* What an exec leaves is what a second opening of the same process finds. */
static void open_twice(struct fixture *fixture, int number)
{
	struct preload_slot *slot = &fixture->page->slots[0];
	int device = open_device();

	(void)number;
	allocate(device, 100);
	ledger_host(5);
	ledger_launch();
	CHECK(ledger_take(device, 50));
	ledger_forget_parent();
	CHECK(ledger_open());
	CHECK(fixture->page->header.slots_used == 1);
	CHECK(fixture->page->devices[0].current_bytes == 0);
	CHECK(slot->devices[0].current_bytes == 0 && slot->host_bytes == 0);
	CHECK(slot->devices[0].pending_bytes == 0 && slot->busy == 0);
	CHECK(slot->launches == 1 && slot->devices[0].peak_bytes == 100);
	allocate(device, 30);
	CHECK(fixture->page->devices[0].current_bytes == 30);
	CHECK(fixture->page->devices[0].peak_bytes == 100);
}

static void an_exec_begins_with_nothing(void **state)
{
	run_one(*state, open_twice);
}

static void be_forked(struct fixture *fixture)
{
	CHECK(ledger_open());
	CHECK(ledger_self.slot == &ledger_self.page->slots[1]);
	CHECK(fixture->page->slots[1].busy == 0);
	/* Nothing of it is this process's to give. */
	release(0, 100);
	CHECK(fixture->page->devices[0].current_bytes == 150);
	ledger_done();
	allocate(0, 10);
	CHECK(fixture->page->devices[0].current_bytes == 160);
}

static void fork_inside(struct fixture *fixture, int number)
{
	int device = open_device();
	int status = 0;
	pid_t pid;

	(void)number;
	allocate(device, 100);
	CHECK(ledger_take(device, 50));
	pid = fork();
	if (!pid) {
		be_forked(fixture);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	ledger_done();
	CHECK(fixture->page->slots[0].devices[0].current_bytes == 150);
}

static void a_child_has_a_slot_of_its_own(void **state)
{
	run_one(*state, fork_inside);
}

static void hold_a_slot(struct fixture *fixture, int number)
{
	int device = open_device();

	(void)number;
	allocate(device, MIB);
	pass(fixture, 0);
}

static void find_no_slot(struct fixture *fixture, int number)
{
	(void)number;
	CHECK(!ledger_open());
	CHECK(ledger_take(0, MIB));
	ledger_done();
	CHECK(fixture->page->devices[0].current_bytes == PRELOAD_SLOTS * MIB);
}

static void take_a_slot(struct fixture *fixture, int number)
{
	int device = open_device();

	CHECK(!ledger_self.slot->launches && !ledger_self.slot->flags);
	CHECK(ledger_self.slot->devices[0].peak_bytes == 0);
	CHECK(fixture->page->devices[0].current_bytes ==
	      (uint64_t)number * MIB);
	allocate(device, 3);
}

static void slots_of_the_dead_are_used_again(void **state)
{
	struct fixture *fixture = *state;
	struct preload_page *page = fixture->page;
	pid_t pids[PRELOAD_SLOTS], early, late;

	for (int i = 0; i < PRELOAD_SLOTS; i++)
		pids[i] = start(fixture, hold_a_slot, i);
	await(fixture, 0, PRELOAD_SLOTS);
	assert_int_equal(page->devices[0].current_bytes, PRELOAD_SLOTS * MIB);
	for (int i = 0; i < PRELOAD_SLOTS; i++)
		assert_int_not_equal(page->slots[i].pid, 0);
	run_one(fixture, find_no_slot);
	assert_true(page->slots[PRELOAD_SLOTS - 1].flags & PRELOAD_CROWDED);
	/* Who came first has the first slot. */
	early = (pid_t)page->slots[5].pid;
	late = (pid_t)page->slots[6].pid;
	kill_as(early, REAPED);
	finish(start(fixture, take_a_slot, PRELOAD_SLOTS - 1));
	kill_as(late, ZOMBIE);
	/* That one died too: its 3 bytes go before a zombie's would. */
	finish(start(fixture, take_a_slot, PRELOAD_SLOTS - 1));
	assert_int_equal(page->header.slots_used, PRELOAD_SLOTS);
	open_gate(fixture, 0);
	for (int i = 0; i < PRELOAD_SLOTS; i++) {
		if (pids[i] != early && pids[i] != late)
			finish(pids[i]);
	}
	assert_int_equal(waitpid(late, NULL, 0), late);
}

static const struct {
	const char *title;
	uint64_t cap, overhead, held, asked;
	bool fits;
} caps[] = {
	{ "no cap", 0, 0, 0, 1000 * MIB, true },
	{ "all of it", 10 * MIB, 0, 0, 10 * MIB, true },
	{ "one byte more", 10 * MIB, 0, 0, 10 * MIB + 1, false },
	{ "the last granule", 10 * MIB, 0, 8 * MIB, 1, true },
	{ "no whole granule", 10 * MIB, 0, 8 * MIB + 1, 1, false },
	{ "an odd cap", 10 * MIB - 1, 0, 0, 8 * MIB, true },
	{ "above an odd cap", 10 * MIB - 1, 0, 0, 8 * MIB + 1, false },
	{ "with overhead", 10 * MIB, 4 * MIB, 0, 6 * MIB, true },
	{ "above overhead", 10 * MIB, 4 * MIB + 1, 0, 6 * MIB, false },
	{ "more than any", 10 * MIB, 0, 0, UINT64_MAX / 4, false },
	{ "an absurd overhead", 10 * MIB, UINT64_MAX, 0, 1, false },
};

static void ask_below_a_cap(struct fixture *fixture, int number)
{
	struct preload_device *row = &fixture->page->devices[0];
	int device = open_device();
	bool fits;

	if (caps[number].held)
		allocate(device, caps[number].held);
	row->cap_bytes = caps[number].cap;
	row->overhead_bytes = caps[number].overhead;
	fits = ledger_take(device, caps[number].asked);
	CHECK(fits == caps[number].fits);
	if (fits) {
		ledger_done();
		CHECK(row->current_bytes ==
		      caps[number].held + caps[number].asked);
		CHECK(!ledger_is_over(device));
		CHECK(ledger_room(device) ==
		      (row->cap_bytes ? row->cap_bytes - row->current_bytes -
						row->overhead_bytes
				      : 0));
	} else {
		CHECK(row->current_bytes == caps[number].held);
		CHECK(ledger_self.slot->devices[0].pending_bytes == 0);
	}
	CHECK(ledger_self.slot->busy == 0);
}

static void a_cap_refuses_at_the_byte(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		print_message("%s\n", caps[i].title);
		fresh_page(fixture->page);
		finish(start(fixture, ask_below_a_cap, (int)i));
	}
}

static void need_what_the_dead_had(struct fixture *fixture, int number)
{
	int device = open_device();

	(void)number;
	fixture->page->devices[0].cap_bytes = 110 * MIB;
	CHECK(!ledger_take(device, 112 * MIB));
	allocate(device, 110 * MIB);
}

static void a_cap_counts_the_living(void **state)
{
	struct fixture *fixture = *state;
	pid_t pid = start(fixture, hold_for_ever, 0);

	await(fixture, 0, 1);
	kill_as(pid, ZOMBIE);
	run_one(fixture, need_what_the_dead_had);
	clean_up(pid, ZOMBIE);
}

#define GREEDY_BYTES (4 * MIB)
#define GREEDY_CAP (102 * MIB)

static void take_all_that_fits(struct fixture *fixture, int number)
{
	int device = open_device();

	(void)number;
	pass(fixture, 0);
	while (ledger_take(device, GREEDY_BYTES))
		ledger_done();
	pass(fixture, 1);
}

/* Refusals may be early while others ask; none is late, and in the end the
 * room is full. */
static void many_share_a_cap(void **state)
{
	struct fixture *fixture = *state;
	struct preload_device *row = &fixture->page->devices[0];
	pid_t pids[STORM_RANKS + 1];

	for (int i = 0; i < STORM_RANKS; i++)
		pids[i] = start(fixture, take_all_that_fits, i);
	await(fixture, 0, STORM_RANKS);
	row->cap_bytes = GREEDY_CAP;
	open_gate(fixture, 0);
	await(fixture, 1, STORM_RANKS);
	assert_in_range(row->peak_bytes, GREEDY_BYTES,
			GREEDY_CAP / GREEDY_BYTES * GREEDY_BYTES);
	pids[STORM_RANKS] = start(fixture, take_all_that_fits, STORM_RANKS);
	await(fixture, 1, STORM_RANKS + 1);
	assert_int_equal(row->current_bytes,
			 GREEDY_CAP / GREEDY_BYTES * GREEDY_BYTES);
	assert_int_equal(row->peak_bytes, row->current_bytes);
	open_gate(fixture, 1);
	for (int i = 0; i <= STORM_RANKS; i++)
		finish(pids[i]);
}

static void note_used(struct fixture *fixture, int number)
{
	struct preload_device *row = &fixture->page->devices[0];
	int device = open_device();
	uint64_t changes;

	(void)number;
	row->baseline_bytes = 1000;
	allocate(device, 100);
	ledger_note_used(device, 1500, ledger_changes());
	CHECK(row->overhead_bytes == 0); /* there is no cap */
	row->cap_bytes = 2000;
	ledger_note_used(device, 1500, ledger_changes());
	CHECK(row->overhead_bytes == 400);
	CHECK(ledger_room(device) == 1500 && !ledger_is_over(device));
	ledger_note_used(device, 50, ledger_changes());
	CHECK(row->overhead_bytes == 0);
	/* Something changed meanwhile, or is about to. */
	changes = ledger_changes();
	release(device, 50);
	ledger_note_used(device, 9000, changes);
	CHECK(row->overhead_bytes == 0);
	__atomic_store_n(&ledger_self.slot->busy, 1, __ATOMIC_SEQ_CST);
	ledger_note_used(device, 9000, ledger_changes());
	CHECK(row->overhead_bytes == 0);
	__atomic_store_n(&ledger_self.slot->busy, 0, __ATOMIC_SEQ_CST);
	ledger_note_used(device, 9000, ledger_changes());
	CHECK(row->overhead_bytes == 9000 - 1000 - 50);
	CHECK(ledger_is_over(device) && ledger_room(device) == 0);
}

static void overhead_is_what_is_left(void **state)
{
	run_one(*state, note_used);
}

static void note_beside(struct fixture *fixture, int number)
{
	struct preload_device *row = &fixture->page->devices[0];
	int device = open_device();

	row->cap_bytes = 1000 * MIB;
	ledger_note_used(device, 300 * MIB, ledger_changes());
	CHECK(row->overhead_bytes == (uint64_t)number * MIB);
}

/* Another process in a call: not now. One that died in it: 300 are mine. */
static void overhead_is_noted_in_peace(void **state)
{
	struct fixture *fixture = *state;
	pid_t pid = start(fixture, hold_and_change, 0);

	await(fixture, 0, 1);
	finish(start(fixture, note_beside, 0));
	kill_as(pid, ZOMBIE);
	finish(start(fixture, note_beside, 300));
	clean_up(pid, ZOMBIE);
}

static void name_devices(struct fixture *fixture, int number)
{
	unsigned char uuid[16] = { 0 };
	int rows[PRELOAD_DEVICES];

	CHECK(ledger_open());
	pass(fixture, 0);
	for (int i = 0; i < PRELOAD_DEVICES; i++) {
		/* In another order each, so that they race. */
		uuid[0] = (unsigned char)(1 + (i + number) % PRELOAD_DEVICES);
		rows[uuid[0] - 1] = ledger_device(uuid);
	}
	for (int i = 0; i < PRELOAD_DEVICES; i++) {
		CHECK(rows[i] >= 0);
		CHECK(fixture->page->devices[rows[i]].uuid[0] == i + 1);
	}
	CHECK(!ledger_self.slot->flags);
	uuid[0] = 99;
	CHECK(ledger_known_device(uuid) == -1);
	CHECK(!ledger_self.slot->flags);
	CHECK(ledger_device(uuid) == -1);
	CHECK(ledger_self.slot->flags == PRELOAD_CROWDED);
	/* Counted nowhere, and no error. */
	allocate(-1, MIB);
	release(-1, MIB);
}

static void a_device_has_one_row(void **state)
{
	struct fixture *fixture = *state;
	pid_t pids[STORM_RANKS];

	for (int round = 0; round < 10; round++) {
		fresh_page(fixture->page);
		memset(fixture->gates, 0, sizeof(*fixture->gates));
		for (int i = 0; i < STORM_RANKS; i++)
			pids[i] = start(fixture, name_devices, i * 5);
		await(fixture, 0, STORM_RANKS);
		open_gate(fixture, 0);
		for (int i = 0; i < STORM_RANKS; i++)
			finish(pids[i]);
		assert_int_equal(fixture->page->header.devices_used,
				 PRELOAD_DEVICES);
	}
}

static void look_for_one(struct fixture *fixture, int number)
{
	(void)number;
	CHECK(ledger_open());
	CHECK(ledger_known_device(uuid_a) == -1);
	CHECK(fixture->page->header.devices_used == 0);
	/* Somebody died while he wrote the first row. */
	fixture->page->devices[0].state = PRELOAD_DEVICE_CLAIMED;
	CHECK(ledger_device(uuid_a) == 1);
	CHECK(ledger_known_device(uuid_a) == 1);
}

static void a_row_may_never_be_written(void **state)
{
	run_one(*state, look_for_one);
}

enum act {
	REFUSE,
	GRANT,
	ASK,
};

#define ACTS_MAX 6

static const struct {
	const char *title;
	struct {
		enum act act;
		enum preload_call call;
	} acts[ACTS_MAX];
	size_t count;
	enum preload_event_kind events[ACTS_MAX];
	uint64_t device, host, recovered;
} stories[] = {
	{ "granted",
	  { { GRANT, PRELOAD_CALL_LINEAR }, { ASK, 0 } },
	  2,
	  { 0 },
	  0,
	  0,
	  0 },
	{ "a retry that worked",
	  { { REFUSE, PRELOAD_CALL_LINEAR },
	    { GRANT, PRELOAD_CALL_LINEAR },
	    { GRANT, PRELOAD_CALL_LINEAR },
	    { ASK, 0 } },
	  4,
	  { PRELOAD_EVENT_REFUSED, PRELOAD_EVENT_RECOVERED },
	  1,
	  0,
	  1 },
	{ "raised",
	  { { REFUSE, PRELOAD_CALL_LINEAR },
	    { REFUSE, PRELOAD_CALL_LINEAR },
	    { ASK, 0 },
	    { ASK, 0 } },
	  4,
	  { PRELOAD_EVENT_REFUSED, PRELOAD_EVENT_REFUSED,
	    PRELOAD_EVENT_ASKED_FREE },
	  2,
	  0,
	  0 },
	{ "raised and survived",
	  { { REFUSE, PRELOAD_CALL_ASYNC },
	    { ASK, 0 },
	    { GRANT, PRELOAD_CALL_ARRAY } },
	  3,
	  { PRELOAD_EVENT_REFUSED, PRELOAD_EVENT_ASKED_FREE,
	    PRELOAD_EVENT_RECOVERED },
	  1,
	  0,
	  1 },
	{ "expandable segments",
	  { { GRANT, PRELOAD_CALL_VIRTUAL },
	    { REFUSE, PRELOAD_CALL_VIRTUAL },
	    { GRANT, PRELOAD_CALL_VIRTUAL },
	    { REFUSE, PRELOAD_CALL_VIRTUAL },
	    { ASK, 0 } },
	  5,
	  { PRELOAD_EVENT_REFUSED, PRELOAD_EVENT_RECOVERED,
	    PRELOAD_EVENT_REFUSED, PRELOAD_EVENT_ASKED_FREE },
	  2,
	  0,
	  1 },
	{ "host memory is another",
	  { { REFUSE, PRELOAD_CALL_HOST },
	    { GRANT, PRELOAD_CALL_LINEAR },
	    { ASK, 0 },
	    { GRANT, PRELOAD_CALL_HOST } },
	  4,
	  { PRELOAD_EVENT_REFUSED, PRELOAD_EVENT_RECOVERED },
	  0,
	  1,
	  1 },
	{ "the device's is another",
	  { { REFUSE, PRELOAD_CALL_MANAGED }, { GRANT, PRELOAD_CALL_HOST } },
	  2,
	  { PRELOAD_EVENT_REFUSED },
	  1,
	  0,
	  0 },
	{ "a launch, and no grant is one",
	  { { REFUSE, PRELOAD_CALL_LAUNCH }, { GRANT, PRELOAD_CALL_LAUNCH } },
	  2,
	  { PRELOAD_EVENT_REFUSED },
	  1,
	  0,
	  0 },
};

static void act(enum act what, enum preload_call call)
{
	const struct ledger_refusal refusal = { .call = call,
						.device = 3,
						.bytes = 11,
						.free_bytes = 12,
						.total_bytes = 13,
						.by_cap = true };

	if (what == REFUSE)
		ledger_refused(&refusal);
	else if (what == GRANT)
		ledger_granted(call, 14);
	else
		ledger_asked_free(15, 16);
}

static void check_event(const struct preload_event *event,
			enum preload_event_kind kind)
{
	CHECK(event->kind == kind && event->device == 3);
	CHECK(event->pid == (uint32_t)getpid() && event->tid == event->pid);
	CHECK(event->ns > 0 && event->ns <= raw_now_ns());
	CHECK(event->launches == 1);
	if (kind == PRELOAD_EVENT_REFUSED)
		CHECK(event->bytes == 11 && event->free_bytes == 12 &&
		      event->total_bytes == 13);
	if (kind == PRELOAD_EVENT_RECOVERED)
		CHECK(event->bytes == 14 && event->free_bytes == 0);
	if (kind == PRELOAD_EVENT_ASKED_FREE)
		CHECK(event->free_bytes == 15 && event->total_bytes == 16);
}

static void tell(struct fixture *fixture, int number)
{
	const struct preload_slot *slot = &fixture->page->slots[0];
	uint64_t count = 0;

	CHECK(ledger_open());
	ledger_launch();
	for (size_t i = 0; i < stories[number].count; i++)
		act(stories[number].acts[i].act, stories[number].acts[i].call);
	while (count < ACTS_MAX && stories[number].events[count]) {
		check_event(&fixture->page->events[count],
			    stories[number].events[count]);
		CHECK(fixture->page->events[count].number == count + 1);
		count++;
	}
	CHECK(fixture->page->header.event_count == count);
	CHECK(slot->failed_device == stories[number].device);
	CHECK(slot->capped == stories[number].device);
	CHECK(slot->failed_host == stories[number].host);
	CHECK(slot->recovered == stories[number].recovered);
}

static void events_tell_what_happened(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
		print_message("%s\n", stories[i].title);
		fresh_page(fixture->page);
		finish(start(fixture, tell, (int)i));
	}
}

#define LAPS (PRELOAD_EVENTS * 2 + 44)

static void tell_much(struct fixture *fixture, int number)
{
	struct ledger_refusal refusal = { .call = PRELOAD_CALL_LINEAR,
					  .device = -1 };

	(void)number;
	CHECK(ledger_open());
	for (uint64_t i = 0; i < LAPS; i++) {
		refusal.bytes = i;
		ledger_refused(&refusal);
	}
	CHECK(fixture->page->header.event_count == LAPS);
}

static void the_last_events_stay(void **state)
{
	struct fixture *fixture = *state;

	run_one(fixture, tell_much);
	for (uint64_t i = LAPS - PRELOAD_EVENTS; i < LAPS; i++) {
		const struct preload_event *event =
			&fixture->page->events[i % PRELOAD_EVENTS];

		assert_int_equal(event->number, i + 1);
		assert_int_equal(event->bytes, i);
		assert_int_equal(event->device, NO_DEVICE);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_opens_what_is_a_page),
		TEST(a_slot_says_who_it_is),
		TEST(bytes_come_and_go),
		TEST(pools_are_within),
		TEST(managed_and_host_are_apart),
		TEST(calls_are_counted),
		TEST(the_peak_is_of_the_sum),
		TEST(a_storm_leaves_nothing),
		TEST(what_waits_is_no_peak),
		TEST(the_dead_hold_nothing),
		TEST(a_main_thread_may_end_first),
		TEST(stat_lines_are_read),
		TEST(an_exec_begins_with_nothing),
		TEST(a_child_has_a_slot_of_its_own),
		TEST(slots_of_the_dead_are_used_again),
		TEST(a_cap_refuses_at_the_byte),
		TEST(a_cap_counts_the_living),
		TEST(many_share_a_cap),
		TEST(overhead_is_what_is_left),
		TEST(overhead_is_noted_in_peace),
		TEST(a_device_has_one_row),
		TEST(a_row_may_never_be_written),
		TEST(events_tell_what_happened),
		TEST(the_last_events_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
