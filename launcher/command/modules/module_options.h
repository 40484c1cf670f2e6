/* Options that modules of the script declare. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_MODULES_MODULE_OPTIONS_H
#define AUTOFIT_LAUNCHER_COMMAND_MODULES_MODULE_OPTIONS_H

#include "launcher/command/parts/recognition.h"
#include "launcher/command/text/command_outcome.h"

/*
 * "parser = get_parser()", "TrainOptions().parse()", "add_data_args(parser)":
 * what those functions and classes declare, in the modules that they are
 * imported from, is read as if it stood in the script. Sets r->source.
 */
enum command_outcome module_options_find(struct recognition *r);

#endif
