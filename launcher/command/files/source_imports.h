/* The modules that a script imports. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_IMPORTS_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_IMPORTS_H

#include <stddef.h>

/* Of one script; those of its own folder stand last, by custom. */
#define SOURCE_IMPORTS_MAX 12

/* "from a.b import c": module a.b, member c; "import a": no member. */
struct source_import {
	const char *module, *member;
	size_t module_length, member_length;
};

/* The last ones of the text, in their order; they point into it. */
size_t source_imports(const char *text,
		      struct source_import imports[SOURCE_IMPORTS_MAX]);

#endif
