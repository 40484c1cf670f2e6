/* Versions of what a tuning ran on: frameworks that were imported, driver. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_VERSIONS_H
#define AUTOFIT_LAUNCHER_REQUEST_VERSIONS_H

#include "base/strlist.h"

/*
 * Appends "torch 2.9.0" for each package whose file of its version is among
 * the stamps (see stamps.h) and says one, then "driver 550.54.14".
 */
void versions_find(const struct strlist *stamps, struct strlist *out);

/* The version in the text of such a file, or NULL; the caller frees. Pure. */
char *versions_of_python(const char *text);
/* The same of /proc/driver/nvidia/version. Pure. */
char *versions_of_driver(const char *text);

#endif
