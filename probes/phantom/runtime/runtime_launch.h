/* Kernels of a phantom card: launched and over; some of them tell something. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_RUNTIME_RUNTIME_LAUNCH_H
#define AUTOFIT_PROBES_PHANTOM_RUNTIME_RUNTIME_LAUNCH_H

#include "probes/phantom/runtime/runtime.h"

/* The last kernel of this thread reduced by "and": it answers an all(). */
bool runtime_says_all(void);

/*
 * So many bytes were read back from the device: they were zeros. Few of them
 * may decide what the program does next.
 */
void runtime_note_read(size_t bytes);

#endif
