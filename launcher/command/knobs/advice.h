/* What to write where a batch size is not recognised. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_ADVICE_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_ADVICE_H

#include "launcher/command/knobs/candidates.h"
#include "launcher/command/parts/recognition.h"

/* Each way that settles it between two options, in the user's own words. */
enum command_outcome advise_between(const struct recognition *r,
				    enum knob_kind kind,
				    const struct candidate *a,
				    const struct candidate *b);
/* The same of one that may be meant, such as -b. */
enum command_outcome advise_if_meant(const struct recognition *r,
				     enum knob_kind kind,
				     const struct candidate *only);
/* No batch size is found: where it was looked for, and what comes near. */
enum command_outcome advise_not_found(const struct recognition *r);

#endif
