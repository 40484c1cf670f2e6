/* What the files of the simulated libcuda.so.1 share. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_CUDA_H
#define AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_CUDA_H

#include "probes/phantom/device/sim_state.h"

#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

enum sim_result {
	OK = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	NO_DEVICE = 100,
	INVALID_DEVICE = 101,
	INVALID_CONTEXT = 201,
	INVALID_HANDLE = 400,
	NOT_FOUND = 500,
	CONTEXT_IS_DESTROYED = 709,
	HOST_MEMORY_ALREADY_REGISTERED = 712,
	HOST_MEMORY_NOT_REGISTERED = 713,
	LAUNCH_FAILED = 719,
	NOT_SUPPORTED = 801,
	STREAM_CAPTURE_UNSUPPORTED = 900,
	STREAM_CAPTURE_UNMATCHED = 903,
	UNKNOWN = 999,
};

/*
 * What cuGetProcAddress finds: every file ends in such a table, and that in a
 * row without a base. stream 2: what the per-thread default stream is asked
 * for.
 */
struct sim_export {
	const char *base;
	int version, stream;
	void (*function)(void);
};
#define SIM_ROW(elf, base, version) SIM_ROW_OF(elf, base, version, 0)
#define SIM_PER_THREAD(elf, base, version) SIM_ROW_OF(elf, base, version, 2)
#define SIM_ROW_OF(elf, base, version, stream)                                 \
	{                                                                      \
		base, version, stream, (void (*)(void))(elf)                   \
	}
#define SIM_SAME(elf, version) SIM_ROW(elf, #elf, version)
#define SIM_END                                                                \
	{                                                                      \
		NULL, 0, 0, NULL                                               \
	}

/* The function of a second name: name_ptsz and the like. */
#define SIM_TWIN(twin, name, parameters, arguments)                            \
	EXPORT int twin parameters                                             \
	{                                                                      \
		return name arguments;                                         \
	}

struct sim_context;

/* NOT_INITIALIZED before cuInit, and in a child of who called it. */
int sim_check(void);
/* The number, in the state, of an ordinal as this process sees it. */
int sim_device(int ordinal, uint32_t *device);
/* The same backwards; -1: not visible here. */
int sim_ordinal(uint32_t device);

/*
 * This process's tables belong to who entered; one leaves with the answer, so
 * that it can be returned at once. Entering may fail, and then is not undone.
 */
int sim_enter(void);
int sim_enter_context(struct sim_context **context); /* the current one */
int sim_leave(int result);

/* Takes bytes of the budget that all processes share, and gives them back. */
int sim_charge(uint32_t device, uint64_t bytes);
void sim_discharge(uint32_t device, uint64_t bytes);
uint64_t sim_round_up(uint64_t bytes, uint64_t unit); /* 0: too many */

/* SIM_NOTE_FUNCTION of sim_notes.h; it needs no cuInit. */
int autofit_phantom_note(int kind, const char *text, uint64_t number);

#endif
