/* The fields of a record's file, as tables for its reader and its writer. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_RECORDS_RECORD_FIELDS_H
#define AUTOFIT_CONFIGS_RECORDS_RECORD_FIELDS_H

#include "base/error.h"
#include "configs/records/field.h"
#include "configs/records/record.h"

#include <stdbool.h>
#include <stddef.h>

#define RECORD_SCHEMA "autofit.record/1"
#define RECORD_FILE_MAX ((size_t)64 << 20)
#define RECORD_ARGUMENTS_MAX 100000
#define RECORD_PROBES_MAX 1000
#define RECORD_ID_MAX 128
#define RECORD_VERSIONS_MAX 256
#define RECORD_SUFFIX ".ini"
#define RECORD_SUFFIX_LENGTH (sizeof(RECORD_SUFFIX) - 1)

extern const struct field record_fields[];  /* of struct record */
extern const struct field device_fields[];  /* of struct record_device */
extern const struct field probe_fields[];   /* of struct probe_note */
extern const struct field setting_fields[]; /* of struct record_setting */

/* A file's name without .ini: no path, nothing hidden, nothing odd. */
bool record_id_is_valid(const char *id);

/*
 * What no single field shows: the same for a record that was read and one to
 * be written, so that whatever is written can be read. -EINVAL.
 */
int record_check(const struct record *record, struct error *err);

#endif
