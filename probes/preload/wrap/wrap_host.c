/* Wrappers of pinned host memory: the host's, never the device's. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/held.h"
#include "probes/preload/wrap.h"

/* NOLINTBEGIN(readability-identifier-naming): the names are the driver's. */

#define HOST_ALLOCATION(elf, parameters, arguments)                            \
	HELD_ALLOCATION(elf, PRELOAD_CALL_HOST, pp, bytesize, HELD_KEY(*pp),   \
			parameters, arguments)

HOST_ALLOCATION(cuMemHostAlloc,
		(void **pp, size_t bytesize, unsigned int flags),
		(pp, bytesize, flags))
HOST_ALLOCATION(cuMemAllocHost_v2, (void **pp, size_t bytesize), (pp, bytesize))
HOST_ALLOCATION(cuMemAllocHost, (void **pp, unsigned int bytesize),
		(pp, bytesize))

#define HOST_REGISTRATION(elf)                                                 \
	HELD_ALLOCATION(elf, PRELOAD_CALL_HOST, true, bytesize, HELD_KEY(p),   \
			(void *p, size_t bytesize, unsigned int flags),        \
			(p, bytesize, flags))

HOST_REGISTRATION(cuMemHostRegister)
HOST_REGISTRATION(cuMemHostRegister_v2)

HELD_RELEASE(cuMemFreeHost, HELD_KEY(p), (void *p), (p))
HELD_RELEASE(cuMemHostUnregister, HELD_KEY(p), (void *p), (p))

/* NOLINTEND(readability-identifier-naming) */
