/* What a real run under --guard shows of its end: was it want of memory? */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_GUARD_RUN_EVIDENCE_H
#define AUTOFIT_LAUNCHER_GUARD_RUN_EVIDENCE_H

#include "base/error.h"
#include "base/strlist.h"
#include "configs/records/record.h"
#include "configs/signatures/signature.h"
#include "launcher/guard/guarded_run.h"
#include "launcher/request/request.h"
#include "probes/verdict/verdict.h"

#include <stdint.h>

/*
 * The run keeps its terminal, pipes and files: nothing stands between it and
 * them, and what it prints is not read. Evidence comes from two places only:
 *
 * - The kernel's count of processes that it killed for want of memory, in the
 *   cgroup that the run shares with autofit. It counts together with an end by
 *   SIGKILL, or what says so: a shell's status 137, a launcher's last words.
 * - A folder of autofit's, first in PYTHONPATH, with the step hook. For a run
 * it does one thing: it writes the exception that ends a Python process into a
 *   file of that folder (AUTOFIT_LAST_ERRORS). It counts nothing, looks at
 *   nothing, and hands on to the user's own sitecustomize.
 *
 * The signatures and the rules of a probe's verdict judge both. Of a program
 * that is not Python only the kernel tells; where neither tells, the run failed
 * for another reason.
 */
struct run_evidence {
	char *folder, *hook;
	struct signatures *signatures;
};

/*
 * A run is about to start: makes its folder, and appends to changes what its
 * environment needs beside theirs. On failure there is nothing to release.
 */
int run_evidence_open(struct run_evidence *evidence,
		      const struct request *request, struct strlist *changes,
		      struct error *err);

/* "NAME=value": in the environment of all that the run starts. To be freed. */
char *run_evidence_mark(const struct request *request);

/* Of a run with the sizes of the record that has ended by failing. */
struct judgement run_evidence_judge(const struct run_evidence *evidence,
				    const struct guarded_end *end,
				    const struct record *record);

/* Removes the folder. */
void run_evidence_close(struct run_evidence *evidence);

#endif
