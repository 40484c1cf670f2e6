/* An option of the command that is one of its script's but for a slip. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_SLIP_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_KNOB_SLIP_H

#include "launcher/command/files/source.h"
#include "launcher/command/parts/recognition.h"

/*
 * Before the default of an option counts, which is not given: is there a word
 * that the script does not declare, one letter or two beside it? Then it is
 * asked for; a beginning of the name is none, for argparse takes it.
 */
enum command_outcome knob_slip_check(const struct recognition *r,
				     const struct source_option *option);

#endif
