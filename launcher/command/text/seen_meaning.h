/* What probes saw of a command's sizes, where its words say something else. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_SEEN_MEANING_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_SEEN_MEANING_H

#include <stdbool.h>
#include <stdint.h>

#define SEEN_NAME_MAX 128

/*
 * All zero: nothing. The command is read again with it, as if the user had
 * said so by --micro-scope and its like, which win over it.
 */
struct seen_meaning {
	bool micro_is_global;  /* --micro-scope global */
	bool micro_is_rank;    /* --micro-scope rank */
	bool accum_is_total;   /* --accum-scope total */
	bool accum_is_rank;    /* --accum-scope rank */
	int64_t ranks;         /* that nothing in the command tells of */
	int64_t micro_default; /* of options that are not given */
	int64_t accum_default;
	/* An option of the command that counts micro-steps; "": none. */
	char accum_flag[SEEN_NAME_MAX];
	/* That was guessed, by its value alone; or was, and is not to be. */
	bool accum_is_guessed, accum_guess_failed;
	/* An option that gives the whole batch of a step; "": none. */
	char global_flag[SEEN_NAME_MAX];
};

#endif
