/* Which process this is, and which are gone: by /proc. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_LEDGER_PROCESS_H
#define AUTOFIT_PROBES_PRELOAD_LEDGER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct process_id {
	uint32_t pid;        /* as this /proc calls it */
	uint64_t start_time; /* 0: there is no /proc */
};

void process_self(struct process_id *id);

/*
 * Not there, a zombie without threads, or another one of that pid. Whatever
 * cannot be read, or has no start time, counts as alive.
 */
bool process_is_dead(uint32_t pid, uint64_t start_time);

#endif
