/* A process that puts files back when autofit is killed in a probe. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_KEEPER_GUARDIAN_H
#define AUTOFIT_PROBES_KEEPER_GUARDIAN_H

#include "base/error.h"
#include "base/strlist.h"
#include "probes/isolation/compare/kept_files.h"
#include "probes/isolation/compare/snapshot.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * Where folders are compared before and after a probe, autofit puts back what
 * the probe has changed. Killed by SIGKILL it cannot, and the keeper may be
 * killed as well. So a child that is forked before the first probe waits for
 * autofit's end: it has the kept bytes as autofit has them, in a file without
 * a name, and the locks of the devices, so that the next start waits for it.
 * When it finds that a probe was under way, it kills what is left of that
 * probe, by its mark, puts back and ends. What is changed when no probe runs
 * is the user's doing and stays.
 */
struct guardian {
	pid_t pid;                        /* 0: none */
	int end;                          /* of a pipe; closed by any end */
	struct guardian_probe *under_way; /* in memory that both see */
};

/* All of these are needed until guardian_end(). A probe's folders are those of
 * the snapshot. */
struct guardian_files {
	const struct kept_files *kept;
	const struct snapshot *before;
	const struct strlist *folders, *excluded;
};

int guardian_start(struct guardian *guardian,
		   const struct guardian_files *files, struct error *err);

/* The probe of this id begins; "": it is over, and what it changed is put
 * back. Does nothing without a guardian. */
void guardian_note(struct guardian *guardian, const char *probe_id);

/* It is not needed any more. */
void guardian_end(struct guardian *guardian);

#endif
