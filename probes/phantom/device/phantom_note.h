/* What any library of a phantom card tells autofit. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_DEVICE_PHANTOM_NOTE_H
#define AUTOFIT_PROBES_PHANTOM_DEVICE_PHANTOM_NOTE_H

#include "probes/phantom/device/sim_notes.h"

/*
 * It loads the driver, and does not start it: a child of this process can still
 * do that.
 */
void phantom_note(enum sim_note_kind kind, const char *text, uint64_t number);

/* Ends the process with one sentence of both, which autofit is told as well. */
_Noreturn void phantom_end(const char *who, const char *what);

/* The same, about a function that a phantom card has not. */
_Noreturn int phantom_refuse(const char *name);

#endif
