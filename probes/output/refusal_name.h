/* The file that the report of a refused write names. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OUTPUT_REFUSAL_NAME_H
#define AUTOFIT_PROBES_OUTPUT_REFUSAL_NAME_H

#include "probes/output/span.h"

#include <stdbool.h>

/* The name behind "Permission denied" or the like; empty: none. */
struct span refusal_name_behind(struct span line, struct span rest);

/*
 * The name in what stands before it, name staying as it is when there is none.
 * False: what was refused is no write, or of no file.
 */
bool refusal_name_before(struct span line, struct span before,
			 struct span *name);

/* Is the part a call, "fopen", as perror() may name it? */
bool refusal_is_call(struct span part);

#endif
