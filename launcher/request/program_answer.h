/* Another program asked a question: started, and its answer read. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_PROGRAM_ANSWER_H
#define AUTOFIT_LAUNCHER_REQUEST_PROGRAM_ANSWER_H

#include "base/error.h"
#include "base/strbuf.h"
#include "probes/process/process_state.h"

/*
 * Starts argv (found in PATH, NULL at its end) in directory, NULL being the
 * current one, and appends what it writes to stdout and stderr to out: at most
 * 16 MiB, for at most a minute; then it is killed. Its exit code, 128 and its
 * signal, or -errno where it cannot be started or took too long.
 */
int program_answer(const char *const argv[], const char *directory,
		   const struct process_state *state, struct strbuf *out,
		   struct error *err);

#endif
