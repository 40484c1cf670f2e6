/* A function of the driver that is no hook, looked up once. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_LOOKUP_H
#define AUTOFIT_PROBES_PRELOAD_LOOKUP_H

#include "probes/preload/wrap.h"

/* It is remembered in *place: the driver never leaves the process. */
static inline void *lookup_once(void **place, const char *name)
{
	void *found = __atomic_load_n(place, __ATOMIC_RELAXED);

	if (!found) {
		found = real_symbol(name);
		__atomic_store_n(place, found, __ATOMIC_RELAXED);
	}
	return found;
}

#endif
