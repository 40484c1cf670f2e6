/* Memory that pools and graphs hold, whether it is in use or not. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_POOLS_H
#define AUTOFIT_PROBES_PRELOAD_POOLS_H

#include "probes/preload/ledger/table.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The driver is asked after each call that may have changed it. Nothing here
 * needs the slot to be busy; all of it keeps errno.
 */
enum pool_kind {
	POOL_DEVICE,
	POOL_MANAGED,
	POOL_HOST,
	POOL_GRAPHS, /* of a device; there is no handle */
};

/* A pool that the program made or asked for; of an ordinal (-1: host). */
void pools_add(void *pool, enum pool_kind kind, int ordinal);
/* Graphs of this ordinal have memory of their own. */
void pools_add_graphs(int ordinal);
bool pools_have_graphs(void);

/* All that are known. */
void pools_read(void);

/*
 * After an allocation of that pool; one that nobody named is of this ordinal.
 * False: the cap refuses what it now holds more; nothing was counted.
 */
bool pools_grow(void *pool, int ordinal);
/* The same of the graphs of an ordinal, once pools_add_graphs named it. */
bool pools_grow_graphs(int ordinal);
/* What was refused, and is free again by now, goes back to the driver. */
void pools_undo(void *pool);
void pools_undo_graphs(int ordinal);

/*
 * Around the driver's call that destroys a pool: from begin on nobody asks for
 * it any more, nor is any question under way. key 0: the pool is not known.
 */
void pools_remove_begin(void *pool, struct table_entry *gone);
void pools_remove_end(const struct table_entry *gone, bool is_gone);

#endif
