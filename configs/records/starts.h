/* The split a run was first started with, for when it is resumed. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_RECORDS_STARTS_H
#define AUTOFIT_CONFIGS_RECORDS_STARTS_H

#include "base/batch.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* More are not kept: the oldest go. */
#define STARTS_KEPT 500

struct start {
	struct batch batch;  /* its effective batch is not kept */
	uint64_t peak_bytes; /* as recorded; 0: not known */
	bool on_host;        /* the peak is of host memory, not of a GPU */
	int64_t created;     /* seconds since 1970 */
	char record_id[130]; /* of the record it came from; "" */
};

/*
 * folder/<hash of key>.start holds key in full. 1 when there is one with this
 * key that is sound and the user's own, else 0.
 */
int start_read(struct start *start, const char *folder, const char *key);

/* Keeps the first: an existing one of this key is left as it is, unless
 * replace is asked for. Prunes to STARTS_KEPT. */
int start_write(const struct start *start, const char *folder, const char *key,
		int replace, struct error *err);

/* Remove all that came from this record. */
void start_forget(const char *folder, const char *record_id);

#endif
