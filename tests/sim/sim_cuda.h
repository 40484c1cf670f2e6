/* What the files of the simulated libcuda.so.1 share. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_SIM_CUDA_H
#define AUTOFIT_TESTS_SIM_CUDA_H

#include "sim_state.h"

#define EXPORT __attribute__((visibility("default")))

enum result {
	OK = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	NO_DEVICE = 100,
	INVALID_DEVICE = 101,
	INVALID_CONTEXT = 201,
};

/* NOT_INITIALIZED before cuInit, and in a child of who called it. */
int sim_check(void);

/* The number, in the state, of the device of the current context. */
int sim_current_device(uint32_t *device);

#endif
