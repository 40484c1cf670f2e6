/* `autofit --complete`: what a shell offers for the word at the cursor. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMPLETE_H
#define AUTOFIT_LAUNCHER_COMPLETE_H

#include "base/strlist.h"

/*
 * Prints the answer of launcher/options/options_complete.h for the words that
 * follow --complete. It is asked at each press of a key: what cannot be read
 * is left out without a word, and the exit code is always 0.
 */
int complete_command(const struct strlist *words,
		     const struct strlist *environment);

#endif
