/* Whole numbers that a Python script itself gives a name to. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_LITERALS_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_LITERALS_H

#include "launcher/command/text/option_class.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* BATCH_SIZE = 32, bs: int = 32, DataLoader(x, batch_size=32), {"bs": 32};
 * Trainer(accumulate_grad_batches={0: 8, 4: 4}). */
struct source_literal {
	const char *name; /* in the text, as all that is pointed to here */
	size_t name_length;
	size_t start, end;       /* bytes of the value in the text */
	int64_t value;           /* 0: more than a plain whole number above 0 */
	enum option_class class; /* by the words of the name */
	unsigned line;
	bool is_parameter; /* the default of one: def f(batch_size=32) */
	const struct source_literals *place; /* for the length of the visit */
};

typedef void source_literal_visit(void *context,
				  const struct source_literal *literal);

/*
 * Visits those whose value begins with a digit, in their order, and arguments
 * that are an accumulation with a number in it, but for divisions. Comments and
 * strings are no code; what is not understood is passed over.
 */
void source_literals_visit(const char *text, source_literal_visit *visit,
			   void *context);

/* Within a visit: does what it stands in speak of an evaluation? */
bool source_literal_is_aside(const struct source_literal *literal);
/* Within a visit: is it an argument of a call that trains nothing, or the
 * default of a function with a decorator, which may set another? */
bool source_literal_is_of_other(const struct source_literal *literal);

#endif
