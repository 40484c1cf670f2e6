/* What the files of a phantom card's CUDA runtime share. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_RUNTIME_RUNTIME_H
#define AUTOFIT_PROBES_PHANTOM_RUNTIME_RUNTIME_H

#include "probes/phantom/device/phantom_note.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/*
 * The runtime is thin: memory, streams, events and graphs are the driver's
 * (probes/phantom/driver), which a program's LD_PRELOAD may have hooked, so it
 * is reached by dlsym like any driver. Names, values and layouts are those of
 * the public headers of CUDA 12.8 and 13.0, written down once more; the build
 * says which of them a library is for.
 */
#ifndef PHANTOM_MAJOR
#	define PHANTOM_MAJOR 12
#endif

enum runtime_error {
	RUNTIME_OK = 0,
	RUNTIME_INVALID_VALUE = 1,
	RUNTIME_NO_DRIVER = 35,
	RUNTIME_INVALID_DEVICE = 101,
	RUNTIME_NOT_SUPPORTED = 801,
};

#define RUNTIME_DEVICES 16

/* The driver, started once per process: 0 or the error of every call. */
int runtime_start(void);
/* The same, and the primary context of this thread's device is current. */
int runtime_enter(void);
/* This thread's device. */
int runtime_device(void);
int runtime_choose(int device);
int runtime_count(void);

/* Remembers an error for cudaGetLastError; returns it. */
int runtime_answer(int result);

/*
 * The driver's function of that name, kept in the slot. One that this driver
 * has none of answers "not supported" whenever it is called.
 */
void *runtime_function(void **slot, const char *name);

/* NOLINTBEGIN(bugprone-macro-parentheses): parts of declarations */

/* A function of the driver, called without a context; 0 or the error. */
#define DRIVER_CALL(name, driver, parameters, arguments)                       \
	static int name parameters                                             \
	{                                                                      \
		static void *slot;                                             \
		int(*call) parameters;                                         \
		void *target = runtime_function(&slot, driver);                \
                                                                               \
		memcpy(&call, &target, sizeof(call));                          \
		return call arguments;                                         \
	}

/* A function of the runtime that is one of the driver. */
#define FORWARD(name, driver, parameters, arguments)                           \
	DRIVER_CALL(forward_##name, driver, parameters, arguments)             \
	EXPORT int name parameters                                             \
	{                                                                      \
		int result = runtime_enter();                                  \
                                                                               \
		return runtime_answer(result ? result                          \
					     : forward_##name arguments);      \
	}

/* NOLINTEND(bugprone-macro-parentheses) */

#endif
