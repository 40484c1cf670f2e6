/* A table of the allocations of this process, by pointer or handle. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_LEDGER_TABLE_H
#define AUTOFIT_PROBES_PRELOAD_LEDGER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_entry {
	uint64_t key;
	uint64_t bytes;
	uint64_t owner; /* the context; of a mapping: the handle */
	int32_t device; /* its row of the page; -1: not counted */
	uint32_t kind;
	uint32_t refs, maps;
};

/* All bytes 0: empty. Lives as long as the process. */
struct table {
	struct table_entry *rows;
	size_t capacity, live, dead;
	uint32_t lock, generation;
};

/* Keys that no pointer and no handle is; they are never found nor added. */
#define TABLE_KEYS_RESERVED 2

/*
 * Everything below is for the holder of the lock; short, never around a call
 * that may need it again. In a forked child a table is empty and free, who
 * ever held it in the parent.
 */
void table_lock(struct table *table);
void table_unlock(struct table *table);

/* NULL: not there. Good until the next table_add. */
struct table_entry *table_find(struct table *table, uint64_t key);

/*
 * The entry of that key, the one that was there or a new one, zeroed; NULL:
 * no memory.
 */
struct table_entry *table_add(struct table *table, uint64_t key);

/* The entry is one of the table's; its place is used again. */
void table_remove(struct table *table, struct table_entry *entry);

/* One after the other, from *position 0; NULL: no more. Removing is allowed. */
struct table_entry *table_next(struct table *table, size_t *position);

/* In the child of a fork: all tables are forgotten. */
void table_forget_all(void);

#endif
