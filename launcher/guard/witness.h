/* Tells a signal that was sent to the process group from one to autofit alone.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_GUARD_WITNESS_H
#define AUTOFIT_LAUNCHER_GUARD_WITNESS_H

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * The kernel does not say whether a signal was meant for a process or for its
 * group. A second process of autofit's group, to which nobody speaks alone,
 * knows: what it received too was sent to all, and so to the run as well. It
 * holds back every signal, keeps no file open but its end of a socket, and ends
 * when the other end is closed, as it is when autofit ends, however that comes.
 */
struct witness {
	int socket; /* -1: there is none */
	pid_t pid;
};

#define WITNESS_INIT                                                           \
	{                                                                      \
		.socket = -1                                                   \
	}

/*
 * Forks it. Signals are to be blocked then, as they stay in it. On failure, or
 * once it was killed, what the kernel says of the sender decides alone.
 */
int witness_start(struct witness *witness, struct error *err);

/*
 * Did the signal that autofit has just received go to its whole group? To be
 * asked once for each. Waits a moment for the kernel to come to the witness.
 */
bool witness_saw(struct witness *witness, const siginfo_t *info);

/* The witness ends; it is reaped. */
void witness_stop(struct witness *witness);

#endif
