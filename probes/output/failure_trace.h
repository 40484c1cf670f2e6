/* Lines of one source: a traceback, and what is around it. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OUTPUT_FAILURE_TRACE_H
#define AUTOFIT_PROBES_OUTPUT_FAILURE_TRACE_H

#include "base/span.h"
#include "probes/output/failure.h"
#include "probes/output/failure_words.h"

/* index is that of a source. */
void failure_trace_open(struct failure *failure, size_t index,
			const struct failure_header *header);

/* A line without its prefix: is it of a traceback? Then it is kept. */
bool failure_trace_line(struct failure *failure, size_t index,
			struct span line);

#endif
