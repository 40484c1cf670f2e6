/* The user's environment, made into that of a probe. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ENVIRONMENT_H
#define AUTOFIT_PROBES_ENVIRONMENT_H

#include "base/strlist.h"

#include <stdint.h>

/* What a probe adds. Texts and the list are the caller's. */
struct probe_environment {
	const char *id; /* AUTOFIT_PROBE */
	int64_t micro_batch, grad_accum;
	const char *scratch; /* absolute; where trackers may write */
	const char *channel; /* AUTOFIT_CHANNEL; NULL: none */
	const char *hook;    /* first in PYTHONPATH; NULL: no step hook */
	int port;            /* MASTER_PORT; 0: as the user has it */
	/* NAME=value of the user for probes, NAME alone unsets; may be NULL. */
	const struct strlist *probe_env;
};

/*
 * Append to out the items of user with their order kept, replaced in place
 * where the probe needs another value, and then what is new. Trackers are
 * off or write into scratch, output is unbuffered and plain; caches, TMPDIR
 * and allocator settings stay the user's. probe_env comes before what autofit
 * itself depends on: a PYTHONPATH given there follows the hook. Of a name
 * that user holds twice the first counts, as it does for getenv.
 */
void probe_environment_make(struct strlist *out, const struct strlist *user,
			    const struct probe_environment *probe);

#endif
