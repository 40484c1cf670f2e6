/* The recommended setting as data: each name that gets a value, and where. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_RECORDS_RECORD_SETTINGS_H
#define AUTOFIT_CONFIGS_RECORDS_RECORD_SETTINGS_H

#include "base/batch.h"

#include <stddef.h>

/* More than any command has; the rest is dropped. */
#define RECORD_SETTINGS_MAX 64

/* All but size may be NULL: not known. */
struct record_setting {
	char *size;  /* "micro_batch", "grad_accum", "effective_batch" */
	char *name;  /* "--batch-size", "train.batch_size", "BATCH" */
	char *value; /* what it is to be */
	char *was;   /* what it is in the command */
	/* "argument 4", "argument" (to be added), "environment", "file:line" */
	char *where;
};

struct record_settings {
	struct record_setting *items;
	size_t count, capacity;
};

/* The same for texts of somebody else's. */
struct record_setting_texts {
	const char *size, *name, *value, *was, *where;
};

/* Copies the texts. */
void record_settings_add(struct record_settings *settings,
			 const struct record_setting_texts *setting);
void record_settings_release(struct record_settings *settings);

/* The whole numbers among the values, for another split of the batch. */
void record_settings_rescale(struct record_settings *settings,
			     const struct batch *from, const struct batch *to);

#endif
