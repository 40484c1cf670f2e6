/* Building JSON for programs: nothing is dropped without a word. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_JSON_H
#define AUTOFIT_LAUNCHER_REPORT_JSON_H

#include "base/strbuf.h"
#include "base/strlist.h"

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/*
 * jansson answers NULL to what it cannot hold and drops it silently. All that
 * comes here is valid, so only memory can be short: as xmalloc, these end the
 * program with 125. Each takes value over.
 */
json_t *json_checked(json_t *value);
void json_put(json_t *object, const char *key, json_t *value);
void json_append(json_t *array, json_t *value);

/* A string, U+FFFD for bytes that are not UTF-8; NULL: null. */
json_t *json_text(const char *text);
json_t *json_texts(const struct strlist *list);
/* null where it is not known: 0, or more than JSON can hold. */
json_t *json_count(int64_t number);
json_t *json_bytes(uint64_t bytes);
/* null where JSON has no such number: NaN, infinity. */
json_t *json_number(double number);
/* The same, and where it is not known: not above 0. */
json_t *json_positive(double number);

/* Appends the text of root and a newline (flags: json_dumps), takes root. */
void json_write(struct strbuf *out, json_t *root, size_t flags);

#endif
