/* Counters of this process's slot. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/ledger/ledger.h"

#include "probes/preload/ledger/ledger_self.h"

void ledger_flag(uint32_t flags)
{
	struct preload_slot *slot = ledger_self.slot;

	if (slot &&
	    (__atomic_load_n(&slot->flags, __ATOMIC_RELAXED) & flags) != flags)
		(void)__atomic_or_fetch(&slot->flags, flags, __ATOMIC_RELAXED);
}

void ledger_context(int device)
{
	struct preload_use *use = ledger_use(device);

	ledger_flag(PRELOAD_CUDA | PRELOAD_CONTEXT);
	if (use)
		(void)__atomic_add_fetch(&use->contexts, 1, __ATOMIC_RELAXED);
}

static void count(uint64_t *counter, uint64_t amount)
{
	(void)__atomic_add_fetch(counter, amount, __ATOMIC_RELAXED);
}

void ledger_allocation(void)
{
	if (ledger_self.slot)
		count(&ledger_self.slot->allocations, 1);
}

void ledger_free(void)
{
	if (ledger_self.slot)
		count(&ledger_self.slot->frees, 1);
}

void ledger_launch(void)
{
	if (!ledger_self.slot)
		return;
	ledger_flag(PRELOAD_CUDA | PRELOAD_CONTEXT);
	count(&ledger_self.slot->launches, 1);
}

void ledger_synchronization(void)
{
	if (ledger_self.slot)
		count(&ledger_self.slot->synchronizations, 1);
}

void ledger_copy(uint64_t to_device_bytes, uint64_t to_host_bytes)
{
	if (!ledger_self.slot)
		return;
	if (to_device_bytes)
		count(&ledger_self.slot->to_device_bytes, to_device_bytes);
	if (to_host_bytes)
		count(&ledger_self.slot->to_host_bytes, to_host_bytes);
}
