/* Bytes of the page: taken, granted, given back, and held below a cap. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/glibc.h"

#include "probes/preload/ledger.h"

#include "probes/preload/ledger_self.h"

/* What the driver gives memory out in, where it counts against a cap. */
#define GRANULE (UINT64_C(2) << 20)

/* Others change bytes at the same moment: not for long. */
#define SETTLE_TRIES 16

/* What this thread asked for and was not yet granted. */
static THREAD_LOCAL struct {
	uint64_t bytes;
	int device;
	bool is_on;
} pending;

/* How deep this thread itself is in calls: 0 or 1, and deeper by accident. */
static THREAD_LOCAL uint32_t own_busy;

void ledger_forget_call(void)
{
	pending.is_on = false;
	own_busy = 0;
}

static void enter(void)
{
	own_busy++;
	if (ledger_self.slot)
		(void)__atomic_add_fetch(&ledger_self.slot->busy, 1,
					 __ATOMIC_SEQ_CST);
}

static void leave(void)
{
	if (!own_busy)
		return;
	own_busy--;
	if (ledger_self.slot)
		(void)__atomic_sub_fetch(&ledger_self.slot->busy, 1,
					 __ATOMIC_SEQ_CST);
}

static uint64_t load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

uint64_t ledger_changes(void)
{
	return ledger_self.page ? load(&ledger_self.page->header.changes) : 0;
}

uint64_t ledger_cap(int device)
{
	struct preload_device *row = ledger_row(device);

	return row ? load(&row->cap_bytes) : 0;
}

/* No sum of what others wrote goes over the top. */
static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t up_to_granule(uint64_t bytes)
{
	return plus(bytes, GRANULE - 1) / GRANULE * GRANULE;
}

static void hold(struct preload_device *row, struct preload_use *use,
		 uint64_t bytes)
{
	(void)ledger_add(&use->current_bytes, bytes);
	(void)ledger_add(&row->current_bytes, bytes);
}

/* Never more than this process holds: others' bytes stay. */
static void let_go(struct preload_device *row, struct preload_use *use,
		   uint64_t bytes)
{
	bytes = ledger_subtract(&use->current_bytes, bytes);
	(void)ledger_subtract(&row->current_bytes, bytes);
}

static bool reserve(int device, uint64_t bytes)
{
	struct preload_device *row = ledger_row(device);
	struct preload_use *use = ledger_use(device);
	uint64_t cap = ledger_cap(device);
	uint64_t need = plus(up_to_granule(bytes), load(&row->overhead_bytes));
	uint64_t before;
	bool fits;

	ledger_change();
	(void)ledger_add(&use->pending_bytes, bytes);
	(void)ledger_add(&use->current_bytes, bytes);
	before = ledger_add(&row->current_bytes, bytes) - bytes;
	fits = !cap || plus(before, need) <= cap;
	if (!fits) {
		let_go(row, use, bytes);
		(void)ledger_subtract(&use->pending_bytes, bytes);
	}
	ledger_change();
	return fits;
}

bool ledger_take(int device, uint64_t bytes)
{
	struct preload_device *row = ledger_row(device);

	enter();
	if (!row || !ledger_use(device))
		return true;
	/* More than any device has: it is refused, and must not wrap here. */
	if (bytes > UINT64_MAX / 4)
		bytes = 0;
	ledger_flag(PRELOAD_CUDA | PRELOAD_CONTEXT);
	if (!reserve(device, bytes) &&
	    (!ledger_reap(device, own_busy) || !reserve(device, bytes))) {
		leave();
		return false;
	}
	pending.is_on = true;
	pending.device = device;
	pending.bytes = bytes;
	return true;
}

void ledger_untake(int device, uint64_t bytes)
{
	if (!pending.is_on || pending.device != device)
		return;
	(void)bytes;
	pending.is_on = false;
	if (!ledger_use(device))
		return;
	ledger_change();
	let_go(ledger_row(device), ledger_use(device), pending.bytes);
	(void)ledger_subtract(&ledger_use(device)->pending_bytes,
			      pending.bytes);
	ledger_change();
}

/*
 * current_bytes of all that is granted: a call that is still under way may be
 * refused, and then never was a peak.
 */
static uint64_t granted_bytes(int device)
{
	struct preload_page *page = ledger_self.page;
	uint64_t current = 0;
	uint64_t waiting = 0;

	for (int i = 0; i < SETTLE_TRIES; i++) {
		uint64_t changes = ledger_changes();

		current = load(&page->devices[device].current_bytes);
		waiting = 0;
		for (uint32_t j = 0; j < ledger_slot_count(page); j++)
			waiting += load(
				&page->slots[j].devices[device].pending_bytes);
		if (ledger_changes() == changes)
			break;
	}
	return current > waiting ? current - waiting : 0;
}

static void raise_peaks(int device)
{
	struct preload_device *row = ledger_row(device);
	struct preload_use *use = ledger_use(device);
	uint64_t own = load(&use->current_bytes);
	uint64_t waiting = load(&use->pending_bytes);
	uint64_t all = granted_bytes(device);

	ledger_raise(&use->peak_bytes, own > waiting ? own - waiting : 0);
	if (all <= load(&row->peak_bytes))
		return;
	if (ledger_reap(device, own_busy))
		all = granted_bytes(device);
	ledger_raise(&row->peak_bytes, all);
}

static void grant(int device, uint64_t bytes)
{
	struct preload_use *use = ledger_use(device);

	if (!use)
		return;
	ledger_change();
	(void)ledger_subtract(&use->pending_bytes, bytes);
	ledger_change();
	ledger_raise(&use->largest_bytes, bytes);
	raise_peaks(device);
}

void ledger_done(void)
{
	if (pending.is_on) {
		pending.is_on = false;
		grant(pending.device, pending.bytes);
	}
	leave();
}

void ledger_give_begin(void)
{
	enter();
}

void ledger_give(int device, uint64_t bytes)
{
	struct preload_use *use = ledger_use(device);

	if (!use || !bytes)
		return;
	ledger_change();
	let_go(ledger_row(device), use, bytes);
	ledger_change();
}

void ledger_pool(int device, uint64_t before_bytes, uint64_t now_bytes)
{
	struct preload_device *row = ledger_row(device);
	struct preload_use *use = ledger_use(device);
	uint64_t less = before_bytes > now_bytes ? before_bytes - now_bytes : 0;
	uint64_t more = now_bytes > before_bytes ? now_bytes - before_bytes : 0;

	if (!use || more > UINT64_MAX / 4 || less == more)
		return;
	ledger_change();
	if (less) {
		less = ledger_subtract(&use->pool_bytes, less);
		let_go(row, use, less);
	} else {
		(void)ledger_add(&use->pool_bytes, more);
		hold(row, use, more);
	}
	ledger_change();
	if (!more)
		return;
	ledger_flag(PRELOAD_CUDA | PRELOAD_CONTEXT);
	ledger_raise(&use->largest_bytes, more);
	raise_peaks(device);
}

void ledger_managed(int device, int64_t bytes)
{
	struct preload_device *row = ledger_row(device);
	struct preload_use *use = ledger_use(device);
	uint64_t less;

	if (!use || !bytes)
		return;
	ledger_change();
	if (bytes < 0) {
		less = ledger_subtract(&use->managed_bytes,
				       0 - (uint64_t)bytes);
		(void)ledger_subtract(&row->managed_bytes, less);
	} else {
		(void)ledger_add(&use->managed_bytes, (uint64_t)bytes);
		ledger_raise(&row->managed_peak_bytes,
			     ledger_add(&row->managed_bytes, (uint64_t)bytes));
	}
	ledger_change();
}

void ledger_host(int64_t bytes)
{
	struct preload_slot *slot = ledger_self.slot;

	if (!slot)
		return;
	if (bytes < 0)
		(void)ledger_subtract(&slot->host_bytes, 0 - (uint64_t)bytes);
	else
		ledger_raise(&slot->host_peak_bytes,
			     ledger_add(&slot->host_bytes, (uint64_t)bytes));
}

void ledger_note_used(int device, uint64_t used_bytes, uint64_t changes)
{
	struct preload_device *row = ledger_row(device);
	uint64_t known;

	if (!row || !ledger_cap(device))
		return;
	/* The driver has the memory of the dead back already. */
	changes += ledger_reap(device, own_busy);
	known = plus(load(&row->baseline_bytes), load(&row->current_bytes));
	if (ledger_is_quiet(own_busy) && ledger_changes() == changes)
		__atomic_store_n(&row->overhead_bytes,
				 used_bytes > known ? used_bytes - known : 0,
				 __ATOMIC_SEQ_CST);
}

static uint64_t charged_bytes(const struct preload_device *row)
{
	return plus(load(&row->current_bytes), load(&row->overhead_bytes));
}

uint64_t ledger_room(int device)
{
	uint64_t cap = ledger_cap(device);
	uint64_t charged = cap ? charged_bytes(ledger_row(device)) : 0;

	return cap > charged ? cap - charged : 0;
}

bool ledger_is_over(int device)
{
	uint64_t cap = ledger_cap(device);

	return cap && charged_bytes(ledger_row(device)) > cap;
}
