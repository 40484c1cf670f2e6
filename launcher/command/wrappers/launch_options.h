/* Reads the options of one launcher, up to the program it starts. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_LAUNCH_OPTIONS_H
#define AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_LAUNCH_OPTIONS_H

#include "launcher/command/wrappers/wrapper.h"

#include <stdbool.h>
#include <stddef.h>

struct launch_said {
	const char *value; /* NULL: not said; "" of a switch */
	const char *name;  /* option or variable */
	const char *why;
	size_t index, offset; /* of the value; NO_INDEX: a variable */
};

/* What the options of one launcher said. */
struct launch {
	const struct launcher *row;
	size_t first;   /* argument where its options begin */
	bool is_single; /* it starts one process, that meets no other */
	struct launch_said said[LAUNCH_WORDS];
};

/* Leaves wrapper->at on the first argument that is no option of the launcher.
 */
enum command_outcome launch_options_read(struct wrapper *wrapper,
					 struct launch *launch);
/* What variables say where options do not. */
void launch_variables_read(const struct wrapper *wrapper,
			   struct launch *launch);

/*
 * Takes what follows the name of the launcher, and its subcommand if is_whole.
 */
enum command_outcome wrapper_launcher(struct wrapper *wrapper,
				      const struct launcher *row,
				      bool is_whole);
/* The name of a module is at wrapper->at: it, or the launcher that it is. */
enum command_outcome wrapper_module(struct wrapper *wrapper);

#endif
