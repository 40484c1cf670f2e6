/* The signals that end a tuning, held back while there is something to undo. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/end_signals.h"

#include <signal.h>

const int end_signals[ENDINGS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

void end_signals_hold(void)
{
	sigset_t held;

	(void)sigemptyset(&held);
	for (int i = 0; i < ENDINGS; i++)
		(void)sigaddset(&held, end_signals[i]);
	(void)sigprocmask(SIG_BLOCK, &held, NULL);
}

void end_signals_let(const struct process_state *state)
{
	(void)sigprocmask(SIG_SETMASK, &state->mask, NULL);
}

int end_signals_waiting(void)
{
	sigset_t waiting;

	(void)sigemptyset(&waiting);
	(void)sigpending(&waiting);
	for (int i = 0; i < ENDINGS; i++)
		if (sigismember(&waiting, end_signals[i]) == 1)
			return end_signals[i];
	return 0;
}
