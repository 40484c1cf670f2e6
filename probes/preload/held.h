/* Allocations of this process, as its wrappers see them come and go. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_HELD_H
#define AUTOFIT_PROBES_PRELOAD_HELD_H

#include "probes/preload/ledger/ledger.h"
#include "probes/preload/ledger/table.h"
#include "probes/preload/wrap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * All of it between call_begin and call_end, and without an effect on errno. A
 * wrapper of an allocation is
 *
 *   if (!request_begin(&request, call, bytes))
 *           return real(...);
 *   if (request_is_allowed(&request))
 *           result = real(...);
 *   return request_end(&request, result, key);
 *
 * and one of a free
 *
 *   if (!release_begin(&release, key))
 *           return real(...);
 *   return release_end(&release, real(...));
 */
enum held_kind {
	HELD_DEVICE,
	HELD_MANAGED,
	HELD_HOST,
};

/* One allocation under way. */
struct held_request {
	enum preload_call call;
	enum held_kind kind;
	int device; /* row; -1: not known, not counted */
	uint64_t context, bytes;
	bool is_refused; /* by the cap */
};

/* Bytes of the current device or, for managed and host calls, apart. */
bool request_begin(struct held_request *request, enum preload_call call,
		   uint64_t bytes);
/* Bytes of some device, of no context. */
bool request_begin_at(struct held_request *request, enum preload_call call,
		      int row, uint64_t bytes);
/* False: the cap refuses; the result is CU_OUT_OF_MEMORY. */
bool request_is_allowed(struct held_request *request);
/* Counts a refusal or a grant; key 0: it is remembered elsewhere. */
cu_result request_end(struct held_request *request, cu_result result,
		      uint64_t key);
/*
 * The driver granted other bytes than were asked for. False: the cap refuses
 * them; the caller frees them, and the result is CU_OUT_OF_MEMORY.
 */
bool request_resize(struct held_request *request, uint64_t bytes);

/* One free under way. */
struct release {
	bool is_known;
	/* It takes effect when the stream comes to it: what the pool holds
	 * changes when somebody waits, and is asked for then. */
	bool is_in_order;
	struct table_entry entry;
};
bool release_begin(struct release *release, uint64_t key);
cu_result release_end(struct release *release, cu_result result);

/* A context is gone, and all that was allocated in it. */
void held_drop(uint64_t context);

/* Bytes of any kind that came or, below 0, went; while the slot is busy. */
void held_change(enum held_kind kind, int device, int64_t bytes);

/* Some bytes cannot be remembered, and so are not counted. */
void held_is_crowded(void);

/* call_begin for the driver's functions. */
bool count_begin(void);
/* For a device: that of the current context. */
#define COUNT_CURRENT (-2)
/* A call that is watched for want of memory only; bytes 0: not known. */
void count_result(enum preload_call call, int device, uint64_t bytes,
		  cu_result result);
/* A refusal, with what is free just now. */
void count_refused(enum preload_call call, int device, uint64_t bytes,
		   bool by_cap);

/* A call that is passed on, and watched for refusals; counting: a statement
 * that may look at its result. */
#define COUNTED(elf, call, counting, parameters, arguments)                    \
	WRAPPER cu_result elf parameters                                       \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		cu_result result;                                              \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!count_begin())                                            \
			return real arguments;                                 \
		result = real arguments;                                       \
		counting;                                                      \
		count_result(call, COUNT_CURRENT, 0, result);                  \
		call_end();                                                    \
		return result;                                                 \
	}

/* Of what has an address or a handle. */
#define HELD_KEY(pointer) ((uint64_t)(uintptr_t)(pointer))

/* A wrapper of an allocation, as above; is_whole: the pointers are there. */
#define HELD_ALLOCATION(elf, call, is_whole, bytes, key, parameters,           \
			arguments)                                             \
	WRAPPER cu_result elf parameters                                       \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		cu_result result = CU_OUT_OF_MEMORY;                           \
		struct held_request request;                                   \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!(is_whole) || !request_begin(&request, call, bytes))      \
			return real arguments;                                 \
		if (request_is_allowed(&request))                              \
			result = real arguments;                               \
		return request_end(&request, result, result ? 0 : (key));      \
	}

/* And one of a free. */
#define HELD_RELEASE(elf, key, parameters, arguments)                          \
	WRAPPER cu_result elf parameters                                       \
	{                                                                      \
		fn_##elf *real = REAL(elf);                                    \
		struct release release;                                        \
                                                                               \
		if (!real)                                                     \
			return CU_NOT_FOUND;                                   \
		if (!release_begin(&release, key))                             \
			return real arguments;                                 \
		return release_end(&release, real arguments);                  \
	}

/* What is counted in no other way. */
#define WATCHED(elf, call, parameters, arguments)                              \
	COUNTED(elf, call, (void)0, parameters, arguments)

#endif
