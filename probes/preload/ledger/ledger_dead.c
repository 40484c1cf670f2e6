/* Takes out of the page what dead processes left in it. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/ledger/ledger_self.h"

#include <stddef.h>

/* Somebody else changes bytes at the same moment: not for long. */
#define REPAIR_TRIES 64

static bool ledger_dead_is_empty(struct preload_use *use)
{
	return !__atomic_load_n(&use->current_bytes, __ATOMIC_SEQ_CST) &&
	       !__atomic_load_n(&use->managed_bytes, __ATOMIC_SEQ_CST);
}

static uint64_t drain(uint64_t *counter)
{
	return __atomic_exchange_n(counter, 0, __ATOMIC_SEQ_CST);
}

uint64_t ledger_take_out(struct preload_slot *slot)
{
	uint64_t raises = 0;

	for (int i = 0; i < PRELOAD_DEVICES; i++) {
		struct preload_use *use = &slot->devices[i];
		struct preload_device *row = &ledger_self.page->devices[i];

		(void)drain(&use->pending_bytes);
		(void)drain(&use->pool_bytes);
		if (ledger_dead_is_empty(use))
			continue;
		ledger_change();
		(void)ledger_subtract(&row->current_bytes,
				      drain(&use->current_bytes));
		(void)ledger_subtract(&row->managed_bytes,
				      drain(&use->managed_bytes));
		ledger_change();
		raises += 2;
	}
	(void)drain(&slot->host_bytes);
	return raises;
}

bool ledger_is_quiet(uint32_t in_calls)
{
	struct preload_page *page = ledger_self.page;

	for (uint32_t i = 0; i < ledger_slot_count(page); i++) {
		struct preload_slot *slot = &page->slots[i];
		uint32_t pid = __atomic_load_n(&slot->pid, __ATOMIC_ACQUIRE);
		uint32_t busy = __atomic_load_n(&slot->busy, __ATOMIC_SEQ_CST);

		if (slot == ledger_self.slot && busy == in_calls)
			continue;
		if (busy && pid && !process_is_dead(pid, slot->start_time))
			return false;
	}
	return true;
}

static void sum_slots(uint64_t sums[PRELOAD_DEVICES])
{
	struct preload_page *page = ledger_self.page;

	for (int i = 0; i < PRELOAD_DEVICES; i++)
		sums[i] = 0;
	for (uint32_t i = 0; i < ledger_slot_count(page); i++) {
		for (int j = 0; j < PRELOAD_DEVICES; j++)
			sums[j] += __atomic_load_n(
				&page->slots[i].devices[j].current_bytes,
				__ATOMIC_SEQ_CST);
	}
}

static bool repair_once(uint32_t in_calls)
{
	struct preload_device *rows = ledger_self.page->devices;
	uint64_t before[PRELOAD_DEVICES];
	uint64_t sums[PRELOAD_DEVICES];
	uint64_t changes = ledger_changes();

	for (int i = 0; i < PRELOAD_DEVICES; i++)
		before[i] = __atomic_load_n(&rows[i].current_bytes,
					    __ATOMIC_SEQ_CST);
	sum_slots(sums);
	if (!ledger_is_quiet(in_calls) || ledger_changes() != changes)
		return false;
	for (int i = 0; i < PRELOAD_DEVICES; i++) {
		if (sums[i] != before[i] &&
		    !__atomic_compare_exchange_n(
			    &rows[i].current_bytes, &before[i], sums[i], false,
			    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			return false;
	}
	return true;
}

bool ledger_repair(uint32_t in_calls)
{
	for (int i = 0; i < REPAIR_TRIES; i++) {
		if (repair_once(in_calls))
			return true;
	}
	return false;
}

/* A slot of one that died in a call stays busy until the sum is right. */
static void ledger_dead_bury(struct preload_slot *slot, uint32_t in_calls)
{
	uint32_t busy = __atomic_load_n(&slot->busy, __ATOMIC_SEQ_CST);

	if (busy && ledger_repair(in_calls))
		(void)__atomic_compare_exchange_n(&slot->busy, &busy, 0, false,
						  __ATOMIC_SEQ_CST,
						  __ATOMIC_SEQ_CST);
}

uint64_t ledger_reap(int device, uint32_t in_calls)
{
	struct preload_page *page = ledger_self.page;
	uint64_t raises = 0;

	for (uint32_t i = 0; i < ledger_slot_count(page); i++) {
		struct preload_slot *slot = &page->slots[i];
		uint32_t pid = __atomic_load_n(&slot->pid, __ATOMIC_ACQUIRE);

		/* Whoever holds nothing here may live or not. */
		if (slot == ledger_self.slot || !pid ||
		    (ledger_dead_is_empty(&slot->devices[device]) &&
		     !__atomic_load_n(&slot->busy, __ATOMIC_SEQ_CST)) ||
		    !process_is_dead(pid, slot->start_time))
			continue;
		raises += ledger_take_out(slot);
		ledger_dead_bury(slot, in_calls);
	}
	return raises;
}
