/* Between the files that put the hooks in place; wrappers need wrap.h only. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_REAL_H
#define AUTOFIT_PROBES_PRELOAD_REAL_H

#include "probes/preload/wrap.h"

struct hook_row {
	const char *elf, *base;
	void *wrapper;
	int version;
	unsigned int stream; /* 2: one stream per thread */
};

const struct hook_row *hook_row(enum hook hook);

typedef void *real_dlsym_fn(void *handle, const char *name);

/* The dlsym that the program would have without us; NULL: there is none. */
real_dlsym_fn *real_dlsym(void);

/* As real_find, but loads nothing. */
void *real_find_loaded(enum hook hook);

/*
 * Where that hook's function is remembered in another file of the driver's
 * name: whoever has two drivers loaded gets the second one without wrappers,
 * for a wrapper cannot know which of the two its caller means.
 */
bool real_is_second(enum hook hook, void *address);

/* The address is of the driver's or of NVML's library: it asks for itself. */
bool real_is_driver(const void *address);

/* False: the kill switch. Read from the environment once. */
bool hooks_on(void);

#endif
