/* What the files of the verdict share: its rules about memory. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_VERDICT_VERDICT_RULES_H
#define AUTOFIT_PROBES_VERDICT_VERDICT_RULES_H

#include "probes/verdict/verdict.h"

/* A rule answers VERDICT_NONE when it has nothing to say. */
typedef enum verdict verdict_rule(const struct evidence *evidence,
				  char why[WHY_MAX]);

/* The verdict, with its one line. */
enum verdict verdict_say(enum verdict verdict, char why[WHY_MAX],
			 const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* verdict_memory.c, in the order in which they are asked. */
verdict_rule verdict_stopped_over_limit;
verdict_rule verdict_out_of_memory_text;
verdict_rule verdict_kernel_kill;
verdict_rule verdict_refused_at_last;
verdict_rule verdict_over_limit;
verdict_rule verdict_caught_out_of_memory;

/* Some allocation was refused for good, whatever came after it. */
bool verdict_was_refused(const struct evidence *evidence);

/* By a SIGKILL that was not autofit's. */
bool verdict_command_was_killed(const struct evidence *evidence);

#endif
