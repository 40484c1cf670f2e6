/* Hooks of Python: files that tell of a program from its inside. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_CHANNEL_PYTHON_HOOK_H
#define AUTOFIT_PROBES_CHANNEL_PYTHON_HOOK_H

#include "base/error.h"

/* Of the files in probes/python: what runs first, and the package that it takes
 * from beside itself. */
struct python_hook {
	const char *start, *package;
};

/* Of a probe: steps, phases, rows, errors. */
extern const struct python_hook python_hook_steps;
/* Of a command on a phantom card: what it does with values of the card. */
extern const struct python_hook python_hook_phantom;

/*
 * Writes the hook into the folder, which is made if it is not there and holds
 * no hook yet: it is one of a probe, gone with it, so that nothing waits for
 * the disk. An interpreter with the folder first in PYTHONPATH runs it at its
 * start, as sitecustomize.
 */
int python_hook_write(const struct python_hook *hook, const char *folder,
		      struct error *err);

#endif
