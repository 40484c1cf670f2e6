/* The numbers of a command that nobody knows the meaning of. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_COMMAND_NUMBERS_H
#define AUTOFIT_LAUNCHER_COMMAND_COMMAND_NUMBERS_H

#include "launcher/command/parts/recognition.h"

/* More of them are passed over. */
#define COMMAND_NUMBERS_MAX 4096

/*
 * Where the batch size or the accumulation has no name that is known, a probe
 * shows how large it is, and the number of that value may be it. Fills in
 * command->numbers with the arguments, lines of config files and defaults of
 * options that are no knob yet, and, where a size can only be a literal of the
 * script, with its literals. A command whose batch size is open and that has no
 * number that may be it is not recognised.
 */
enum command_outcome command_numbers_find(struct recognition *r);

/*
 * Not by its name: those of evaluation, logging, workers and their like are no
 * size of a batch, nor are those of lengths and widths. Where time comes before
 * the batch, a pass seems to take as many rows as a sample is long.
 */
bool command_number_may_be_size(const struct command_number *number);

void command_numbers_release(struct command *command);

#endif
