/* Helpers of the files that read and find records. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_RECORDS_RECORD_FILES_H
#define AUTOFIT_CONFIGS_RECORDS_RECORD_FILES_H

#include "base/error.h"
#include "configs/records/record.h"

#include <stdbool.h>

/* Could a file of this name, without folder, be the record of the identity? */
bool record_name_fits(const char *name, const char *identity);

/* Paths of those in folder, of whatever kind, in no order; reads no file. */
int record_list_fitting(struct strlist *paths, const char *folder,
			const char *identity, struct error *err);

/* As record_trust; the descriptor of what was judged. */
int record_open(const char *path, enum record_place place, const char *site,
		struct error *err);

/* As record_read, of an open file, which is closed; path is for messages. */
int record_read_open(struct record *record, int fd, const char *path,
		     struct error *err);

#endif
