/* Tells refused allocations apart: retried, caught, or the end. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/allocations.h"

#include "base/units.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* A program that unwinds after a refusal may still launch a few kernels. */
#define UNWINDING_LAUNCHES 16
/* The driver's own unit of device memory. */
#define DRIVER_GRANULE (2 * MIB)
/* XLA takes 75% at the start, a training's largest tensor far less. */
#define POOL_PERCENT 60
/* PyTorch's blocks always have a little left over: a tenth is notable. */
#define NOTABLE_PART 10
#define NO_EVENT SIZE_MAX

/* Refusals of one thread that are not answered yet. */
struct refused_thread {
	uint32_t pid, tid;
	bool is_host;        /* pinned memory */
	size_t refused;      /* the last of them; NO_EVENT: none */
	bool is_raised;      /* it gave up: asked for the free bytes, or never
				repeats */
	uint64_t free_bytes; /* as it was told then; 0: not known */
};

struct judging {
	const struct preload_reading *reading;
	struct allocation_findings findings;
	struct refused_thread threads[PRELOAD_EVENTS];
	size_t thread_count;
	uint64_t recovered; /* grants seen, of whatever kind */
	size_t first;       /* refusal behind the findings */
};

static struct refused_thread *thread_of(struct judging *judging,
					const struct preload_event *event)
{
	struct refused_thread *thread = judging->threads;
	bool is_host = event->call == PRELOAD_CALL_HOST;

	for (size_t i = 0; i < judging->thread_count; i++, thread++)
		if (thread->pid == event->pid && thread->tid == event->tid &&
		    thread->is_host == is_host)
			return thread;
	*thread = (struct refused_thread){ .pid = event->pid,
					   .tid = event->tid,
					   .is_host = is_host,
					   .refused = NO_EVENT };
	judging->thread_count++;
	assert(judging->thread_count <= PRELOAD_EVENTS);
	return thread;
}

/* Callers of these give up when they are refused. */
static bool nobody_repeats(uint16_t call)
{
	return call == PRELOAD_CALL_CONTEXT || call == PRELOAD_CALL_MODULE ||
	       call == PRELOAD_CALL_LAUNCH || call == PRELOAD_CALL_GRAPH ||
	       call == PRELOAD_CALL_OTHER;
}

static const struct preload_process *
process_of(const struct preload_reading *reading, uint32_t pid)
{
	for (size_t i = 0; i < reading->process_count; i++)
		if (reading->processes[i].pid == (pid_t)pid)
			return &reading->processes[i];
	return NULL;
}

/* Kernels that the process has launched until now. */
static uint64_t launches_of(const struct preload_reading *reading, uint32_t pid)
{
	const struct preload_process *process = process_of(reading, pid);
	uint64_t launches = process ? process->launches : 0;

	for (size_t i = 0; i < reading->event_count; i++)
		if (reading->events[i].pid == pid &&
		    reading->events[i].launches > launches)
			launches = reading->events[i].launches;
	return launches;
}

static bool free_in_pieces(const struct allocation_findings *findings)
{
	uint64_t asked = findings->asked_bytes;

	if (findings->is_host || !asked || !findings->free_bytes ||
	    asked > UINT64_MAX - DRIVER_GRANULE)
		return false;
	asked = (asked + DRIVER_GRANULE - 1) / DRIVER_GRANULE * DRIVER_GRANULE;
	return findings->free_bytes > asked;
}

/* The findings describe the worst raise; of equal ones the first. */
static void note_raise(struct judging *judging,
		       const struct refused_thread *thread,
		       enum allocation_end end)
{
	const struct preload_reading *reading = judging->reading;
	const struct preload_event *event = &reading->events[thread->refused];
	const struct preload_process *process = process_of(reading, event->pid);
	struct allocation_findings *findings = &judging->findings;

	assert(thread->refused < reading->event_count);
	if (end == ALLOCATIONS_SURVIVED)
		findings->survived++;
	if (end < findings->end ||
	    (end == findings->end && thread->refused > judging->first))
		return;
	judging->first = thread->refused;
	findings->end = end;
	findings->is_host = thread->is_host;
	findings->pid = (pid_t)event->pid;
	findings->rank = process ? process->rank : -1;
	findings->call = event->call;
	findings->asked_bytes = event->bytes;
	findings->free_bytes =
		thread->free_bytes ? thread->free_bytes : event->free_bytes;
	findings->is_fragmented = free_in_pieces(findings);
}

static bool lived_on(const struct judging *judging,
		     const struct refused_thread *thread)
{
	const struct preload_reading *reading = judging->reading;

	for (size_t i = thread->refused + 1; i < reading->event_count; i++)
		if (reading->events[i].pid == thread->pid &&
		    reading->events[i].kind == PRELOAD_EVENT_RECOVERED)
			return true;
	return launches_of(reading, thread->pid) >
	       reading->events[thread->refused].launches + UNWINDING_LAUNCHES;
}

static void settle_thread(struct refused_thread *thread)
{
	thread->refused = NO_EVENT;
	thread->is_raised = false;
	thread->free_bytes = 0;
}

/* No event that answers this refusal will come. */
static void close_raise(struct judging *judging, struct refused_thread *thread)
{
	bool survived;

	if (thread->refused == NO_EVENT)
		return;
	survived = lived_on(judging, thread);
	if (!survived && !thread->is_raised)
		judging->findings.is_open = true;
	note_raise(judging, thread,
		   survived ? ALLOCATIONS_SURVIVED : ALLOCATIONS_FATAL);
	settle_thread(thread);
}

static void note_retry(struct judging *judging)
{
	judging->findings.retries++;
	if (judging->findings.end < ALLOCATIONS_RETRIED)
		judging->findings.end = ALLOCATIONS_RETRIED;
}

static void note_event(struct judging *judging, size_t index)
{
	const struct preload_event *event = &judging->reading->events[index];
	struct refused_thread *thread = thread_of(judging, event);

	switch ((enum preload_event_kind)event->kind) {
	case PRELOAD_EVENT_REFUSED:
		/* Else it is the same try, after what was cached was freed. */
		if (thread->is_raised)
			close_raise(judging, thread);
		thread->refused = index;
		thread->is_raised = nobody_repeats(event->call);
		break;
	case PRELOAD_EVENT_RECOVERED:
		judging->recovered++;
		if (thread->is_raised)
			note_raise(judging, thread, ALLOCATIONS_SURVIVED);
		else
			note_retry(judging);
		settle_thread(thread);
		break;
	case PRELOAD_EVENT_ASKED_FREE:
		if (thread->refused == NO_EVENT)
			break;
		thread->is_raised = true;
		thread->free_bytes = event->free_bytes;
		break;
	case PRELOAD_EVENT_NONE:
		break;
	}
}

struct allocation_findings
allocations_judge(const struct preload_reading *reading)
{
	struct judging judging = { .reading = reading,
				   .findings.rank = -1,
				   .first = NO_EVENT };

	for (size_t i = 0; i < reading->event_count; i++)
		note_event(&judging, i);
	for (size_t i = 0; i < judging.thread_count; i++)
		close_raise(&judging, &judging.threads[i]);
	/* Grants whose events were pushed out by later ones. */
	if (reading->events_lost && reading->recovered > judging.recovered) {
		note_retry(&judging);
		judging.findings.retries +=
			reading->recovered - judging.recovered - 1;
	}
	return judging.findings;
}

/* "20.00 MiB" or "512 bytes" from start to end. */
static bool printed_size(const char *start, const char *end, uint64_t *bytes)
{
	static const char *const units[] = { " bytes", " KiB", " MiB", " GiB",
					     " TiB" };
	size_t digits = strspn(start, "0123456789.");
	char text[32];

	if (digits == 0 || digits >= sizeof(text) - strlen(" bytes"))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t length = strlen(units[i]);

		if (strncmp(start + digits, units[i], length) != 0 ||
		    (end && start + digits + length != end))
			continue;
		/* A number alone is bytes. */
		memcpy(text, start, digits + length);
		text[i ? digits + length : digits] = '\0';
		return bytes_parse(text, bytes, NULL) == 0;
	}
	return false;
}

/* The size that stands before the words, such as "14.88 MiB" before " free;".
 */
static bool size_before(const char *message, const char *words, uint64_t *bytes)
{
	const char *end = strstr(message, words);
	const char *start = end;
	int spaces = 0;

	if (!end)
		return false;
	while (start > message) {
		spaces += start[-1] == ' ';
		if (spaces == 2 || start[-1] == '(')
			break;
		start--;
	}
	return printed_size(start, end, bytes);
}

/* Reserved by PyTorch, in use and not in use, by its message, old or new. */
static bool reserved_bytes(const char *message, uint64_t *used,
			   uint64_t *unused)
{
	if (size_before(message, " is reserved by PyTorch but unallocated",
			unused))
		return size_before(message, " is allocated by PyTorch", used);
	if (!size_before(message, " reserved in total by PyTorch", unused) ||
	    !size_before(message, " already allocated", used) ||
	    *used > *unused)
		return false;
	*unused -= *used;
	return true;
}

bool allocations_text_is_fragmented(const char *message)
{
	static const char tried[] = "Tried to allocate ";
	const char *at = strstr(message, tried);
	uint64_t asked;
	uint64_t bytes;
	uint64_t used;

	if (!at || !printed_size(at + strlen(tried), NULL, &asked))
		return false;
	if (reserved_bytes(message, &used, &bytes) && bytes > asked &&
	    bytes >= used / NOTABLE_PART)
		return true;
	/* A limit of its own leaves more free on the device than it may take.
	 */
	if (strstr(message, " allowed;"))
		return false;
	return (size_before(message, " is free", &bytes) ||
		size_before(message, " free;", &bytes)) &&
	       bytes > asked;
}

uint64_t allocations_text_asked(const char *message)
{
	static const char number[] = "0123456789.";
	uint64_t largest = 0;

	for (const char *at = strpbrk(message, number); at;
	     at = strpbrk(at, number)) {
		uint64_t bytes;

		if (printed_size(at, NULL, &bytes) && bytes > largest)
			largest = bytes;
		at += strspn(at, number);
	}
	return largest;
}

bool allocations_are_a_pool(const struct preload_device_reading *device)
{
	return device->total_bytes &&
	       device->largest_bytes > device->total_bytes / 100 * POOL_PERCENT;
}
