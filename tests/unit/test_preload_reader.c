/* The preload's page: what is read from it, whatever is written there. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/observers/gpu/preload.h"
#include "probes/process/proctree.h"
#include "probes/verdict/allocations.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)
#define BYTES_MAX (UINT64_C(1) << 50)
#define COUNT_MAX UINT64_C(1000000000000000)

#define UUID_A "GPU-00112233-4455-6677-8899-aabbccddeeff"
#define UUID_B "MIG-ffeeddcc-bbaa-9988-7766-554433221100"

struct fixture {
	int fd;
	uint64_t start_time; /* of this process */
	struct preload_page page;
	struct preload_reading reading;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct proc_stat stat;

	if (!fixture)
		return -1;
	*state = fixture;
	fixture->fd = memfd_create("page", MFD_CLOEXEC);
	if (fixture->fd < 0 || proctree_stat(getpid(), &stat) < 0)
		return -1;
	fixture->start_time = stat.start_time;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	(void)close(fixture->fd);
	free(fixture);
	return 0;
}

/* A page as autofit leaves it, with two devices. */
static void fresh_page(struct fixture *fixture)
{
	static const struct preload_target targets[] = {
		{ .uuid = UUID_A, .cap_bytes = 0, .baseline_bytes = 7 * MIB },
		{ .uuid = UUID_B, .cap_bytes = 900 * MIB },
	};

	assert_int_equal(ftruncate(fixture->fd, 0), 0);
	assert_int_equal(preload_page_write(fixture->fd, targets, 2, NULL), 0);
	assert_int_equal(pread(fixture->fd, &fixture->page,
			       sizeof(fixture->page), PRELOAD_PAGE_OFFSET),
			 sizeof(fixture->page));
}

/* Inlined, GCC 12 takes the page for its first member, and warns. */
static __attribute__((noinline)) const struct preload_reading *
read_page(struct fixture *fixture)
{
	assert_int_equal(pwrite(fixture->fd, &fixture->page,
				sizeof(fixture->page), PRELOAD_PAGE_OFFSET),
			 sizeof(fixture->page));
	preload_read(fixture->fd, &fixture->reading);
	return &fixture->reading;
}

/* This process in a slot. */
static struct preload_slot *own_slot(struct fixture *fixture, uint32_t index)
{
	struct preload_slot *slot = &fixture->page.slots[index];

	slot->pid = (uint32_t)getpid();
	slot->start_time = fixture->start_time;
	slot->rank = -1;
	if (fixture->page.header.slots_used <= index)
		fixture->page.header.slots_used = index + 1;
	return slot;
}

static void the_empty_page_is_whole(void **state)
{
	struct fixture *fixture = *state;
	static const struct preload_page zero;
	const struct preload_page *page = &fixture->page;
	struct stat status;

	fresh_page(fixture);
	assert_int_equal(fstat(fixture->fd, &status), 0);
	assert_int_equal(status.st_size,
			 PRELOAD_PAGE_OFFSET + sizeof(struct preload_page));
	assert_true((size_t)status.st_blocks * 512 >=
		    sizeof(struct preload_page));
	assert_true(page->header.magic == PRELOAD_MAGIC);
	assert_int_equal(page->header.version, PRELOAD_VERSION);
	assert_int_equal(page->header.slots, PRELOAD_SLOTS);
	assert_int_equal(page->header.size, sizeof(struct preload_page));
	assert_int_equal(page->header.devices_used, 2);
	assert_int_equal(page->header.slots_used, 0);
	assert_int_equal(page->devices[0].uuid[1], 0x11);
	assert_int_equal(page->devices[0].state, PRELOAD_DEVICE_READY);
	assert_int_equal(page->devices[0].baseline_bytes, 7 * MIB);
	assert_int_equal(page->devices[1].uuid[0], 0xff);
	assert_int_equal(page->devices[1].cap_bytes, 900 * MIB);
	assert_memory_equal(&page->devices[2], &zero.devices[2],
			    sizeof(zero) -
				    offsetof(struct preload_page, devices[2]));
	preload_read(fixture->fd, &fixture->reading);
	assert_false(fixture->reading.is_there);
	assert_int_equal(fixture->reading.device_count, 2);
}

static void targets_without_a_uuid_are_left_out(void **state)
{
	struct fixture *fixture = *state;
	static const char *const texts[] = { "",     "GPU-x",         UUID_A,
					     UUID_A, "MIG-GPU-1/0/0", UUID_B };
	struct preload_target targets[PRELOAD_DEVICES + 9] = { 0 };
	char many[PRELOAD_DEVICES + 9][48];
	struct error err = ERROR_INIT;
	int read_only = open("/dev/null", O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < 6; i++)
		targets[i].uuid = texts[i];
	assert_int_equal(preload_page_write(fixture->fd, targets, 6, NULL), 0);
	preload_read(fixture->fd, &fixture->reading);
	assert_int_equal(fixture->reading.device_count, 2);
	assert_non_null(preload_device(&fixture->reading, UUID_A));
	assert_non_null(preload_device(&fixture->reading, UUID_B));
	for (size_t i = 0; i < PRELOAD_DEVICES + 9; i++) {
		(void)snprintf(many[i], sizeof(many[i]),
			       "GPU-00112233-4455-6677-8899-aabbccddee%02zx",
			       i);
		targets[i].uuid = many[i];
	}
	assert_int_equal(preload_page_write(fixture->fd, targets,
					    PRELOAD_DEVICES + 9, NULL),
			 0);
	preload_read(fixture->fd, &fixture->reading);
	assert_int_equal(fixture->reading.device_count, PRELOAD_DEVICES);
	assert_true(preload_page_write(read_only, targets, 1, &err) < 0);
	assert_non_null(strstr(err.message, "preload"));
	assert_int_equal(close(read_only), 0);
}

static const struct {
	const char *text;
	int result;
	unsigned char first, last;
} uuids[] = {
	{ UUID_A, 0, 0x00, 0xff },
	{ UUID_B, 0, 0xff, 0x00 },
	{ "GPU-A0B1C2D3-4455-6677-8899-AABBCCDDEEFF", 0, 0xa0, 0xff },
	{ "GPU-00112233-4455-6677-8899-aabbccddeef", -EINVAL, 0, 0 },
	{ "GPU-00112233-4455-6677-8899-aabbccddeeff0", -EINVAL, 0, 0 },
	{ "GPU-00112233-4455-6677-8899-aabbccddeefg", -EINVAL, 0, 0 },
	{ "GPU-00112233-4455-6677-88990aabbccddeeff", -EINVAL, 0, 0 },
	{ "GPU-0011223--4455-6677-8899-aabbccddeeff", -EINVAL, 0, 0 },
	{ "GPU-0011223\x11-4455-6677-8899-aabbccddeeff", -EINVAL, 0, 0 },
	{ "gpu-00112233-4455-6677-8899-aabbccddeeff", -EINVAL, 0, 0 },
	{ "MIG-" UUID_A "/1/0", -EINVAL, 0, 0 },
	{ "00112233-4455-6677-8899-aabbccddeeff", -EINVAL, 0, 0 },
	{ "GPU-", -EINVAL, 0, 0 },
	{ "", -EINVAL, 0, 0 },
};

static void uuids_are_parsed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(uuids) / sizeof(*uuids); i++) {
		unsigned char bytes[16];

		if (preload_uuid_parse(bytes, uuids[i].text) != uuids[i].result)
			fail_msg("%s", uuids[i].text);
		if (uuids[i].result < 0)
			continue;
		assert_int_equal(bytes[0], uuids[i].first);
		assert_int_equal(bytes[15], uuids[i].last);
	}
}

/* Two processes on two devices. */
static void fill_page(struct fixture *fixture)
{
	struct preload_slot *slot;

	fresh_page(fixture);
	slot = own_slot(fixture, 0);
	slot->flags = PRELOAD_CUDA | PRELOAD_CONTEXT | 0xff00;
	slot->rank = 3;
	slot->launches = 10;
	slot->allocations = 4;
	slot->frees = 2;
	slot->synchronizations = 8;
	slot->failed_device = 3;
	slot->failed_host = 1;
	slot->recovered = 2;
	slot->capped = 1;
	slot->host_peak_bytes = 5 * MIB;
	slot->devices[0].current_bytes = 75 * MIB;
	slot->devices[0].pending_bytes = 15 * MIB;
	slot->devices[0].largest_bytes = 20 * MIB;
	slot = own_slot(fixture, PRELOAD_SLOTS - 1);
	slot->pid = 1;
	slot->launches = 5;
	slot->host_peak_bytes = 2 * MIB;
	slot->devices[0].largest_bytes = 30 * MIB;
	fixture->page.devices[0].peak_bytes = 100 * MIB;
	fixture->page.devices[0].total_bytes = 800 * MIB;
	fixture->page.devices[1].managed_peak_bytes = 9 * MIB;
	fixture->page.devices[1].overhead_bytes = 11 * MIB;
	fixture->page.devices[1].total_bytes = 8000 * MIB;
}

static void processes_add_up(void **state)
{
	struct fixture *fixture = *state;
	const struct preload_reading *reading;

	fill_page(fixture);
	reading = read_page(fixture);
	assert_true(reading->is_there);
	assert_true(reading->is_quiet);
	assert_false(reading->is_crowded);
	assert_int_equal(reading->process_count, 2);
	assert_int_equal(reading->launches, 15);
	assert_int_equal(reading->allocations, 4);
	assert_int_equal(reading->frees, 2);
	assert_int_equal(reading->synchronizations, 8);
	assert_int_equal(reading->failed_device, 3);
	assert_int_equal(reading->failed_host, 1);
	assert_int_equal(reading->recovered, 2);
	assert_int_equal(reading->capped, 1);
	assert_int_equal(reading->host_peak_bytes, 5 * MIB);
	assert_int_equal(preload_process(reading, getpid())->rank, 3);
	assert_int_equal(preload_process(reading, getpid())->flags,
			 PRELOAD_CUDA | PRELOAD_CONTEXT);
	assert_int_equal(preload_process(reading, 1)->launches, 5);
	assert_null(preload_process(reading, 0));
	assert_null(preload_process(reading, 2));
}

static void devices_are_known_by_uuid(void **state)
{
	struct fixture *fixture = *state;
	const struct preload_reading *reading;
	const struct preload_device_reading *device;

	fill_page(fixture);
	reading = read_page(fixture);
	device = preload_device(reading, UUID_A);
	assert_int_equal(device->current_bytes, 60 * MIB);
	assert_int_equal(device->peak_bytes, 100 * MIB);
	assert_int_equal(device->largest_bytes, 30 * MIB);
	assert_int_equal(device->total_bytes, 800 * MIB);
	device = preload_device(reading, UUID_B);
	assert_int_equal(device->managed_peak_bytes, 9 * MIB);
	assert_int_equal(device->overhead_bytes, 11 * MIB);
	/* A card that stands in for a smaller one has that one's size. */
	assert_int_equal(device->total_bytes, 900 * MIB);
	assert_null(preload_device(reading,
				   "GPU-00000000-0000-0000-0000-000000000000"));
	assert_null(preload_device(reading, "nonsense"));
}

/* What a page without meaning is read as. */
static void nothing_is_read_of_it(const struct preload_reading *reading)
{
	static const struct preload_reading nothing;

	assert_memory_equal(reading, &nothing, sizeof(nothing));
}

static void pages_of_another_kind_are_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct preload_header *header = &fixture->page.header;
	struct preload_header whole;
	const struct {
		void *field;
		size_t size;
	} fields[] = {
		{ &header->magic, sizeof(header->magic) },
		{ &header->version, sizeof(header->version) },
		{ &header->slots, sizeof(header->slots) },
		{ &header->size, sizeof(header->size) },
	};

	fresh_page(fixture);
	(void)own_slot(fixture, 0);
	whole = *header;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		memset(fields[i].field, 0x55, fields[i].size);
		nothing_is_read_of_it(read_page(fixture));
		*header = whole;
	}
	assert_true(read_page(fixture)->is_there);
	preload_read(-1, &fixture->reading);
	nothing_is_read_of_it(&fixture->reading);
	assert_int_equal(ftruncate(fixture->fd, PRELOAD_PAGE_OFFSET + 17), 0);
	preload_read(fixture->fd, &fixture->reading);
	nothing_is_read_of_it(&fixture->reading);
	/* Cut behind the header: the slot's pid is gone, the rest is zero. */
	(void)read_page(fixture);
	assert_int_equal(ftruncate(fixture->fd, PRELOAD_PAGE_OFFSET + 64), 0);
	preload_read(fixture->fd, &fixture->reading);
	assert_int_equal(fixture->reading.process_count, 0);
	assert_int_equal(fixture->reading.device_count, 0);
}

static void lies_are_bounded(void **state)
{
	struct fixture *fixture = *state;
	const struct preload_reading *reading;
	struct preload_slot *slot;

	fresh_page(fixture);
	fixture->page.header.slots_used = UINT32_MAX;
	fixture->page.header.devices_used = UINT32_MAX;
	for (size_t i = 0; i < PRELOAD_SLOTS; i++) {
		slot = own_slot(fixture, (uint32_t)i);
		slot->rank = INT32_MAX;
		slot->launches = i ? COUNT_MAX : UINT64_MAX;
		slot->recovered = UINT64_MAX;
		slot->host_peak_bytes = i ? 3 : UINT64_MAX;
		slot->devices[0].largest_bytes = i ? 4 : UINT64_MAX;
		slot->devices[0].current_bytes = UINT64_MAX;
	}
	fixture->page.slots[5].pid = UINT32_C(1) << 22;
	fixture->page.slots[6].pid = UINT32_MAX;
	fixture->page.slots[7].pid = 0;
	fixture->page.slots[1].devices[0].current_bytes = 50;
	fixture->page.devices[0].peak_bytes = 40;
	fixture->page.slots[1].devices[1].current_bytes = 50;
	fixture->page.devices[1].peak_bytes = UINT64_MAX;
	fixture->page.devices[1].total_bytes = UINT64_MAX;
	/* A device twice, one half made, one without a name. */
	fixture->page.devices[2] = fixture->page.devices[0];
	fixture->page.devices[3] = fixture->page.devices[1];
	fixture->page.devices[3].uuid[3] = 77;
	fixture->page.devices[3].state = PRELOAD_DEVICE_CLAIMED;
	fixture->page.devices[4].state = PRELOAD_DEVICE_READY;
	reading = read_page(fixture);
	assert_int_equal(reading->process_count, PRELOAD_SLOTS - 3);
	assert_int_equal(reading->device_count, 2);
	assert_int_equal(reading->launches, (PRELOAD_SLOTS - 4) * COUNT_MAX);
	assert_int_equal(reading->recovered, 0);
	assert_int_equal(reading->host_peak_bytes, 3);
	assert_int_equal(reading->processes[0].rank, -1);
	assert_int_equal(reading->devices[0].peak_bytes, 40);
	assert_int_equal(reading->devices[0].current_bytes, 40);
	assert_int_equal(reading->devices[0].largest_bytes, 4);
	assert_int_equal(reading->devices[1].peak_bytes, 0);
	assert_int_equal(reading->devices[1].current_bytes, 0);
	assert_int_equal(reading->devices[1].total_bytes, 0);
	assert_false(reading->is_crowded);
	fresh_page(fixture);
	own_slot(fixture, 0)->flags = PRELOAD_CROWDED;
	assert_true(read_page(fixture)->is_crowded);
}

static void put_event(struct fixture *fixture, uint64_t number)
{
	fixture->page.events[number % PRELOAD_EVENTS] = (struct preload_event){
		.number = number + 1,
		.ns = number,
		.bytes = number,
		.pid = 42,
		.tid = 43,
		.kind = PRELOAD_EVENT_REFUSED,
		.call = PRELOAD_CALL_LINEAR,
		.device = 1,
	};
}

static const struct {
	const char *name;
	uint64_t written, told; /* events there, count in the header */
	size_t expected;
	uint64_t lost;
} rings[] = {
	{ "none", 0, 0, 0, 0 },
	{ "a few", 5, 5, 5, 0 },
	{ "the last is on its way", 5, 6, 5, 0 },
	{ "full", PRELOAD_EVENTS, PRELOAD_EVENTS, PRELOAD_EVENTS, 0 },
	{ "gone round", 700, 700, PRELOAD_EVENTS, 700 - PRELOAD_EVENTS },
	{ "gone round, the last on its way", 700, 701, PRELOAD_EVENTS - 1,
	  701 - PRELOAD_EVENTS },
	{ "more are told than are there", 5, 1000000, 0,
	  1000000 - PRELOAD_EVENTS },
	{ "an absurd count", 5, UINT64_MAX, 0, 0 },
	{ "fewer are told than are there", 5, 3, 3, 0 },
};

static void events_are_in_order(void **state)
{
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(rings) / sizeof(*rings); i++) {
		const struct preload_reading *reading;

		fresh_page(fixture);
		(void)own_slot(fixture, 0);
		for (uint64_t n = 0; n < rings[i].written; n++)
			put_event(fixture, n);
		fixture->page.header.event_count = rings[i].told;
		reading = read_page(fixture);
		if (reading->event_count != rings[i].expected ||
		    reading->events_lost != rings[i].lost)
			fail_msg("%s: %zu events, %llu lost", rings[i].name,
				 reading->event_count,
				 (unsigned long long)reading->events_lost);
		for (size_t n = 0; n < reading->event_count; n++)
			assert_int_equal(reading->events[n].number,
					 rings[i].lost + n + 1);
	}
}

static void odd_events_are_mended_or_left_out(void **state)
{
	struct fixture *fixture = *state;
	struct preload_event *events = fixture->page.events;
	const struct preload_reading *reading;
	struct timespec now;

	fresh_page(fixture);
	(void)own_slot(fixture, 0);
	for (uint64_t n = 0; n < 12; n++)
		put_event(fixture, n);
	fixture->page.header.event_count = 12;
	events[1].number = 0;
	events[2].number = 4711;
	events[3].kind = PRELOAD_EVENT_NONE;
	events[4].kind = UINT16_MAX;
	events[5].pid = 0;
	events[6].pid = UINT32_MAX;
	events[7].tid = UINT32_MAX;
	events[8].call = UINT16_MAX;
	events[8].device = 9;
	events[9].ns = UINT64_MAX;
	events[9].bytes = UINT64_MAX;
	events[10].free_bytes = 11;
	events[10].total_bytes = 10;
	events[11].launches = UINT64_MAX;
	events[11].device = UINT16_MAX;
	/* The first device is none: the second is the first to be told. */
	fixture->page.devices[0].state = PRELOAD_DEVICE_FREE;
	reading = read_page(fixture);
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	assert_int_equal(reading->event_count, 5);
	assert_int_equal(reading->events[0].device, 0);
	assert_int_equal(reading->events[1].call, PRELOAD_CALL_NONE);
	assert_int_equal(reading->events[1].device, UINT16_MAX);
	assert_int_equal(reading->events[2].bytes, 0);
	assert_true(reading->events[2].ns <=
		    (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	assert_int_equal(reading->events[3].free_bytes, 0);
	assert_int_equal(reading->events[4].launches, 0);
	assert_int_equal(reading->events[4].device, UINT16_MAX);
}

/* A child that has ended and is not reaped; its start time. */
static pid_t make_zombie(uint64_t *start_time)
{
	siginfo_t info;
	struct proc_stat stat;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proctree_stat(pid, &stat), 0);
	*start_time = stat.start_time;
	return pid;
}

static void check_dead(struct fixture *fixture, pid_t pid, uint64_t start_time,
		       const char *who)
{
	struct preload_slot *slot;
	const struct preload_reading *reading;

	fresh_page(fixture);
	own_slot(fixture, 0)->devices[0].current_bytes = 10 * MIB;
	slot = own_slot(fixture, 1);
	slot->pid = (uint32_t)pid;
	slot->start_time = start_time;
	slot->busy = 1;
	slot->launches = 3;
	slot->devices[0].current_bytes = 30 * MIB;
	fixture->page.devices[0].peak_bytes = 50 * MIB;
	reading = read_page(fixture);
	if (reading->devices[0].current_bytes != 10 * MIB)
		fail_msg("%s still holds its memory", who);
	if (!reading->is_quiet || reading->holders != 1 ||
	    reading->devices[0].holders != 1)
		fail_msg("%s still counts", who);
	assert_int_equal(reading->launches, 3);
	assert_int_equal(reading->devices[0].peak_bytes, 50 * MIB);
}

static void the_dead_hold_nothing(void **state)
{
	struct fixture *fixture = *state;
	uint64_t start_time;
	pid_t pid = make_zombie(&start_time);

	check_dead(fixture, pid, start_time, "a zombie");
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	check_dead(fixture, pid, start_time, "a process that is gone");
	check_dead(fixture, getpid(), fixture->start_time - 1,
		   "the last owner of a pid");
}

static void who_is_busy_is_not_quiet(void **state)
{
	struct fixture *fixture = *state;

	fresh_page(fixture);
	(void)own_slot(fixture, 0);
	assert_true(read_page(fixture)->is_quiet);
	own_slot(fixture, 0)->busy = 1;
	assert_false(read_page(fixture)->is_quiet);
}

#define LESS UINT64_C(0x00ffffffffff)
#define MORE UINT64_C(0x010000000000)

/* Of two devices always one holds more, but while they are changed. */
static void keep_changing(struct preload_page *page, pid_t parent)
{
	struct preload_slot *slot = &page->slots[0];

	for (uint64_t i = 0; getppid() == parent; i++) {
		__atomic_store_n(&slot->busy, 1, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&page->header.changes, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&slot->devices[0].current_bytes,
				 i % 2 ? LESS : MORE, __ATOMIC_SEQ_CST);
		__atomic_store_n(&slot->devices[1].current_bytes,
				 i % 2 ? MORE : LESS, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&page->header.changes, 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&slot->busy, 0, __ATOMIC_SEQ_CST);
		/* Moments in which a reader can find it quiet. */
		for (volatile int spin = 0; spin < 20000; spin++)
			;
	}
}

static pid_t start_writer(struct fixture *fixture)
{
	pid_t parent = getpid();
	size_t size = PRELOAD_PAGE_OFFSET + sizeof(struct preload_page);
	char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			 fixture->fd, 0);
	struct preload_page *page;
	struct proc_stat stat;
	pid_t pid;

	assert_true(map != MAP_FAILED);
	page = (struct preload_page *)(void *)(map + PRELOAD_PAGE_OFFSET);
	pid = fork();
	if (pid == 0) {
		/* The parent writes who this is, then lets it begin. */
		while (!__atomic_load_n(&page->slots[0].pid, __ATOMIC_SEQ_CST))
			if (getppid() != parent)
				_exit(1);
		keep_changing(page, parent);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(proctree_stat(pid, &stat), 0);
	page->slots[0].start_time = stat.start_time;
	page->header.slots_used = 1;
	__atomic_store_n(&page->slots[0].pid, (uint32_t)pid, __ATOMIC_SEQ_CST);
	assert_int_equal(munmap(map, size), 0);
	return pid;
}

static void quiet_readings_are_of_one_moment(void **state)
{
	struct fixture *fixture = *state;
	const struct preload_reading *reading = &fixture->reading;
	unsigned quiet = 0;
	unsigned loud = 0;
	/* Enough on a machine that is busy with others. */
	time_t end = time(NULL) + 30;
	pid_t pid;

	fresh_page(fixture);
	for (size_t i = 0; i < 2; i++)
		fixture->page.devices[i].peak_bytes = MORE;
	(void)read_page(fixture);
	pid = start_writer(fixture);
	while (time(NULL) < end &&
	       (quiet < 300 || (loud < 30 && quiet < 20000))) {
		uint64_t first;
		uint64_t second;

		preload_read(fixture->fd, &fixture->reading);
		first = reading->devices[0].current_bytes;
		second = reading->devices[1].current_bytes;
		loud += !reading->is_quiet;
		quiet += reading->is_quiet && first != 0;
		if (reading->is_quiet && first != 0 && first == second)
			fail_msg("read %llx twice in a quiet moment",
				 (unsigned long long)first);
		/* The writer may have been put to sleep in its change. */
		if (!reading->is_quiet)
			(void)sched_yield();
		/* It may be torn low, never high. */
		assert_true(first <= MORE && second <= MORE);
	}
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(quiet >= 300);
}

static uint64_t random_next(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* Whatever was in the page. */
static void check_bounds(const struct preload_reading *reading)
{
	assert_true(reading->process_count <= PRELOAD_SLOTS);
	assert_true(reading->device_count <= PRELOAD_DEVICES);
	assert_true(reading->event_count <= PRELOAD_EVENTS);
	assert_true(reading->launches <= PRELOAD_SLOTS * COUNT_MAX);
	assert_true(reading->recovered <= PRELOAD_SLOTS * COUNT_MAX);
	assert_true(reading->host_peak_bytes <= BYTES_MAX);
	assert_true(reading->events_lost <= COUNT_MAX);
	for (size_t i = 0; i < reading->process_count; i++) {
		const struct preload_process *process = &reading->processes[i];

		assert_true(process->pid > 0 && process->pid < 1 << 22);
		assert_true(process->rank >= -1 && process->rank < 1000000);
		assert_true(process->flags < 16);
	}
	for (size_t i = 0; i < reading->device_count; i++) {
		const struct preload_device_reading *row = &reading->devices[i];

		assert_true(row->peak_bytes <= BYTES_MAX);
		assert_true(row->current_bytes <= row->peak_bytes);
		assert_true(row->largest_bytes <= BYTES_MAX);
		(void)allocations_are_a_pool(row);
	}
	for (size_t i = 0; i < reading->event_count; i++) {
		const struct preload_event *event = &reading->events[i];

		assert_true(event->kind >= 1 && event->kind <= 3);
		assert_true(event->call < PRELOAD_CALL_COUNT);
		assert_true(event->device == UINT16_MAX ||
			    event->device < reading->device_count);
		assert_true(i == 0 || event->number > event[-1].number);
	}
}

static void check_findings(const struct preload_reading *reading)
{
	struct allocation_findings found = allocations_judge(reading);

	assert_true(found.end <= ALLOCATIONS_FATAL);
	assert_true(found.rank >= -1);
	assert_true(found.survived <= PRELOAD_EVENTS);
	assert_non_null(preload_call_name(found.call));
}

/* Pure noise, then noise that looks more and more like a page. */
static void noise_is_read(void **state)
{
	struct fixture *fixture = *state;
	unsigned char *bytes = (unsigned char *)&fixture->page;
	uint64_t random = UINT64_C(88172645463325252);

	for (unsigned round = 0; round < 240; round++) {
		struct preload_header *header = &fixture->page.header;

		for (size_t i = 0; i < sizeof(fixture->page); i++)
			bytes[i] = (unsigned char)(random_next(&random) &
						   (round % 3 ? 0xff : 0x03));
		if (round % 4) {
			header->magic = PRELOAD_MAGIC;
			header->version = PRELOAD_VERSION;
			header->slots = PRELOAD_SLOTS;
			header->size = sizeof(fixture->page);
		}
		if (round % 4 > 1)
			header->event_count = random_next(&random) % 1000;
		for (size_t i = 0; round % 4 == 3 && i < PRELOAD_EVENTS; i++) {
			put_event(fixture, random_next(&random) % 1000);
			fixture->page.events[i].kind =
				(uint16_t)(random_next(&random) % 5);
			fixture->page.events[i].tid =
				(uint32_t)(random_next(&random) % 3);
		}
		check_bounds(read_page(fixture));
		check_findings(&fixture->reading);
		assert_int_equal(
			ftruncate(fixture->fd,
				  (off_t)(random_next(&random) %
					  (PRELOAD_PAGE_OFFSET +
					   sizeof(struct preload_page)))),
			0);
		preload_read(fixture->fd, &fixture->reading);
		check_bounds(&fixture->reading);
	}
}

static const struct {
	const char *name;
	const char *maps; /* NULL: there is no such file */
	enum preload_presence presence;
} presences[] = {
	{ "no process", NULL, PRELOAD_NO_DRIVER },
	{ "nothing mapped", "", PRELOAD_NO_DRIVER },
	{ "bash",
	  "55-56 r-xp 0 08:01 7 /bin/bash\n"
	  "7f-80 r-xp 0 08:01 8 /tmp/a/libautofit_preload.so\n",
	  PRELOAD_NO_DRIVER },
	{ "the runtime alone",
	  "7f-80 r-xp 0 08:01 8 /usr/lib/libcudart.so.12\n",
	  PRELOAD_NO_DRIVER },
	{ "both",
	  "7f-80 r-xp 0 08:01 8 /tmp/a b/libautofit_preload.so\n"
	  "7f-80 r-xp 0 08:01 9 /usr/lib/libcuda.so.580.95.05\n",
	  PRELOAD_HOOKED },
	{ "the driver first",
	  "7f-80 r-xp 0 08:01 9 /usr/lib/libcuda.so.1\n"
	  "80-81 rw-p 0 00:00 0\n"
	  "81-82 rw-p 0 00:00 0 [heap]\n"
	  "7f-80 r-xp 0 08:01 8 /x/libautofit_preload.so (deleted)\n",
	  PRELOAD_HOOKED },
	{ "the driver alone",
	  "7f-80 r-xp 0 08:01 9 /usr/lib/wsl/lib/libcuda.so.1.1\n",
	  PRELOAD_BYPASSED },
	{ "a folder of its name",
	  "7f-80 r-xp 0 08:01 9 /usr/lib/libcuda.so.1/x\n", PRELOAD_NO_DRIVER },
};

static void presence_is_in_the_maps(void **state)
{
	char root[] = "/tmp/test_preload-XXXXXX";
	char folder[64];
	char path[80];

	(void)state;
	assert_non_null(mkdtemp(root));
	(void)snprintf(folder, sizeof(folder), "%s/7", root);
	(void)snprintf(path, sizeof(path), "%s/maps", folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	for (size_t i = 0; i < sizeof(presences) / sizeof(*presences); i++) {
		const char *maps = presences[i].maps;
		int fd;

		if (maps) {
			fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
			assert_true(fd >= 0);
			assert_int_equal(write(fd, maps, strlen(maps)),
					 strlen(maps));
			assert_int_equal(close(fd), 0);
		}
		if (preload_presence(root, 7) != presences[i].presence)
			fail_msg("%s", presences[i].name);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(rmdir(root), 0);
	assert_int_equal(preload_presence("/proc", getpid()),
			 PRELOAD_NO_DRIVER);
}

static void calls_have_names(void **state)
{
	(void)state;
	for (int call = 0; call < PRELOAD_CALL_COUNT; call++)
		assert_true(strlen(preload_call_name((uint16_t)call)) > 3);
	assert_string_equal(preload_call_name(PRELOAD_CALL_VIRTUAL),
			    "cuMemCreate");
	assert_string_equal(preload_call_name(PRELOAD_CALL_COUNT), "a call");
	assert_string_equal(preload_call_name(UINT16_MAX), "a call");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_empty_page_is_whole),
		TEST(targets_without_a_uuid_are_left_out),
		TEST(uuids_are_parsed),
		TEST(processes_add_up),
		TEST(devices_are_known_by_uuid),
		TEST(pages_of_another_kind_are_nothing),
		TEST(lies_are_bounded),
		TEST(events_are_in_order),
		TEST(odd_events_are_mended_or_left_out),
		TEST(the_dead_hold_nothing),
		TEST(who_is_busy_is_not_quiet),
		TEST(quiet_readings_are_of_one_moment),
		TEST(noise_is_read),
		TEST(presence_is_in_the_maps),
		TEST(calls_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
