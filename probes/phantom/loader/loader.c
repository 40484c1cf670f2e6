/* dlopen of a program on a phantom card: what it is about to ask for is made.
 */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/loader/gaps.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static gaps_dlopen_fn *next_dlopen(void)
{
	static _Atomic(void *) found;
	void *address = atomic_load(&found);
	gaps_dlopen_fn *next;

	if (!address) {
		address = dlsym(RTLD_NEXT, "dlopen");
		atomic_store(&found, address);
	}
	memcpy(&next, &address, sizeof(next));
	return next;
}

/* The real one gets the caller's own call, by a jump that compilers make of the
 * last one: where it looks for a library depends on who calls. */
EXPORT void *loader_dlopen(const char *path, int flags) __asm__("dlopen");

void *loader_dlopen(const char *path, int flags)
{
	gaps_dlopen_fn *next = next_dlopen();

	if (path && *path && !(flags & RTLD_NOLOAD))
		gaps_fill(path, next);
	return next(path, flags);
}
