/* Cards that are not there, as a probe or a command gets to see them. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_PHANTOM_H
#define AUTOFIT_PROBES_PHANTOM_PHANTOM_H

#include "base/error.h"
#include "base/strlist.h"
#include "configs/models/gpus.h"
#include "probes/phantom/device/sim_notes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A real program with its real framework runs on libraries of autofit's own,
 * in which memory is accounting and kernels do nothing (docs/phantom.md). They
 * are embedded and unpacked into a folder, beside the file in which all
 * processes of the command share the state of the cards.
 *
 * This process loads the driver and NVML of the folder as well: whoever asks
 * for the devices from then on, in it or in a child, is told of the phantom.
 */
int phantom_open(const char *folder, const struct gpu_model *card, int count,
		 struct error *err);

/*
 * Other cards in that folder from here on, as new ones: nothing was seen on
 * them yet. No process may be at work on those before.
 */
int phantom_change(const char *folder, const struct gpu_model *card, int count,
		   struct error *err);

/* Changes an environment so that its command sees the cards, and no others. */
void phantom_environment(const char *folder, struct strlist *environment);

#define PHANTOM_USAGES_MAX 256

/* What was seen so far. About 20 KiB: not for the stack. */
struct phantom_seen {
	struct sim_usage usages[PHANTOM_USAGES_MAX]; /* those with a pid */
	size_t usage_count;
	struct sim_note notes[SIM_NOTE_KINDS];
};

/*
 * Reads the state; what the command may have written there is hostile, so
 * texts are ended and counts bounded. -ENOENT: no process used the cards.
 */
int phantom_look(const char *folder, struct phantom_seen *seen,
		 struct error *err);

#endif
