/* Options that may be a knob, typed or known to the script. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_CANDIDATES_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_CANDIDATES_H

#include "launcher/command/parts/recognition.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/argument.h"

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

/* The option of the script that means this knob, or NULL. */
const struct source_option *knob_in_source(const struct recognition *r,
					   enum knob_kind kind, size_t *rank);

/*
 * Before the default of an option counts, which is not given: is there a word
 * that the script does not declare, one letter or two beside it? Then it is
 * asked for; a beginning of the name is none, for argparse takes it.
 */
enum command_outcome candidates_slip_check(const struct recognition *r,
					   const struct source_option *option);

/* "--batch-size 8", as typed or as the script has it. */
#define CANDIDATE_WORDS_MAX ((size_t)2 * BRIEF_MAX)
void candidate_words(char out[CANDIDATE_WORDS_MAX],
		     const struct candidate *candidate);
/* "--batch-size" */
const char *candidate_name(char out[BRIEF_MAX],
			   const struct candidate *candidate);

#endif
