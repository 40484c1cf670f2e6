/* The signals that end a tuning, held back while there is something to undo. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/end_signals.h"

#include <signal.h>

const int endings[ENDINGS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

void endings_hold(void)
{
	sigset_t held;

	(void)sigemptyset(&held);
	for (int i = 0; i < ENDINGS; i++)
		(void)sigaddset(&held, endings[i]);
	(void)sigprocmask(SIG_BLOCK, &held, NULL);
}

void endings_let(const struct process_state *state)
{
	(void)sigprocmask(SIG_SETMASK, &state->mask, NULL);
}

int endings_waiting(void)
{
	sigset_t waiting;

	(void)sigemptyset(&waiting);
	(void)sigpending(&waiting);
	for (int i = 0; i < ENDINGS; i++)
		if (sigismember(&waiting, endings[i]) == 1)
			return endings[i];
	return 0;
}
