/* Bytes of the page: taken, granted, given back, and held below a cap. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/ledger/ledger.h"

#include "probes/preload/ledger/ledger_self.h"

/* What the driver gives memory out in, where it counts against a cap. */
#define GRANULE (UINT64_C(2) << 20)

/* Others change bytes at the same moment: not for long. */
#define SETTLE_TRIES 16

/* What this thread asked for and was not yet granted. */
static _Thread_local struct {
	uint64_t bytes;
	int device;
	bool is_on;
} pending;

/* How deep this thread itself is in calls: 0 or 1, and deeper by accident. */
static _Thread_local uint32_t own_busy;

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

static uint64_t ledger_bytes_load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

uint64_t ledger_changes(void)
{
	return ledger_self.page
		       ? ledger_bytes_load(&ledger_self.page->header.changes)
		       : 0;
}

uint64_t ledger_cap(int device)
{
	struct preload_device *row = ledger_row(device);

	return row ? ledger_bytes_load(&row->cap_bytes) : 0;
}

bool ledger_is_capped(void)
{
	bool is_capped = false;

	for (int i = 0; i < PRELOAD_DEVICES && !is_capped; i++)
		is_capped = ledger_cap(i) != 0;
	return is_capped;
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

/*
 * Only what fits is added: what is refused must not stand in the sum even for
 * a moment, in which another that does fit would be refused.
 */
static bool add_below(uint64_t *sum, uint64_t bytes, uint64_t need,
		      uint64_t cap)
{
	uint64_t before = ledger_bytes_load(sum);

	do {
		if (cap && plus(before, need) > cap)
			return false;
	} while (!__atomic_compare_exchange_n(sum, &before, plus(before, bytes),
					      false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	return true;
}

static void hold(struct preload_device *row, struct preload_use *use,
		 uint64_t bytes)
{
	(void)ledger_add(&use->current_bytes, bytes);
	(void)ledger_add(&row->current_bytes, bytes);
}

/* Never more than this process holds: others' bytes stay. */
static void ledger_bytes_let_go(struct preload_device *row,
				struct preload_use *use, uint64_t bytes)
{
	bytes = ledger_subtract(&use->current_bytes, bytes);
	(void)ledger_subtract(&row->current_bytes, bytes);
}

static bool ledger_bytes_reserve(int device, uint64_t bytes)
{
	struct preload_device *row = ledger_row(device);
	struct preload_use *use = ledger_use(device);
	uint64_t cap = ledger_cap(device);
	uint64_t need = plus(up_to_granule(bytes),
			     ledger_bytes_load(&row->overhead_bytes));
	bool fits;

	ledger_change();
	(void)ledger_add(&use->pending_bytes, bytes);
	fits = add_below(&row->current_bytes, bytes, need, cap);
	if (fits)
		(void)ledger_add(&use->current_bytes, bytes);
	else
		(void)ledger_subtract(&use->pending_bytes, bytes);
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
	if (!ledger_bytes_reserve(device, bytes) &&
	    (!ledger_reap(device, own_busy) ||
	     !ledger_bytes_reserve(device, bytes))) {
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
	ledger_bytes_let_go(ledger_row(device), ledger_use(device),
			    pending.bytes);
	(void)ledger_subtract(&ledger_use(device)->pending_bytes,
			      pending.bytes);
	ledger_change();
}

/* current_bytes of what is granted: of this process, of all of them. */
struct granted {
	uint64_t own, all;
};

static uint64_t ledger_bytes_less(uint64_t bytes, uint64_t part)
{
	return bytes > part ? bytes - part : 0;
}

/*
 * What waits is read before and after what is held: a request that is refused
 * just now leaves the two one after the other.
 */
static struct granted look_once(int device)
{
	struct preload_page *page = ledger_self.page;
	uint32_t count = ledger_slot_count(page);
	uint64_t waiting[PRELOAD_SLOTS];
	struct granted now;

	for (uint32_t i = 0; i < count; i++)
		waiting[i] = ledger_bytes_load(
			&page->slots[i].devices[device].pending_bytes);
	now.all = ledger_bytes_load(&page->devices[device].current_bytes);
	now.own = ledger_bytes_load(&ledger_use(device)->current_bytes);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t after = ledger_bytes_load(
			&page->slots[i].devices[device].pending_bytes);

		if (waiting[i] < after)
			waiting[i] = after;
		now.all = ledger_bytes_less(now.all, waiting[i]);
		if (&page->slots[i] == ledger_self.slot)
			now.own = ledger_bytes_less(now.own, waiting[i]);
	}
	return now;
}

/*
 * A call that is still under way may be refused, and then never was a peak.
 * While others change bytes all the time the least that is seen is taken: who
 * is granted something then looks for himself.
 */
static struct granted ledger_bytes_look(int device)
{
	struct granted least = { UINT64_MAX, UINT64_MAX };

	for (int i = 0; i < SETTLE_TRIES; i++) {
		uint64_t changes = ledger_changes();
		struct granted now = look_once(device);

		if (ledger_changes() == changes)
			return now;
		least.own = now.own < least.own ? now.own : least.own;
		least.all = now.all < least.all ? now.all : least.all;
	}
	return least;
}

static void raise_peaks(int device)
{
	struct preload_device *row = ledger_row(device);
	struct granted now = ledger_bytes_look(device);

	ledger_raise(&ledger_use(device)->peak_bytes, now.own);
	if (now.all <= ledger_bytes_load(&row->peak_bytes))
		return;
	if (ledger_reap(device, own_busy))
		now = ledger_bytes_look(device);
	ledger_raise(&row->peak_bytes, now.all);
}

/* Who divides a pool by itself takes it before it computes anything. */
static void note_largest(struct preload_use *use, uint64_t bytes)
{
	const struct preload_slot *slot = ledger_self.slot;

	if (slot && !__atomic_load_n(&slot->launches, __ATOMIC_RELAXED))
		ledger_raise(&use->largest_bytes, bytes);
}

static void grant(int device, uint64_t bytes)
{
	struct preload_use *use = ledger_use(device);

	if (!use)
		return;
	ledger_change();
	(void)ledger_subtract(&use->pending_bytes, bytes);
	ledger_change();
	note_largest(use, bytes);
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
	ledger_bytes_let_go(ledger_row(device), use, bytes);
	ledger_change();
}

void ledger_pool(int device, uint64_t before_bytes, uint64_t now_bytes)
{
	struct preload_device *row = ledger_row(device);
	struct preload_use *use = ledger_use(device);
	uint64_t down = ledger_bytes_less(before_bytes, now_bytes);
	uint64_t more = ledger_bytes_less(now_bytes, before_bytes);

	if (!use || more > UINT64_MAX / 4 || down == more)
		return;
	ledger_change();
	if (down) {
		ledger_bytes_let_go(row, use,
				    ledger_subtract(&use->pool_bytes, down));
	} else {
		(void)ledger_add(&use->pool_bytes, more);
		hold(row, use, more);
	}
	ledger_change();
	if (!more)
		return;
	ledger_flag(PRELOAD_CUDA | PRELOAD_CONTEXT);
	note_largest(use, more);
	raise_peaks(device);
}

void ledger_managed(int device, int64_t bytes)
{
	struct preload_device *row = ledger_row(device);
	struct preload_use *use = ledger_use(device);
	uint64_t down;

	if (!use || !bytes)
		return;
	ledger_change();
	if (bytes < 0) {
		down = ledger_subtract(&use->managed_bytes,
				       0 - (uint64_t)bytes);
		(void)ledger_subtract(&row->managed_bytes, down);
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
	known = plus(ledger_bytes_load(&row->baseline_bytes),
		     ledger_bytes_load(&row->current_bytes));
	if (ledger_is_quiet(own_busy) && ledger_changes() == changes)
		__atomic_store_n(&row->overhead_bytes,
				 used_bytes > known ? used_bytes - known : 0,
				 __ATOMIC_SEQ_CST);
}

static uint64_t charged_bytes(const struct preload_device *row)
{
	return plus(ledger_bytes_load(&row->current_bytes),
		    ledger_bytes_load(&row->overhead_bytes));
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
