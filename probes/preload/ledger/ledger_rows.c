/* The page's rows of devices: found by uuid, and made. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/ledger/ledger.h"

#include "probes/preload/ledger/ledger_self.h"

#include <sched.h>
#include <string.h>

/* Another process is writing a row; longer than this it did not survive. */
#define CLAIM_YIELDS 1000

static bool is_uuid(const struct preload_device *row,
		    const unsigned char uuid[16])
{
	return memcmp(row->uuid, uuid, sizeof(row->uuid)) == 0;
}

/* Once somebody began to write it: until he is done, or will never be. */
static uint32_t settled_state(struct preload_device *row)
{
	uint32_t state = __atomic_load_n(&row->state, __ATOMIC_ACQUIRE);

	for (int i = 0; i < CLAIM_YIELDS && state == PRELOAD_DEVICE_CLAIMED;
	     i++) {
		(void)sched_yield();
		state = __atomic_load_n(&row->state, __ATOMIC_ACQUIRE);
	}
	return state;
}

static bool claim_row(struct preload_page *page, int index,
		      const unsigned char uuid[16])
{
	struct preload_device *row = &page->devices[index];
	uint32_t state = PRELOAD_DEVICE_FREE;
	uint32_t used = 0;

	if (!__atomic_compare_exchange_n(&row->state, &state,
					 PRELOAD_DEVICE_CLAIMED, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return false;
	for (size_t i = 0; i < sizeof(row->uuid); i++)
		row->uuid[i] = uuid[i];
	while (used <= (uint32_t)index &&
	       !__atomic_compare_exchange_n(&page->header.devices_used, &used,
					    (uint32_t)index + 1, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	__atomic_store_n(&row->state, PRELOAD_DEVICE_READY, __ATOMIC_RELEASE);
	return true;
}

/* Rows fill from the front, so two that look for one device meet. */
static int find_row(const unsigned char uuid[16], bool make)
{
	struct preload_page *page = ledger_self.page;

	for (int i = 0; page && i < PRELOAD_DEVICES; i++) {
		struct preload_device *row = &page->devices[i];
		uint32_t state = settled_state(row);

		if (state == PRELOAD_DEVICE_FREE && !make)
			return -1;
		if (state == PRELOAD_DEVICE_FREE && claim_row(page, i, uuid))
			return i;
		if (settled_state(row) == PRELOAD_DEVICE_READY &&
		    is_uuid(row, uuid))
			return i;
	}
	return -1;
}

int ledger_device(const unsigned char uuid[16])
{
	int row = find_row(uuid, true);

	if (row < 0)
		ledger_flag(PRELOAD_CROWDED);
	return row;
}

int ledger_known_device(const unsigned char uuid[16])
{
	return find_row(uuid, false);
}

void ledger_total(int device, uint64_t bytes)
{
	struct preload_device *row = ledger_row(device);

	if (row)
		__atomic_store_n(&row->total_bytes, bytes, __ATOMIC_RELAXED);
}
