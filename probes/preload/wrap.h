/* How a function of the driver API is wrapped: for the wrap_*.c files. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_WRAP_H
#define AUTOFIT_PROBES_PRELOAD_WRAP_H

#include "probes/preload/hook_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * hook_table.h is written by scripts/hook_table.py from the toolkit's
 * cudaTypedefs.h and the names in hooks.list, and checked in. It holds
 *
 *   enum hook            HOOK_<ELF name>, one per exported name, HOOK_COUNT
 *   HOOK_ROWS(ROW)       ROW(elf, base, version, stream) for each of them:
 *                        base name and lowest version by which
 *                        cuGetProcAddress finds it; stream 2 for _ptsz, _ptds
 *   fn_<ELF name>        its function type in neutral types: pointers to
 *                        structures are void *, enums unsigned int, handles
 *                        void *, CUdeviceptr cu_pointer, CUresult cu_result
 *
 * and needs nothing of the toolkit.
 *
 * A wrapper is a function of that type with its ELF name, visible to others:
 *
 *   WRAPPER cu_result cuMemFree_v2(cu_pointer pointer) { ... }
 *
 * Every name of the table must have one: real.c takes their addresses.
 */
#define WRAPPER __attribute__((visibility("default")))

/* The driver's own, or NULL when this driver has none of that name. */
#define REAL(elf) (__extension__(fn_##elf *) real_find(HOOK_##elf))

/* As the driver answers them. */
enum cu_code {
	CU_SUCCESS = 0,
	CU_INVALID_VALUE = 1,
	CU_OUT_OF_MEMORY = 2,
	CU_NOT_FOUND = 500,
};

/*
 * What was remembered from a lookup through dlsym or cuGetProcAddress; else
 * looked up now, in libcuda.so.1 where that is loaded (and loaded where it is
 * not: a program linked against it has it). Never one of our own wrappers.
 */
void *real_find(enum hook hook);

/* Any other name of the driver, looked up in the same way; NULL: none. */
void *real_symbol(const char *name);

/* The table of wrappers, for dlsym's and cuGetProcAddress' answers. */
void *real_wrapper(enum hook hook);
/* Remembers where the driver has it; the first answer stays. */
void real_note(enum hook hook, void *address);
/* The hook of that ELF name, or HOOK_COUNT. */
enum hook hook_of_name(const char *name);
/*
 * The hook that cuGetProcAddress(base, version, flags) means: of the rows of
 * that base, for flags 2 those of stream 2 if there are any, the one with the
 * highest version that is not above version; or HOOK_COUNT.
 */
enum hook hook_of_base(const char *base, int version, uint64_t flags);

/*
 * True when this call is the program's own and is to be counted: hooks are on,
 * the page is there, and the thread is in no other wrapper (the driver calls
 * itself). Every true is followed by call_end; both keep errno. false: pass it
 * on and do nothing else.
 */
bool call_begin(void);
void call_end(void);

/*
 * errno, arguments and the driver's answers pass through unchanged. A wrapper
 * may refuse with CU_OUT_OF_MEMORY by the cap, and may answer a query with the
 * cap's figures; it never answers in the driver's stead otherwise: without a
 * real function CU_NOT_FOUND.
 */

#endif
