/* Wrappers of pinned host memory: the host's, never the device's. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/held.h"
#include "probes/preload/wrap.h"

/* NOLINTBEGIN(readability-identifier-naming): the names are the driver's. */

#define KEY_OF(pointer) ((uint64_t)(uintptr_t)(pointer))

#define HOST_ALLOCATION(elf, parameters, arguments)                            \
	WRAPPER cu_result elf parameters                                       \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		cu_result result = CU_OUT_OF_MEMORY;                           \
		struct held_request request;                                   \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!pp ||                                                     \
		    !request_begin(&request, PRELOAD_CALL_HOST, bytesize))     \
			return real arguments;                                 \
		if (request_is_allowed(&request))                              \
			result = real arguments;                               \
		return request_end(&request, result,                           \
				   result ? 0 : KEY_OF(*pp));                  \
	}

HOST_ALLOCATION(cuMemHostAlloc,
		(void **pp, size_t bytesize, unsigned int flags),
		(pp, bytesize, flags))
HOST_ALLOCATION(cuMemAllocHost_v2, (void **pp, size_t bytesize), (pp, bytesize))
HOST_ALLOCATION(cuMemAllocHost, (void **pp, unsigned int bytesize),
		(pp, bytesize))

#define HOST_REGISTRATION(elf)                                                 \
	WRAPPER cu_result elf(void *p, size_t bytesize, unsigned int flags)    \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		cu_result result = CU_OUT_OF_MEMORY;                           \
		struct held_request request;                                   \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!request_begin(&request, PRELOAD_CALL_HOST, bytesize))     \
			return real(p, bytesize, flags);                       \
		if (request_is_allowed(&request))                              \
			result = real(p, bytesize, flags);                     \
		return request_end(&request, result, KEY_OF(p));               \
	}

HOST_REGISTRATION(cuMemHostRegister)
HOST_REGISTRATION(cuMemHostRegister_v2)

#define HOST_RELEASE(elf)                                                      \
	WRAPPER cu_result elf(void *p)                                         \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		struct release release;                                        \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!release_begin(&release, KEY_OF(p)))                       \
			return real(p);                                        \
		return release_end(&release, real(p));                         \
	}

HOST_RELEASE(cuMemFreeHost)
HOST_RELEASE(cuMemHostUnregister)

/* NOLINTEND(readability-identifier-naming) */
