/* The step hook: Python files that tell of a program from its inside. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_CHANNEL_PYTHON_HOOK_H
#define AUTOFIT_PROBES_CHANNEL_PYTHON_HOOK_H

#include "base/error.h"

/*
 * Writes the hook into the folder, which is made if it is not there and holds
 * no hook yet: it is one of a probe, gone with it, so that nothing waits for
 * the disk. An interpreter with the folder first in PYTHONPATH runs it at its
 * start (probes/python/sitecustomize.py, with the package autofit_hook beside
 * it).
 */
int python_hook_write(const char *folder, struct error *err);

#endif
