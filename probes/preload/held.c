/* Allocations of this process, as its wrappers see them come and go. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/held.h"

#include "probes/preload/cap.h"
#include "probes/preload/device.h"
#include "probes/preload/ledger/table.h"
#include "probes/preload/pools.h"

#include <errno.h>

/* Linear, managed, pinned memory and arrays: their addresses are disjoint. */
static struct table allocations;

bool count_begin(void)
{
	if (!call_begin())
		return false;
	ledger_flag(PRELOAD_CUDA);
	return true;
}

void held_is_crowded(void)
{
	ledger_flag(PRELOAD_CROWDED);
}

void count_refused(enum preload_call call, int device, uint64_t bytes,
		   bool by_cap)
{
	struct ledger_refusal refusal = {
		.call = call, .device = device, .bytes = bytes, .by_cap = by_cap
	};
	struct cap_figures figures = { 0, 0 };

	if (device == COUNT_CURRENT)
		refusal.device = device_now().row;
	/* A launch may be one of thousands that a program tries. */
	if (call != PRELOAD_CALL_LAUNCH && call != PRELOAD_CALL_HOST)
		figures = cap_ask(refusal.device);
	refusal.free_bytes = figures.free_bytes;
	refusal.total_bytes = figures.total_bytes;
	ledger_refused(&refusal);
}

void count_result(enum preload_call call, int device, uint64_t bytes,
		  cu_result result)
{
	if (result == CU_OUT_OF_MEMORY)
		count_refused(call, device, bytes, false);
}

void held_change(enum held_kind kind, int device, int64_t bytes)
{
	if (kind == HELD_MANAGED)
		ledger_managed(device, bytes);
	else if (kind == HELD_HOST)
		ledger_host(bytes);
	else if (bytes < 0)
		ledger_give(device, 0 - (uint64_t)bytes);
}

static void held_give(const struct table_entry *entry)
{
	held_change((enum held_kind)entry->kind, entry->device,
		    -(int64_t)entry->bytes);
}

/* False: there is no memory for it. */
static bool held_remember(const struct table_entry *entry)
{
	struct table_entry before = { 0 };
	struct table_entry *place;

	table_lock(&allocations);
	place = table_add(&allocations, entry->key);
	if (place) {
		before = *place;
		*place = *entry;
	}
	table_unlock(&allocations);
	/* The address is given out anew: it was freed where nobody saw it. */
	if (before.bytes)
		held_give(&before);
	return place;
}

static bool held_begin(struct held_request *request, enum preload_call call,
		       uint64_t bytes)
{
	/* No amount that could be added and subtracted. */
	if (!bytes || bytes > INT64_MAX || !count_begin())
		return false;
	*request = (struct held_request){ .call = call,
					  .device = -1,
					  .bytes = bytes };
	if (call == PRELOAD_CALL_MANAGED)
		request->kind = HELD_MANAGED;
	if (call == PRELOAD_CALL_HOST)
		request->kind = HELD_HOST;
	return true;
}

bool request_begin(struct held_request *request, enum preload_call call,
		   uint64_t bytes)
{
	struct device_now now;

	if (!held_begin(request, call, bytes))
		return false;
	now = device_now();
	request->context = now.context;
	if (request->kind != HELD_HOST)
		request->device = now.row;
	return true;
}

bool request_begin_at(struct held_request *request, enum preload_call call,
		      int row, uint64_t bytes)
{
	if (!held_begin(request, call, bytes))
		return false;
	request->device = row;
	return true;
}

bool request_is_allowed(struct held_request *request)
{
	if (request->kind != HELD_DEVICE) {
		ledger_give_begin();
		return true;
	}
	cap_look(request->device);
	request->is_refused = !ledger_take(request->device, request->bytes);
	return !request->is_refused;
}

bool request_resize(struct held_request *request, uint64_t bytes)
{
	if (bytes == request->bytes || bytes > INT64_MAX)
		return true;
	ledger_untake(request->device, request->bytes);
	ledger_done();
	request->bytes = bytes;
	request->is_refused = !ledger_take(request->device, bytes);
	return !request->is_refused;
}

static void count_grant(const struct held_request *request, uint64_t key)
{
	struct table_entry entry = { .key = key,
				     .bytes = request->bytes,
				     .owner = request->context,
				     .device = request->device,
				     .kind = request->kind };

	if (key && !held_remember(&entry)) {
		held_is_crowded();
		ledger_untake(request->device, request->bytes);
	} else if (request->kind != HELD_DEVICE) {
		held_change(request->kind, request->device,
			    (int64_t)request->bytes);
	}
	ledger_done();
	ledger_allocation();
	ledger_granted(request->call, request->bytes);
}

cu_result request_end(struct held_request *request, cu_result result,
		      uint64_t key)
{
	int saved = errno;

	if (!request->is_refused && result == CU_SUCCESS) {
		count_grant(request, key);
	} else if (!request->is_refused) {
		ledger_untake(request->device, request->bytes);
		ledger_done();
	}
	if (result == CU_OUT_OF_MEMORY)
		count_refused(request->call, request->device, request->bytes,
			      request->is_refused);
	call_end();
	errno = saved;
	return result;
}

bool release_begin(struct release *release, uint64_t key)
{
	struct table_entry *entry;

	if (!count_begin())
		return false;
	*release = (struct release){ 0 };
	/*
	 * Out of the table before the driver's call: after it the address may
	 * be another thread's already.
	 */
	table_lock(&allocations);
	entry = table_find(&allocations, key);
	if (entry) {
		release->is_known = true;
		release->entry = *entry;
		table_remove(&allocations, entry);
	}
	table_unlock(&allocations);
	ledger_give_begin();
	return true;
}

cu_result release_end(struct release *release, cu_result result)
{
	int saved = errno;

	if (result == CU_SUCCESS) {
		ledger_free();
		if (release->is_known)
			held_give(&release->entry);
		else if (!release->is_in_order || ledger_is_capped())
			pools_read();
	} else if (release->is_known && !held_remember(&release->entry)) {
		held_is_crowded();
	}
	ledger_done();
	call_end();
	errno = saved;
	return result;
}

void held_drop(uint64_t context)
{
	struct table_entry *entry;
	size_t position = 0;

	if (!context)
		return;
	ledger_give_begin();
	table_lock(&allocations);
	while ((entry = table_next(&allocations, &position))) {
		if (entry->owner != context)
			continue;
		held_give(entry);
		table_remove(&allocations, entry);
	}
	table_unlock(&allocations);
	ledger_done();
	pools_read();
}
