/* A probe as a JSON object of the journal, and back. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_RECORDS_JOURNAL_LINE_H
#define AUTOFIT_CONFIGS_RECORDS_JOURNAL_LINE_H

#include "configs/records/record.h"

#include <jansson.h>

/* The caller owns the object. */
json_t *journal_line_make(const struct probe_note *note);

/* Adds the probe to notes; -EINVAL when anything in the object is wrong. */
int journal_line_read(const json_t *line, struct probe_notes *notes);

#endif
