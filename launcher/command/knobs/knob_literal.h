/* Knobs that are literals of the script, or of a module of it. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_LITERAL_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_LITERAL_H

#include "launcher/command/parts/recognition.h"

/*
 * The one literal of the script that can be this knob. Leaves the knob absent
 * where there is none; an accumulation of 1 says nothing, but beside a batch
 * size that is a literal too. Beside one that was named of a module it is that
 * module's. all_of_other: there is none but of what trains nothing.
 */
enum command_outcome knob_literal_find(struct recognition *r,
				       enum knob_kind kind, bool *all_of_other);
/*
 * The same as the user names it: "BATCH_SIZE", or "train.py:7"; of the script,
 * else of the modules that it imports from its own folder.
 */
enum command_outcome knob_literal_by_name(struct recognition *r,
					  enum knob_kind kind,
					  const char *name);
/*
 * "config.py:2 BATCH_SIZE, add --micro-flag config.py:2": what the modules have
 * that may be it. The caller frees; NULL: nothing.
 */
char *knob_literals_of_modules(const struct recognition *r,
			       enum knob_kind kind);
/*
 * The knob's word is of a shell script that takes no arguments for it: whether
 * its digits stand in that as they are. Then they become the knob.
 */
bool knob_literal_of_shell(struct recognition *r, enum knob_kind kind);

#endif
