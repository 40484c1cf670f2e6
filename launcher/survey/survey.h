/* `autofit estimate --phantom`: the largest split on many phantom cards. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_SURVEY_SURVEY_H
#define AUTOFIT_LAUNCHER_SURVEY_SURVEY_H

#include "launcher/options/options.h"
#include "probes/process/process_state.h"

/*
 * A table on stdout, with --json - the object of `autofit estimate` with the
 * rows in "phantom", with --json FILE both. Nothing is recorded. 0 whether or
 * not anything fits; else as a tuning of that command on a phantom ends.
 */
int survey_command(const struct options *options,
		   const struct process_state *state);

#endif
