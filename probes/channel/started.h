/* How the interpreter that trains was started, as the step hook tells. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_CHANNEL_STARTED_H
#define AUTOFIT_PROBES_CHANNEL_STARTED_H

#include "base/strlist.h"

/*
 * What stands behind launchers such as nice and uv run: the words that Python
 * was started with, its environment, and what else it has from who started it
 * (own_traits() of probes/python/autofit_hook; the hook alone reads them).
 */
struct started {
	struct strlist argv, environment, traits;
};

/*
 * Fills an empty one from the file folder/start.<pid>: how many traits and how
 * many words there are, these, and the environment, each ended by a NUL. It
 * stays empty where there is no such file, more than one, one of more than
 * STARTED_BYTES_MAX, or one that is not of this form.
 */
#define STARTED_BYTES_MAX (2U << 20)

void started_read(struct started *started, const char *folder);
void started_release(struct started *started);

#endif
