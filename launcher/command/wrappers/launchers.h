/* Programs that start another program: which row is whose. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_LAUNCHERS_H
#define AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_LAUNCHERS_H

#include "configs/launchers/launcher.h"

#include <stdbool.h>

/* The row of a program by the last part of its path, or NULL. */
const struct launcher *launcher_find(const struct launchers *launchers,
				     const char *program);
/* The row of what python -m starts, or NULL; has it its subcommand? */
const struct launcher *launcher_find_module(const struct launchers *launchers,
					    const char *module, bool *is_whole);

/* The program needs no subcommand behind it. */
bool launcher_is_whole(const struct launcher *row, const char *program);
/* What of a sub-command is left behind this word of it ("model" of "run model"
 * behind "run"); NULL: it is another word. */
const char *launcher_subcommand_after(const char *left, const char *word);
/* "podman" of /usr/bin/podman, as the row has it. */
const char *launcher_name(const struct launcher *row, const char *program);

/*
 * The name of a launcher of ranks or tasks that is a word of shell text, in a
 * line that is no comment; NULL: there is none.
 */
const char *launchers_named_in(const struct launchers *launchers,
			       const char *text);

#endif
