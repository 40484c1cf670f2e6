/* What a script does with a number that may count the passes of a step. Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_COUNTS_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_COUNTS_H

#include <stddef.h>

/* A set of what is done with it. */
enum {
	COUNT_DIVIDES = 1 << 0, /* loss / n: of gradients that add up */
	COUNT_TIMES = 1 << 1,   /* batch_size * n */
	COUNT_LOOPS = 1 << 2,   /* for i in range(n) */
	/* torch.chunk(x, n), part(batch, i, n): pieces of one batch */
	COUNT_SPLITS = 1 << 3,
	COUNT_GUARDS = 1 << 4, /* if (i + 1) % n == 0: optimizer.step() */
};

/* Of the variable, as a name or as a part of args.name. */
unsigned source_count_uses(const char *text, const char *variable);

/*
 * The first name at or behind from that guards the step of an optimizer whose
 * backward passes it does not: so many of these make a step. NULL: none.
 */
const char *source_step_guard(const char *text, const char *from,
			      size_t *length);
/*
 * The same of one that bounds a loop, in which the next batch is fetched and
 * its backward pass made, and behind which the optimizer steps.
 */
const char *source_pass_loop(const char *text, const char *from,
			     size_t *length);

#endif
