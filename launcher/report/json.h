/* Building JSON for programs: nothing is dropped without a word. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_JSON_H
#define AUTOFIT_LAUNCHER_REPORT_JSON_H

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

#endif
