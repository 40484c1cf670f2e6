/* The page as this process writes it: its slot, its bytes, the cap. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_LEDGER_LEDGER_H
#define AUTOFIT_PROBES_PRELOAD_LEDGER_LEDGER_H

#include "probes/preload/ledger/page.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Safe in any thread and over processes; no function here fails towards its
 * caller: without a page, a slot or room nothing is counted. Nothing allocates
 * by malloc, prints, or changes errno.
 *
 * current of a device is the sum over live processes. Before a new peak is
 * written, and before the cap refuses, what dead processes left in it is taken
 * out (a zombie is dead: the driver has its memory back).
 */

/* Maps the page (path, else descriptor) and claims a slot, once per process
 * and again after fork and exec. False: no page, switched off, all taken. */
bool ledger_open(void);

/* In the child of a fork: what the parent held is not this process's. */
void ledger_forget_parent(void);

/* The row of a device by its uuid, made if need be; -1: the page is full. */
int ledger_device(const unsigned char uuid[16]);
/* The same without making one. */
int ledger_known_device(const unsigned char uuid[16]);
/* Its real size, by the driver. */
void ledger_total(int device, uint64_t bytes);

/*
 * An allocation: first take (false: the cap refuses, nothing was taken), then
 * the driver's call, then done. The bytes count at once as current, and only
 * with done as a peak. Between take or give_begin and done the slot is busy;
 * after a take that was refused there is nothing to be done.
 */
bool ledger_take(int device, uint64_t bytes);
/* Undo a take that the driver refused. */
void ledger_untake(int device, uint64_t bytes);
/* A free: begin before the driver's call, then give what it freed, done. */
void ledger_give_begin(void);
void ledger_give(int device, uint64_t bytes);
void ledger_done(void);

/* What pools hold from the driver changed from before to now; while busy. */
void ledger_pool(int device, uint64_t before_bytes, uint64_t now_bytes);

void ledger_managed(int device, int64_t bytes);
void ledger_host(int64_t bytes);

void ledger_flag(uint32_t flags); /* enum preload_slot_flag */
void ledger_context(int device);

/* Counters of the slot; relaxed. */
void ledger_allocation(void);
void ledger_free(void);
void ledger_launch(void);
void ledger_synchronization(void);
void ledger_copy(uint64_t to_device_bytes, uint64_t to_host_bytes);

/* A refused call, a grant, a question for the free bytes: see page.h. */
struct ledger_refusal {
	enum preload_call call;
	int device; /* -1: not known */
	uint64_t bytes, free_bytes, total_bytes;
	bool by_cap;
};
void ledger_refused(const struct ledger_refusal *refusal);
void ledger_granted(enum preload_call call, uint64_t bytes);
void ledger_asked_free(uint64_t free_bytes, uint64_t total_bytes);

/* The cap of a device; 0: none. */
uint64_t ledger_cap(int device);
/* Some device has one. */
bool ledger_is_capped(void);
/*
 * With a cap: the driver says that so many bytes of the device are used. Kept
 * as overhead when nothing else was under way, anywhere, since changes.
 */
uint64_t ledger_changes(void);
void ledger_note_used(int device, uint64_t used_bytes, uint64_t changes);
/* What the cap leaves: cap - current - overhead, not below 0. */
uint64_t ledger_room(int device);
/* More than the cap is used: by what was not asked for beforehand. */
bool ledger_is_over(int device);

#endif
