/* The user's environment, made into that of a probe. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_ENVIRONMENT_H
#define AUTOFIT_PROBES_ISOLATION_ENVIRONMENT_H

#include "base/strlist.h"

#include <stdint.h>

/* What a probe adds. Texts and the list are the caller's. */
struct probe_environment {
	const char *id; /* AUTOFIT_PROBE */
	int64_t micro_batch, grad_accum;
	const char *scratch; /* absolute; where trackers may write */
	const char *channel; /* AUTOFIT_CHANNEL; NULL: none */
	/* AUTOFIT_CHANNEL_FD: the same file, open in the command; -1: none,
	 * and 0 is a descriptor like any other. */
	int channel_fd;
	const char *hook; /* first in PYTHONPATH; NULL: no step hook */
	/* Absolute, first in LD_PRELOAD; NULL: none. One with a space or a
	 * colon in it cannot be said there, and is left out. */
	const char *preload;
	const char *shims; /* absolute, first in PATH; NULL: none */
	int port;          /* MASTER_PORT; 0: as the user has it */
	/* NAME=value of the user for probes, NAME alone unsets; may be NULL. */
	const struct strlist *probe_env;
};

/*
 * Append to out the items of user with their order kept, replaced in place
 * where the probe needs another value, and then what is new. Trackers are
 * off or write into scratch, output is unbuffered and plain, JAX and
 * TensorFlow take GPU memory as they need it; caches, TMPDIR and other
 * allocator settings stay the user's, and so does AUTOFIT_HOOK, the preload
 * library's switch. probe_env comes before what autofit itself depends on: a
 * PYTHONPATH or LD_PRELOAD given there follows the hook's. Of a name that
 * user holds twice the first counts, as it does for getenv.
 */
void probe_environment_make(struct strlist *out, const struct strlist *user,
			    const struct probe_environment *probe);

#endif
