/* Knobs that stand in a config file. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_IN_FILE_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_IN_FILE_H

#include "launcher/command/parts/recognition.h"
#include "launcher/command/text/command_outcome.h"

#include <stdbool.h>

/*
 * A knob that a config file sets over all options: sets it, and notes each
 * value in files that must follow a knob. DeepSpeed with transformers: an
 * option, or its default, must agree with the file, so both are written where
 * they do. Else the file alone is what counts.
 */
enum command_outcome knob_in_winning_file_find(struct recognition *r,
					       enum knob_kind kind);
bool knob_in_winning_file_is_set(const struct recognition *r,
				 enum knob_kind kind);
/* A knob that only a config file sets; leaves it absent when none does. */
enum command_outcome knob_in_file_find(struct recognition *r,
				       enum knob_kind kind);
/* Does a config file say it? */
bool knob_in_file_is_set(const struct recognition *r, enum knob_kind kind,
			 const struct command_file *file);
/*
 * The knob is this key of a config file, as the user says: "train.batch_size",
 * or its last part. Leaves it absent where no file has it.
 */
enum command_outcome knob_by_key_find(struct recognition *r,
				      enum knob_kind kind, const char *key);

/*
 * A micro-batch beside a larger batch, or a batch that its accumulation is part
 * of, among the keys of config files, in a program that no preset knows.
 */
enum command_outcome knob_pair_in_file_find(struct recognition *r);

#endif
