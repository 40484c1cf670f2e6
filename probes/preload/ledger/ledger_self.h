/* Helpers of the files of the ledger. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_LEDGER_LEDGER_SELF_H
#define AUTOFIT_PROBES_PRELOAD_LEDGER_LEDGER_SELF_H

#include "probes/preload/ledger/ledger.h"
#include "probes/preload/ledger/process.h"

#include <stddef.h>

/* This process; page and slot are NULL until it is open. */
struct ledger_self {
	struct preload_page *page;
	struct preload_slot *slot;
	struct process_id id;
};
extern struct ledger_self ledger_self __attribute__((visibility("hidden")));

/* A device of the page and this process's part of it; NULL: not counted. */
static inline struct preload_device *ledger_row(int device)
{
	if (!ledger_self.page || device < 0 || device >= PRELOAD_DEVICES)
		return NULL;
	return &ledger_self.page->devices[device];
}

static inline struct preload_use *ledger_use(int device)
{
	if (!ledger_self.slot || device < 0 || device >= PRELOAD_DEVICES)
		return NULL;
	return &ledger_self.slot->devices[device];
}

/* Slots that may be in use. */
static inline uint32_t ledger_slot_count(const struct preload_page *page)
{
	uint32_t count =
		__atomic_load_n(&page->header.slots_used, __ATOMIC_SEQ_CST);

	return count < PRELOAD_SLOTS ? count : PRELOAD_SLOTS;
}

/*
 * What other processes wrote may be anything: a counter never goes below 0 nor
 * over the top. Each returns what it really added or took.
 */
static inline uint64_t ledger_add(uint64_t *counter, uint64_t bytes)
{
	return __atomic_add_fetch(counter, bytes, __ATOMIC_SEQ_CST);
}

static inline uint64_t ledger_subtract(uint64_t *counter, uint64_t bytes)
{
	uint64_t now = __atomic_load_n(counter, __ATOMIC_SEQ_CST);
	uint64_t part;

	do
		part = bytes < now ? bytes : now;
	while (!__atomic_compare_exchange_n(counter, &now, now - part, false,
					    __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST));
	return part;
}

static inline void ledger_raise(uint64_t *peak, uint64_t value)
{
	uint64_t now = __atomic_load_n(peak, __ATOMIC_SEQ_CST);

	while (now < value &&
	       !__atomic_compare_exchange_n(peak, &now, value, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

/* Before and after each change of bytes. */
static inline void ledger_change(void)
{
	(void)__atomic_add_fetch(&ledger_self.page->header.changes, 1,
				 __ATOMIC_SEQ_CST);
}

/*
 * Takes out what the dead left on a device; 0: none did, else how often
 * changes was raised. in_calls: so often is this thread itself in a call.
 */
uint64_t ledger_reap(int device, uint32_t in_calls);

/* Everything that a slot says is held goes out of the devices. */
uint64_t ledger_take_out(struct preload_slot *slot);

/*
 * A process that died in the middle of a change may have left a device's sum
 * wrong: it is made anew out of the slots. False: others are in a call, later.
 */
bool ledger_repair(uint32_t in_calls);

/* No live process is in a call; this thread in_calls times. */
bool ledger_is_quiet(uint32_t in_calls);

/* In the child: this thread is in no call, and waits for no grant. */
void ledger_forget_call(void);
void ledger_forget_refusals(void);

#endif
