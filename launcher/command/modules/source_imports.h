/* The modules that a script imports. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_IMPORTS_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_IMPORTS_H

#include "base/span.h"

/* Names of one import. */
#define IMPORT_NAMES_MAX 64
/* Of one script; those of its own folder stand last, by custom. */
#define SOURCE_IMPORTS_MAX 32

/* "from a.b import c": module a.b, member c, NULL of "import a"; of no bytes
 * where "(" or "*" stands there. */
struct source_import {
	const char *module, *member;
	size_t module_length, member_length;
};

/* The last ones of the text, in their order; they point into it. */
size_t source_imports(const char *text,
		      struct source_import imports[SOURCE_IMPORTS_MAX]);

/*
 * "a", "b" and "c" of "from m import (a, b as c)", which may take several
 * lines, "*", or of "import a.b as c"; they point into the text.
 */
size_t source_import_names(const struct source_import *import,
			   struct span names[IMPORT_NAMES_MAX]);

#endif
