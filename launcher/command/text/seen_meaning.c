/* What probes saw of a command's sizes, taken together. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/text/seen_meaning.h"

#include <string.h>

static void name_add(char name[SEEN_NAME_MAX], const char more[SEEN_NAME_MAX])
{
	if (more[0])
		memcpy(name, more, SEEN_NAME_MAX);
}

static void guess_add(enum seen_guess *guess, char name[SEEN_NAME_MAX],
		      enum seen_guess more)
{
	if (more != GUESS_OPEN)
		*guess = more;
	if (more == GUESS_FAILED)
		name[0] = '\0';
}

void seen_meaning_add(struct seen_meaning *seen,
		      const struct seen_meaning *more)
{
	/* All else was seen of a command that was read with it. */
	if (more->micro_guess == GUESS_FAILED) {
		*seen = *more;
		return;
	}
	if (more->micro_is_global || more->micro_is_rank) {
		seen->micro_is_global = more->micro_is_global;
		seen->micro_is_rank = more->micro_is_rank;
	}
	if (more->accum_is_total || more->accum_is_rank) {
		seen->accum_is_total = more->accum_is_total;
		seen->accum_is_rank = more->accum_is_rank;
	}
	if (more->ranks)
		seen->ranks = more->ranks;
	if (more->micro_default)
		seen->micro_default = more->micro_default;
	if (more->accum_default)
		seen->accum_default = more->accum_default;
	name_add(seen->micro_flag, more->micro_flag);
	name_add(seen->accum_flag, more->accum_flag);
	if (more->accum_guess == GUESS_FAILED && !seen->accum_flag[0])
		seen->global_flag[0] = '\0';
	name_add(seen->global_flag, more->global_flag);
	if (more->config_file[0])
		memcpy(seen->config_file, more->config_file, SEEN_PATH_MAX);
	guess_add(&seen->micro_guess, seen->micro_flag, more->micro_guess);
	guess_add(&seen->accum_guess, seen->accum_flag, more->accum_guess);
}
