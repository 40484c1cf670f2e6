/* Whose line it is: tracebacks of any number of ranks, told apart. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OUTPUT_FAILURE_SOURCE_H
#define AUTOFIT_PROBES_OUTPUT_FAILURE_SOURCE_H

#include "base/span.h"
#include "probes/output/failure.h"

/* A line without trailing blanks: is it of a traceback? Then it is kept. */
bool failure_source_line(struct failure *failure, struct span line);

/* The best there is, those that are not at their end among them; or NULL. */
const struct failure_trace *failure_source_best(const struct failure *failure);

#endif
