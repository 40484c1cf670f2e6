/* What the rules of a verdict share: how one speaks, what several ask. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_VERDICT_VERDICT_RULES_H
#define AUTOFIT_PROBES_VERDICT_VERDICT_RULES_H

#include "probes/verdict/verdict.h"

#include <stdbool.h>

/* Sets the verdict, which nobody has set yet, and writes its one line. */
void __attribute__((format(printf, 3, 4)))
verdict_say(struct judgement *out, enum verdict verdict, const char *format,
	    ...);

/* Some allocation was refused for good, whatever came after it. */
bool verdict_was_refused(const struct evidence_gpu *gpu);

/* The command or one of its processes died by a SIGKILL that was not ours. */
bool verdict_was_killed(const struct evidence *evidence);

/* It ended by itself, by an error or a signal. */
bool verdict_has_failed(const struct evidence_end *end);

#endif
