/* NVIDIA's libraries, by how they name themselves and their functions. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_LOADER_VENDOR_H
#define AUTOFIT_PROBES_PHANTOM_LOADER_VENDOR_H

#include <stdbool.h>

/* Is a library of that file name one of NVIDIA's that work on the driver? */
bool vendor_has_library(const char *soname);

/*
 * Most of them give their names a version, which says where a name belongs. Of
 * those that do not: how their names begin. NULL: it is none of those.
 */
const char *vendor_beginning(const char *soname);

/*
 * Does that function hand something back by a pointer, by its name? What only
 * computes may do nothing on a phantom; what hands something back may not.
 */
bool vendor_function_gives(const char *soname, const char *name);

#endif
