/* The signals that end a tuning, held back while there is something to undo. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_END_SIGNALS_H
#define AUTOFIT_LAUNCHER_REQUEST_END_SIGNALS_H

#include "probes/process/process_state.h"

/* The first mean an end, whoever sends them. The others are what schedulers
 * warn with: they end a process that has made nothing of them. */
#define PLAIN_ENDINGS 4
#define ENDINGS 8
extern const int end_signals[ENDINGS];

/* Block the terminating signals: they wait from here on. */
void end_signals_hold(void);
/* The mask that autofit came in with: what waited comes now. */
void end_signals_let(const struct process_state *state);
/* One that is held back, waits and is not ignored, as under nohup; 0: none.
 * What the caller of autofit had blocked waits for the command. */
int end_signals_waiting(void);
/*
 * Ends this process by the signal, without a core file, as one that has done
 * nothing about it. Returns where that is no end: SIGCONT, say.
 */
void end_signals_die(const struct process_state *state, int number);

#endif
