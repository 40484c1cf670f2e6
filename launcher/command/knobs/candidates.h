/* Options that may be a knob, typed or known to the script. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_CANDIDATES_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_CANDIDATES_H

#include "launcher/command/parts/command_internal.h"

/* Options that may be a knob; more than these are ambiguous anyway. */
#define CANDIDATES_MAX 16

struct candidate {
	struct token token; /* without a name: only the script has it */
	const struct source_option *option; /* of the script; NULL */
	size_t rank;                        /* among the preset's names */
	bool weak;                          /* -b alone: it may mean anything */
	char value[BRIEF_MAX];
};

struct candidates {
	struct candidate items[CANDIDATES_MAX];
	size_t count;
};

/* Each option once, as it is typed last. */
void candidates_collect(struct candidates *candidates,
			const struct recognition *r, enum knob_kind kind);

#endif
