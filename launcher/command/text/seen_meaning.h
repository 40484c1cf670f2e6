/* What probes saw of a command's sizes, where its words say something else. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_SEEN_MEANING_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_SEEN_MEANING_H

#include <stdbool.h>
#include <stdint.h>

#define SEEN_NAME_MAX 128
#define SEEN_PATH_MAX 512

/* A number of the command that is taken for a size by its value alone. */
enum seen_guess {
	GUESS_OPEN,
	GUESS_MADE,   /* it is read so, until a probe shows otherwise */
	GUESS_FAILED, /* with another value the run was the same */
	GUESSES,
};

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
	/* The option that says the rows of a pass, the one that counts
	 * micro-steps; "": none. Whether they were guessed. */
	char micro_flag[SEEN_NAME_MAX], accum_flag[SEEN_NAME_MAX];
	enum seen_guess micro_guess, accum_guess;
	/* An option that gives the whole batch of a step; "": none. Where
	 * accum_guess is made and no accum_flag, it is what was guessed. */
	char global_flag[SEEN_NAME_MAX];
	/* A config file that the program opened, and no word names: it says the
	 * batch size that was seen; "": none. */
	char config_file[SEEN_PATH_MAX];
};

/* Another probe saw more; a guess that failed takes back what was built on
 * it. */
void seen_meaning_add(struct seen_meaning *seen,
		      const struct seen_meaning *more);

#endif
