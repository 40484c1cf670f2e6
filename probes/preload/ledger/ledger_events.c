/* The page's events: a refusal, and what the thread did next. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/ledger/ledger.h"

#include "probes/preload/ledger/ledger_self.h"
#include "probes/preload/ledger/raw.h"

#include <errno.h>

#define NO_DEVICE 0xffff

/* Refused on this thread, and not granted since; of either memory. */
struct refused {
	bool is_on;
	bool has_asked;
	int device;
};
static _Thread_local struct refused on_device;
static _Thread_local struct refused on_host;

void ledger_forget_refusals(void)
{
	on_device = (struct refused){ 0 };
	on_host = (struct refused){ 0 };
}

static struct refused *refused_by(enum preload_call call)
{
	return call == PRELOAD_CALL_HOST ? &on_host : &on_device;
}

static bool is_allocation(enum preload_call call)
{
	return call >= PRELOAD_CALL_LINEAR && call <= PRELOAD_CALL_HOST &&
	       call != PRELOAD_CALL_GRAPH;
}

static void write_event(enum preload_event_kind kind,
			const struct ledger_refusal *about)
{
	struct preload_page *page = ledger_self.page;
	uint64_t number = __atomic_fetch_add(&page->header.event_count, 1,
					     __ATOMIC_SEQ_CST);
	struct preload_event *event = &page->events[number % PRELOAD_EVENTS];
	int saved = errno;

	__atomic_store_n(&event->number, 0, __ATOMIC_SEQ_CST);
	event->ns = raw_now_ns();
	event->bytes = about->bytes;
	event->free_bytes = about->free_bytes;
	event->total_bytes = about->total_bytes;
	event->launches =
		__atomic_load_n(&ledger_self.slot->launches, __ATOMIC_RELAXED);
	event->pid = ledger_self.id.pid;
	event->tid = (uint32_t)syscall(SYS_gettid);
	event->kind = (uint16_t)kind;
	event->call = (uint16_t)about->call;
	event->device = about->device < 0 ? NO_DEVICE : (uint16_t)about->device;
	event->reserved = 0;
	__atomic_store_n(&event->number, number + 1, __ATOMIC_RELEASE);
	errno = saved;
}

static void count_one(uint64_t *counter)
{
	(void)__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

void ledger_refused(const struct ledger_refusal *refusal)
{
	struct preload_slot *slot = ledger_self.slot;
	bool is_host = refusal->call == PRELOAD_CALL_HOST;

	if (!slot)
		return;
	count_one(is_host ? &slot->failed_host : &slot->failed_device);
	if (refusal->by_cap && !is_host)
		count_one(&slot->capped);
	*refused_by(refusal->call) =
		(struct refused){ .is_on = true, .device = refusal->device };
	write_event(PRELOAD_EVENT_REFUSED, refusal);
}

void ledger_granted(enum preload_call call, uint64_t bytes)
{
	struct refused *refused = refused_by(call);
	struct ledger_refusal about = { .call = call, .bytes = bytes };

	if (!refused->is_on || !is_allocation(call) || !ledger_self.slot)
		return;
	about.device = refused->device;
	*refused = (struct refused){ 0 };
	count_one(&ledger_self.slot->recovered);
	write_event(PRELOAD_EVENT_RECOVERED, &about);
}

void ledger_asked_free(uint64_t free_bytes, uint64_t total_bytes)
{
	struct ledger_refusal about = { .free_bytes = free_bytes,
					.total_bytes = total_bytes };

	if (!on_device.is_on || on_device.has_asked || !ledger_self.slot)
		return;
	on_device.has_asked = true;
	about.device = on_device.device;
	write_event(PRELOAD_EVENT_ASKED_FREE, &about);
}
