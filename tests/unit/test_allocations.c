/* Refused allocations: retried, survived or the end, row by row. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/verdict/allocations.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define EVENTS_MAX 10
#define PROCESSES_MAX 4

/* R: refused, G: granted after it, A: asked how much is free. */
struct step {
	char kind;
	uint16_t call;
	uint32_t pid, tid;
	uint64_t bytes, free_bytes, launches;
};

#define LINEAR PRELOAD_CALL_LINEAR
#define HOST PRELOAD_CALL_HOST

struct row {
	const char *name;
	struct step steps[EVENTS_MAX];
	struct preload_process processes[PROCESSES_MAX];
	uint64_t recovered, lost;
	struct allocation_findings found;
};

static const struct row rows[] = {
	{ .name = "nothing", .found = { .rank = -1 } },
	{ .name = "PyTorch frees its cache and gets it",
	  .steps = { { 'R', LINEAR, 7, 7, MIB, 0, 5 },
		     { 'G', LINEAR, 7, 7, MIB, 0, 5 } },
	  .processes = { { .pid = 7, .rank = 0, .launches = 5 } },
	  .recovered = 1,
	  .found = { .end = ALLOCATIONS_RETRIED, .retries = 1, .rank = -1 } },
	{ .name = "refused twice, then granted: one retry",
	  .steps = { { 'R', LINEAR, 7, 7, MIB, 0, 5 },
		     { 'R', LINEAR, 7, 7, MIB, 0, 5 },
		     { 'G', LINEAR, 7, 7, MIB, 0, 5 } },
	  .found = { .end = ALLOCATIONS_RETRIED, .retries = 1, .rank = -1 } },
	{ .name = "PyTorch raises and ends",
	  .steps = { { 'R', LINEAR, 7, 7, 20 * MIB, 0, 5 },
		     { 'R', LINEAR, 7, 7, 20 * MIB, 0, 5 },
		     { 'A', 0, 7, 7, 0, 3 * MIB, 5 } },
	  .processes = { { .pid = 7, .rank = 2, .launches = 21 } },
	  .found = { .end = ALLOCATIONS_FATAL,
		     .pid = 7,
		     .rank = 2,
		     .call = LINEAR,
		     .asked_bytes = 20 * MIB,
		     .free_bytes = 3 * MIB } },
	{ .name = "PyTorch raises, the script halves its batch",
	  .steps = { { 'R', LINEAR, 7, 7, 20 * MIB, 0, 5 },
		     { 'A', 0, 7, 7, 0, 3 * MIB, 5 },
		     { 'G', LINEAR, 7, 7, 10 * MIB, 0, 5 } },
	  .processes = { { .pid = 7, .rank = -1, .launches = 5 } },
	  .found = { .end = ALLOCATIONS_SURVIVED,
		     .survived = 1,
		     .pid = 7,
		     .rank = -1,
		     .call = LINEAR,
		     .asked_bytes = 20 * MIB,
		     .free_bytes = 3 * MIB } },
	{ .name = "raised, and kernels ran on: the batch was left out",
	  .steps = { { 'R', LINEAR, 7, 7, 20 * MIB, 0, 5 },
		     { 'A', 0, 7, 7, 0, 3 * MIB, 5 } },
	  .processes = { { .pid = 7, .rank = -1, .launches = 22 } },
	  .found = { .end = ALLOCATIONS_SURVIVED,
		     .survived = 1,
		     .pid = 7,
		     .rank = -1,
		     .call = LINEAR,
		     .asked_bytes = 20 * MIB,
		     .free_bytes = 3 * MIB } },
	{ .name = "cuDNN does without: nobody asked, kernels ran on",
	  .steps = { { 'R', LINEAR, 7, 7, 800 * MIB, MIB, 5 } },
	  .processes = { { .pid = 7, .rank = -1, .launches = 5000 } },
	  .found = { .end = ALLOCATIONS_SURVIVED,
		     .survived = 1,
		     .pid = 7,
		     .rank = -1,
		     .call = LINEAR,
		     .asked_bytes = 800 * MIB,
		     .free_bytes = MIB } },
	{ .name = "caught once, the second time the end",
	  .steps = { { 'R', LINEAR, 7, 7, 40 * MIB, 0, 5 },
		     { 'A', 0, 7, 7, 0, 1, 5 },
		     { 'R', LINEAR, 7, 7, 20 * MIB, 0, 500 },
		     { 'A', 0, 7, 7, 0, 2, 500 } },
	  .processes = { { .pid = 7, .rank = -1, .launches = 500 } },
	  .found = { .end = ALLOCATIONS_FATAL,
		     .survived = 1,
		     .pid = 7,
		     .rank = -1,
		     .call = LINEAR,
		     .asked_bytes = 20 * MIB,
		     .free_bytes = 2 } },
	{ .name = "a C program stops at once",
	  .steps = { { 'R', PRELOAD_CALL_VIRTUAL, 7, 9, 0, 0, 0 } },
	  .found = { .end = ALLOCATIONS_FATAL,
		     .pid = 7,
		     .rank = -1,
		     .call = PRELOAD_CALL_VIRTUAL,
		     .is_open = true } },
	{ .name = "pinned memory of the host",
	  .steps = { { 'R', HOST, 7, 7, 64 * GIB, 0, 5 } },
	  .found = { .end = ALLOCATIONS_FATAL,
		     .is_host = true,
		     .pid = 7,
		     .rank = -1,
		     .call = HOST,
		     .asked_bytes = 64 * GIB,
		     .is_open = true } },
	{ .name = "refused on the host, granted on the device: apart",
	  .steps = { { 'R', HOST, 7, 7, GIB, 0, 5 },
		     { 'R', LINEAR, 7, 7, MIB, 0, 5 },
		     { 'G', LINEAR, 7, 7, MIB, 0, 5 } },
	  .found = { .end = ALLOCATIONS_SURVIVED,
		     .retries = 1,
		     .survived = 1,
		     .is_host = true,
		     .pid = 7,
		     .rank = -1,
		     .call = HOST,
		     .asked_bytes = GIB } },
	{ .name = "no room for the context",
	  .steps = { { 'R', PRELOAD_CALL_CONTEXT, 7, 7, 0, 0, 0 } },
	  .processes = { { .pid = 7, .rank = 5 } },
	  .found = { .end = ALLOCATIONS_FATAL,
		     .pid = 7,
		     .rank = 5,
		     .call = PRELOAD_CALL_CONTEXT } },
	{ .name = "a kernel found no room: a grant later is no retry of it",
	  .steps = { { 'R', PRELOAD_CALL_LAUNCH, 7, 7, 0, 0, 5 },
		     { 'G', LINEAR, 7, 7, MIB, 0, 5 } },
	  .found = { .end = ALLOCATIONS_SURVIVED,
		     .survived = 1,
		     .pid = 7,
		     .rank = -1,
		     .call = PRELOAD_CALL_LAUNCH } },
	{ .name = "two threads do not answer for each other",
	  .steps = { { 'R', LINEAR, 7, 70, 8 * MIB, 0, 5 },
		     { 'R', LINEAR, 7, 71, 6 * MIB, 0, 5 },
		     { 'G', LINEAR, 7, 71, 6 * MIB, 0, 5 },
		     { 'A', 0, 7, 71, 0, 9, 5 } },
	  .found = { .end = ALLOCATIONS_SURVIVED,
		     .retries = 1,
		     .survived = 1,
		     .pid = 7,
		     .rank = -1,
		     .call = LINEAR,
		     .asked_bytes = 8 * MIB } },
	{ .name = "one thread number in two processes",
	  .steps = { { 'R', LINEAR, 7, 1, 8 * MIB, 0, 5 },
		     { 'G', LINEAR, 8, 1, 8 * MIB, 0, 5 } },
	  .found = { .end = ALLOCATIONS_FATAL,
		     .retries = 1,
		     .pid = 7,
		     .rank = -1,
		     .call = LINEAR,
		     .asked_bytes = 8 * MIB,
		     .is_open = true } },
	{ .name = "the first rank to run out",
	  .steps = { { 'R', LINEAR, 10, 10, MIB, 0, 5 },
		     { 'G', LINEAR, 10, 10, MIB, 0, 5 },
		     { 'R', LINEAR, 13, 13, 2 * MIB, 0, 5 },
		     { 'R', LINEAR, 11, 11, 3 * MIB, 0, 5 },
		     { 'A', 0, 11, 11, 0, 1, 5 },
		     { 'A', 0, 13, 13, 0, 2, 5 } },
	  .processes = { { .pid = 10, .rank = 0, .launches = 9 },
			 { .pid = 11, .rank = 1, .launches = 9 },
			 { .pid = 13, .rank = 3, .launches = 9 } },
	  .found = { .end = ALLOCATIONS_FATAL,
		     .retries = 1,
		     .pid = 13,
		     .rank = 3,
		     .call = LINEAR,
		     .asked_bytes = 2 * MIB,
		     .free_bytes = 2 } },
	{ .name = "the end of one outweighs an earlier one's escape",
	  .steps = { { 'R', LINEAR, 10, 10, MIB, 0, 5 },
		     { 'A', 0, 10, 10, 0, 1, 5 },
		     { 'R', LINEAR, 11, 11, 3 * MIB, 0, 5 } },
	  .processes = { { .pid = 10, .rank = 0, .launches = 900 },
			 { .pid = 11, .rank = 1, .launches = 5 } },
	  .found = { .end = ALLOCATIONS_FATAL,
		     .survived = 1,
		     .pid = 11,
		     .rank = 1,
		     .call = LINEAR,
		     .asked_bytes = 3 * MIB,
		     .is_open = true } },
	{ .name = "fragmented: more was free",
	  .steps = { { 'R', LINEAR, 7, 7, 20 * MIB, 0, 5 },
		     { 'A', 0, 7, 7, 0, 2 * GIB, 5 } },
	  .found = { .end = ALLOCATIONS_FATAL,
		     .pid = 7,
		     .rank = -1,
		     .call = LINEAR,
		     .asked_bytes = 20 * MIB,
		     .free_bytes = 2 * GIB,
		     .is_fragmented = true } },
	{ .name = "a small one is of 2 MiB: not fragmented",
	  .steps = { { 'R', LINEAR, 7, 7, 512, 2 * MIB, 5 } },
	  .found = { .end = ALLOCATIONS_FATAL,
		     .pid = 7,
		     .rank = -1,
		     .call = LINEAR,
		     .asked_bytes = 512,
		     .free_bytes = 2 * MIB,
		     .is_open = true } },
	{ .name = "a mad size is not rounded up to nothing",
	  .steps = { { 'R', LINEAR, 7, 7, UINT64_MAX, 2 * MIB, 5 } },
	  .found = { .end = ALLOCATIONS_FATAL,
		     .pid = 7,
		     .rank = -1,
		     .call = LINEAR,
		     .asked_bytes = UINT64_MAX,
		     .free_bytes = 2 * MIB,
		     .is_open = true } },
	{ .name = "it asks now and then, without need",
	  .steps = { { 'A', 0, 7, 7, 0, 2 * GIB, 5 },
		     { 'R', LINEAR, 7, 7, MIB, 0, 5 },
		     { 'G', LINEAR, 7, 7, MIB, 0, 5 },
		     { 'A', 0, 7, 7, 0, 2 * GIB, 5 } },
	  .found = { .end = ALLOCATIONS_RETRIED, .retries = 1, .rank = -1 } },
	{ .name = "older events were pushed out",
	  .steps = { { 'R', LINEAR, 7, 7, MIB, 0, 5 },
		     { 'G', LINEAR, 7, 7, MIB, 0, 5 } },
	  .recovered = 41,
	  .lost = 80,
	  .found = { .end = ALLOCATIONS_RETRIED, .retries = 41, .rank = -1 } },
	{ .name = "counted, not pushed out: still on their way",
	  .recovered = 41,
	  .found = { .rank = -1 } },
};

static enum preload_event_kind kind_of(char kind)
{
	return kind == 'R'   ? PRELOAD_EVENT_REFUSED
	       : kind == 'G' ? PRELOAD_EVENT_RECOVERED
			     : PRELOAD_EVENT_ASKED_FREE;
}

static void fill(struct preload_reading *reading, const struct row *row)
{
	memset(reading, 0, sizeof(*reading));
	for (size_t i = 0; i < PROCESSES_MAX && row->processes[i].pid; i++)
		reading->processes[reading->process_count++] =
			row->processes[i];
	for (size_t i = 0; i < EVENTS_MAX && row->steps[i].kind; i++) {
		const struct step *step = &row->steps[i];

		reading->events[reading->event_count++] =
			(struct preload_event){
				.number = i + 1,
				.ns = i,
				.kind = (uint16_t)kind_of(step->kind),
				.call = step->call,
				.pid = step->pid,
				.tid = step->tid,
				.bytes = step->bytes,
				.free_bytes = step->free_bytes,
				.launches = step->launches,
			};
	}
	reading->recovered = row->recovered;
	reading->events_lost = row->lost;
}

static bool found_equal(const struct allocation_findings *a,
			const struct allocation_findings *b)
{
	return a->end == b->end && a->retries == b->retries &&
	       a->survived == b->survived && a->is_host == b->is_host &&
	       a->pid == b->pid && a->rank == b->rank && a->call == b->call &&
	       a->asked_bytes == b->asked_bytes &&
	       a->free_bytes == b->free_bytes &&
	       a->is_fragmented == b->is_fragmented && a->is_open == b->is_open;
}

static void refusals_are_judged(void **state)
{
	static struct preload_reading reading;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct allocation_findings found;

		fill(&reading, &rows[i]);
		found = allocations_judge(&reading);
		if (!found_equal(&found, &rows[i].found))
			fail_msg("%s: end %d retries %llu survived %llu pid %d "
				 "rank %d asked %llu free %llu fragmented %d "
				 "open %d",
				 rows[i].name, (int)found.end,
				 (unsigned long long)found.retries,
				 (unsigned long long)found.survived,
				 (int)found.pid, found.rank,
				 (unsigned long long)found.asked_bytes,
				 (unsigned long long)found.free_bytes,
				 found.is_fragmented, found.is_open);
	}
}

/* Every event from a thread of its own: no table is too small for them. */
static void many_threads_are_judged(void **state)
{
	static struct preload_reading reading;

	(void)state;
	reading.event_count = PRELOAD_EVENTS;
	for (uint32_t i = 0; i < PRELOAD_EVENTS; i++)
		reading.events[i] = (struct preload_event){
			.kind = PRELOAD_EVENT_REFUSED,
			.call = LINEAR,
			.pid = 1 + i,
			.tid = 1 + i,
		};
	assert_int_equal(allocations_judge(&reading).end, ALLOCATIONS_FATAL);
	assert_int_equal(allocations_judge(&reading).pid, 1);
}

static const struct {
	const char *name;
	const char *text;
	bool is_fragmented;
} texts[] = {
	{ "free on the device",
	  "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total "
	  "capacity of 8.00 GiB of which 2.35 GiB is free. Including "
	  "non-PyTorch memory, this process has 5.65 GiB memory in use. Of the "
	  "allocated memory 4.90 GiB is allocated by PyTorch, and 12.52 MiB is "
	  "reserved by PyTorch but unallocated.",
	  true },
	{ "reserved and not in use",
	  "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total "
	  "capacity of 8.00 GiB of which 2.35 MiB is free. Of the allocated "
	  "memory 4.90 GiB is allocated by PyTorch, and 1.52 GiB is reserved "
	  "by PyTorch but unallocated.",
	  true },
	{ "full",
	  "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total "
	  "capacity of 8.00 GiB of which 2.35 MiB is free. Of the allocated "
	  "memory 4.90 GiB is allocated by PyTorch, and 1.52 MiB is reserved "
	  "by PyTorch but unallocated.",
	  false },
	{ "a limit of its own",
	  "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
	  "capacity of 79.11 GiB of which 70.00 GiB is free. 8.00 GiB allowed; "
	  "Of the allocated memory 7.90 GiB is allocated by PyTorch, and 1.52 "
	  "MiB is reserved by PyTorch but unallocated.",
	  false },
	{ "a limit of its own, in pieces",
	  "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
	  "capacity of 79.11 GiB of which 70.00 GiB is free. 8.00 GiB allowed; "
	  "Of the allocated memory 4.90 GiB is allocated by PyTorch, and 3.00 "
	  "GiB is reserved by PyTorch but unallocated.",
	  true },
	{ "old words, full",
	  "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB "
	  "total capacity; 6.00 GiB already allocated; 14.88 MiB free; 6.01 "
	  "GiB reserved in total by PyTorch)",
	  false },
	{ "old words, reserved and not in use",
	  "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB "
	  "total capacity; 5.00 GiB already allocated; 14.88 MiB free; 6.00 "
	  "GiB reserved in total by PyTorch)",
	  true },
	{ "old words, free on the device",
	  "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB "
	  "total capacity; 6.00 GiB already allocated; 2.00 GiB free; 6.00 GiB "
	  "reserved in total by PyTorch)",
	  true },
	{ "bytes",
	  "CUDA out of memory. Tried to allocate 512 bytes. GPU 0 has a total "
	  "capacity of 8.00 GiB of which 0 bytes is free. Of the allocated "
	  "memory 900 bytes is allocated by PyTorch, and 600 bytes is reserved "
	  "by PyTorch but unallocated.",
	  true },
	{ "the same size", "Tried to allocate 20.00 MiB. 20.00 MiB is free.",
	  false },
	{ "no size", "Tried to allocate more than 1EB memory. 9 GiB is free.",
	  false },
	{ "another unit", "Tried to allocate 25.00 MB. 9.00 GiB is free.",
	  false },
	{ "no number", "Tried to allocate ... MiB. 9.00 GiB is free.", false },
	{ "two points", "Tried to allocate 1.2.3 MiB. 9.00 GiB is free.",
	  false },
	{ "a long number",
	  "Tried to allocate 11111111111111111111111111111111111111 MiB. 9.00 "
	  "GiB is free.",
	  false },
	{ "nothing after it", "Tried to allocate 20.00 MiB", false },
	{ "cut short", "Tried to allocate ", false },
	{ "starts with the words", " is free. Tried to allocate 20.00 MiB",
	  false },
	{ "one word before it", "GiB is free. Tried to allocate 20.00 MiB",
	  false },
	{ "free of nothing", "Tried to allocate 20.00 MiB. all is free",
	  false },
	{ "other words", "out of memory", false },
	{ "none", "", false },
};

static void texts_tell_fragmentation(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (allocations_text_is_fragmented(texts[i].text) !=
		    texts[i].is_fragmented)
			fail_msg("%s", texts[i].name);
}

static const struct {
	const char *name;
	uint64_t total_bytes, largest_bytes;
	bool is_pool;
} pools[] = {
	{ "XLA", 80 * GIB, 60 * GIB, true },
	{ "TensorFlow", 80 * GIB, 78 * GIB, true },
	{ "a large tensor", 80 * GIB, 30 * GIB, false },
	{ "60% of it", 100 * GIB, 60 * GIB, false },
	{ "total not known", 0, 60 * GIB, false },
	{ "nothing", 80 * GIB, 0, false },
	{ "an absurd total", UINT64_MAX, 60 * GIB, false },
};

static void pools_are_recognised(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pools) / sizeof(*pools); i++) {
		const struct preload_device_reading device = {
			.total_bytes = pools[i].total_bytes,
			.largest_bytes = pools[i].largest_bytes,
		};

		if (allocations_are_a_pool(&device) != pools[i].is_pool)
			fail_msg("%s", pools[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals_are_judged),
		cmocka_unit_test(many_threads_are_judged),
		cmocka_unit_test(texts_tell_fragmentation),
		cmocka_unit_test(pools_are_recognised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
