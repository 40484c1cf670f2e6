/* One start of the real run as a child that behaves as if it were autofit. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_GUARD_GUARDED_RUN_H
#define AUTOFIT_LAUNCHER_GUARD_GUARDED_RUN_H

#include "base/error.h"
#include "base/strlist.h"
#include "launcher/guard/witness.h"
#include "probes/process/process_state.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The run stays in the process group of autofit, and so in its session and on
 * its terminal: nothing has to be handed over for it to be in the foreground,
 * and the keys of the terminal, and what a shell sends to its job, reach it as
 * they would without autofit. Autofit itself holds back all signals and acts on
 * three:
 *
 * - A signal that was sent to autofit alone goes on to the run. One that the
 *   whole group received is the run's already and does not: it has each once.
 * - The run stops (Ctrl-Z, or for the terminal in the background): autofit
 *   stops by the same signal, so that its parent sees a job that has stopped.
 *   What continues the group continues both, what continues autofit alone is
 *   handed on.
 * - The run ends.
 *
 * When autofit is killed by SIGKILL, so is the run (not what it has started):
 * that is the end of the process that others know, and by exec it were the
 * run's. SIGSTOP for autofit alone stops autofit alone.
 */
struct guarded_end {
	int status;         /* of wait */
	uint64_t max_bytes; /* the most that one of its processes held; 0 */
	/*
	 * Processes of its cgroup that the kernel killed for want of memory in
	 * the last minute or two; where a cgroup counts none, of the machine.
	 */
	uint64_t oom_kills;
	/* A signal that ends came for autofit or for all of its group. */
	bool was_told_to_end;
};

struct guarded_start {
	const struct process_state *state; /* as autofit came in */
	/* As exec_command takes them. */
	const struct strlist *argv, *changes;
	struct witness *witness;
};

/*
 * Starts the command and waits for its end. What cannot be executed ends with
 * 126 or 127 after one line. Signals are to be held by guarded_run_hold. -errno
 * when there is no process for it.
 */
int guarded_run(struct guarded_end *end, const struct guarded_start *start,
		struct error *err);

/* Holds back all signals that can wait; the last act of guarding ends it. */
void guarded_run_hold(void);

#endif
