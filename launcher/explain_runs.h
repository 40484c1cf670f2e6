/* The commands that a launch would run, as text to look at and to paste. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_EXPLAIN_RUNS_H
#define AUTOFIT_LAUNCHER_EXPLAIN_RUNS_H

#include "base/strbuf.h"
#include "launcher/explain_plan.h"

/*
 * Appends the first probe, where there is one, and the final command: each as
 * one line for a shell, with the lines in which copies of files differ below
 * it. With --verbose, what a probe's environment has beside. Secrets are
 * masked.
 */
void explain_runs_add(struct strbuf *out, const struct explained *explained);

#endif
