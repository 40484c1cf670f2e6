/* The signals that end a tuning, held back while there is something to undo. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/end_signals.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>

const int end_signals[ENDINGS] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
				   SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU };

/* Those that are blocked here alone, as the mask is, one for the process. */
static sigset_t held;

void end_signals_hold(void)
{
	sigset_t all;
	sigset_t before;

	(void)sigemptyset(&all);
	for (int i = 0; i < ENDINGS; i++)
		(void)sigaddset(&all, end_signals[i]);
	(void)sigprocmask(SIG_BLOCK, &all, &before);
	for (int i = 0; i < ENDINGS; i++)
		if (sigismember(&before, end_signals[i]) == 0)
			(void)sigaddset(&held, end_signals[i]);
}

void end_signals_let(const struct process_state *state)
{
	(void)sigemptyset(&held);
	(void)sigprocmask(SIG_SETMASK, &state->mask, NULL);
}

/* The kernel keeps one that is held back even where it will be ignored. */
static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 &&
	       action.sa_handler == SIG_IGN;
}

int end_signals_waiting(void)
{
	sigset_t waiting;

	(void)sigemptyset(&waiting);
	(void)sigpending(&waiting);
	for (int i = 0; i < ENDINGS; i++)
		if (sigismember(&held, end_signals[i]) == 1 &&
		    sigismember(&waiting, end_signals[i]) == 1 &&
		    !is_ignored(end_signals[i]))
			return end_signals[i];
	return 0;
}

void end_signals_die(const struct process_state *state, int number)
{
	const struct rlimit no_core = { 0, 0 };
	sigset_t one;

	(void)fflush(NULL);
	(void)setrlimit(RLIMIT_CORE, &no_core);
	process_state_restore(state);
	(void)signal(number, SIG_DFL);
	(void)raise(number);
	/* The caller of autofit may have held it back. */
	(void)sigemptyset(&one);
	(void)sigaddset(&one, number);
	(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
}
