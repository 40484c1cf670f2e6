/* The rules of the verdict about memory, asked by verdict.c. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_VERDICT_VERDICT_MEMORY_H
#define AUTOFIT_PROBES_VERDICT_VERDICT_MEMORY_H

#include "probes/verdict/verdict.h"

/* A rule that has nothing to say leaves the judgement alone. */
typedef void verdict_rule(const struct evidence *evidence,
			  struct judgement *out);

/* Sets the verdict and writes its one line. */
void verdict_say(struct judgement *out, enum verdict verdict,
		 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* In the order in which they are asked. */
verdict_rule verdict_stopped_over_limit;
verdict_rule verdict_out_of_memory_text;
verdict_rule verdict_kernel_kill;
verdict_rule verdict_refused_at_last;
verdict_rule verdict_over_limit;
verdict_rule verdict_caught_out_of_memory;

/* Some allocation was refused for good, whatever came after it. */
bool verdict_was_refused(const struct evidence_gpu *gpu);

/* The command or one of its processes died by a SIGKILL that was not ours. */
bool verdict_command_was_killed(const struct evidence *evidence);

#endif
