/* The loop of a night: start jobs, wait, take what they found. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_LOOP_H
#define AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_LOOP_H

#include "launcher/nightly/night.h"

/*
 * Runs every job whose row says that it has not run, in the order of the list,
 * and writes the summaries as they end. --until and a signal stop it; then
 * run->now has no end. 0, or -errno: jobs cannot run there, or the results
 * cannot be written.
 */
int night_loop(struct night_run *run, struct error *err);

#endif
