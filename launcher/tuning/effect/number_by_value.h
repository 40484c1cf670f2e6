/* Which number of a command is a size, by its value. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_EFFECT_NUMBER_BY_VALUE_H
#define AUTOFIT_LAUNCHER_TUNING_EFFECT_NUMBER_BY_VALUE_H

#include "base/strbuf.h"
#include "base/trial.h"
#include "launcher/command/parts/command.h"
#include "launcher/command/text/seen_meaning.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A size was seen that no argument is known to say. The only number of that
 * value may say it, whatever its name: a guess, which the next probe with
 * another value shows to be right or wrong. What was given goes before defaults
 * of options, and these before literals of the script. Nothing is guessed a
 * second time.
 *
 * Of the rows of a pass. Sets seen->micro_flag. Where the second dimension is
 * another number of the command, time may come before the batch: nothing says
 * which of both it is. Nor does anything where the name of another number
 * speaks of a batch, as --meta-batch does, and its own does not.
 * trial->input_rows may be 0.
 */
bool rows_number_find(const struct command *command, const struct trial *trial,
		      struct seen_meaning *seen);

/*
 * The same of rows that with the passes make the whole batch, which is known:
 * no second dimension does that by chance.
 */
bool part_number_find(const struct command *command, int64_t rows,
		      struct seen_meaning *seen);

/*
 * Of the passes of a step, where the command was read to have no accumulation.
 * An argument whose words speak of accumulation or batches needs no guess. Sets
 * seen->accum_flag.
 */
bool passes_number_find(const struct command *command, int64_t passes,
			struct seen_meaning *seen);

/*
 * The same of the rows of all passes, where no number is that of the passes.
 * Sets seen->global_flag; the guess is one of the accumulation.
 */
bool whole_number_find(const struct command *command, int64_t whole,
		       struct seen_meaning *seen);

/* "--a and --b" have that value; false: none. */
bool numbers_of_value_add(struct strbuf *out, const struct command *command,
			  int64_t value);

#endif
