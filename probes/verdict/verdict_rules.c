/* What the rules of a verdict share: how one speaks, what several ask. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/verdict_rules.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

void __attribute__((format(printf, 3, 4)))
verdict_say(struct judgement *out, enum verdict verdict, const char *format,
	    ...)
{
	va_list args;

	assert(out->verdict == VERDICT_NONE);
	out->verdict = verdict;
	va_start(args, format);
	(void)vsnprintf(out->why, sizeof(out->why), format, args);
	va_end(args);
}

bool verdict_was_refused(const struct evidence_gpu *gpu)
{
	return gpu->allocations.end >= ALLOCATIONS_SURVIVED;
}

bool verdict_was_killed(const struct evidence *evidence)
{
	const struct evidence_end *end = &evidence->end;

	return end->foreign_kills > 0 || evidence->output.killed_line ||
	       (end->ended && WIFSIGNALED(end->wait_status) &&
		WTERMSIG(end->wait_status) == SIGKILL);
}

bool verdict_has_failed(const struct evidence_end *end)
{
	return end->ended && end->wait_status != 0;
}
