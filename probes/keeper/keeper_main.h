/* The keeper's own side: what runs after the fork, until no process is left. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_KEEPER_KEEPER_MAIN_H
#define AUTOFIT_PROBES_KEEPER_KEEPER_MAIN_H

#include "probes/keeper/keeper.h"
#include "probes/keeper/spawn.h"

/* An order as it travels from autofit to its keeper. */
struct keeper_request {
	int32_t order; /* enum keeper_order */
	int32_t reserved;
	int64_t grace_ms;
};

/* Descriptors and identities that the keeper is born with. */
struct keeper_birth {
	int control;
	int out, err; /* write ends for the command */
	pid_t autofit;
	struct spawn_copy *copy; /* see spawn.h; NULL: exec */
};

/* Called in the forked process, with all signals blocked. Never returns. */
void keeper_main(const struct keeper_spec *spec,
		 const struct keeper_birth *birth) __attribute__((noreturn));

#endif
