/* Finds what is loaded in this process, without libdl. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_LOADED_H
#define AUTOFIT_PROBES_PRELOAD_LOADED_H

#include <stdbool.h>

/*
 * The function of that name in the first module loaded after this library, as
 * RTLD_NEXT would find it, but also where the module is not in the scope of
 * all (libdl of an old glibc, needed by a plug-in alone); NULL: none has it.
 */
void *loaded_after_us(const char *function);

/* The file that an address is of; its name stays while it is loaded. */
struct loaded_module {
	const char *path; /* "" for the program itself */
	const void *base;
};

/* False: the address is of no loaded file. */
bool loaded_at(const void *address, struct loaded_module *module);

/* The last part of the path begins so. */
bool loaded_is(const struct loaded_module *module, const char *prefix);

#endif
