/* What whole numbers, names and signs come to, as a shell computes it. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_ARITHMETIC_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_ARITHMETIC_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The digits that the name at the beginning of text stands for; NULL: they are
 * not known. Sets its width in text; 0: there is no name.
 */
typedef const char *arithmetic_name(void *context, const char *text,
				    size_t length, size_t *width);

/*
 * The inside of $(( )): ACCUM=$((GLOBAL / MICRO / GPUS)) is how many scripts
 * keep their effective batch. Read are whole numbers, names, + - * / % and
 * parentheses; divisions round towards 0. All else, 010 (an octal number) and
 * what does not fit, is not known: false.
 */
bool arithmetic_value(const char *text, size_t length, arithmetic_name *name,
		      void *context, int64_t *value);

/*
 * Adds "16 / $N" of "expr 16 / $N", whose numbers, variables and signs are
 * words of their own, \* one of them; false: it is something else.
 */
bool arithmetic_of_expr(const char *text, size_t length, struct strbuf *out);

#endif
