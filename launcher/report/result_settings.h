/* The recommended setting as data: what to write where, and how it compares. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_RESULT_SETTINGS_H
#define AUTOFIT_LAUNCHER_REPORT_RESULT_SETTINGS_H

#include "launcher/report/result.h"

#include <jansson.h>

/*
 * Puts settings, rates (of the command's own split and the recommended one),
 * created, host and versions into the object of --json.
 */
void result_settings_put(json_t *root, const struct result *result);

#endif
