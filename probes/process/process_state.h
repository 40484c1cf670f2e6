/* State that the process came in with, for the real command to get back. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PROCESS_PROCESS_STATE_H
#define AUTOFIT_PROBES_PROCESS_PROCESS_STATE_H

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>

#define PROCESS_SIGNALS 65

/*
 * Dispositions, mask, subreaper flag and which of the descriptors 0 to 2 were
 * closed. Limits, umask, folder, group and session are never changed by
 * autofit, so there is nothing to keep of them.
 */
struct process_state {
	bool ignored[PROCESS_SIGNALS]; /* came in as SIG_IGN */
	sigset_t mask;
	int subreaper;
};

/*
 * First thing in main. A closed descriptor 0, 1 or 2 is filled with /dev/null
 * that closes itself on exec: no file of autofit's can land there, and the
 * command finds it closed again. SIGPIPE and SIGXFSZ are
 * ignored from here on.
 */
int process_state_save(struct process_state *state, struct error *err);

/* Was this signal ignored when autofit was started (nohup)? */
bool process_state_ignores(const struct process_state *state, int number);

/* Is the address space limited, for autofit and so for its commands? */
bool process_has_address_limit(void);

/*
 * Put everything back, as the last thing before exec; async-signal-safe, so a
 * forked child may call it as well.
 */
void process_state_restore(const struct process_state *state);

#endif
