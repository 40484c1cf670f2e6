/* JSON of others, with bounds on what it unfolds to in memory. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_FILES_JSON_BOUNDED_H
#define AUTOFIT_CONFIGS_FILES_JSON_BOUNDED_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More is no description of a model. A value takes some 100 bytes. */
#define JSON_VALUES_MAX ((size_t)1000000)
#define JSON_DEPTH_MAX 64

/*
 * The object, which the caller gives back with json_decref. NULL: it is no JSON
 * object, nests too deep or holds too many values; nothing large was
 * allocated. The message begins with name. is_strict refuses a key twice.
 */
json_t *json_bounded(const char *name, const char *text, size_t length,
		     bool is_strict, struct error *err);

/* A whole number, also where jansson had to read all of them as doubles. */
bool json_whole(const json_t *json, int64_t *value);

#endif
