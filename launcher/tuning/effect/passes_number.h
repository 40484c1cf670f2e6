/* Which number of a command counts its micro-steps, by its value. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_EFFECT_PASSES_NUMBER_H
#define AUTOFIT_LAUNCHER_TUNING_EFFECT_PASSES_NUMBER_H

#include "launcher/command/parts/command.h"
#include "launcher/command/text/seen_meaning.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The command was read to have no accumulation, and its steps were seen to make
 * so many passes. An option that nobody uses yet, with this very value, whose
 * words speak of accumulation or batches: only one is an answer. Sets
 * seen->accum_flag.
 */
bool passes_option_find(const struct command *command, int64_t passes,
			struct seen_meaning *seen);

/*
 * Else the only number of that value among the options, the config files and,
 * where the batch size is a literal of the script, its other literals, whatever
 * its name: a guess, which the next probe with another value shows to be right
 * or wrong. Names of evaluation, logging, workers and their like are left out.
 * Nothing is guessed a second time.
 */
bool passes_number_find(const struct command *command, int64_t passes,
			struct seen_meaning *seen);

#endif
