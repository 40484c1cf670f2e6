/* Becoming the real command. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_EXEC_COMMAND_H
#define AUTOFIT_LAUNCHER_REQUEST_EXEC_COMMAND_H

#include "base/strlist.h"
#include "probes/process/process_state.h"

/*
 * exec: same pid, terminal, group; signals and descriptors as they came in.
 * changes are NAME=value items, or a bare NAME to unset. Returns only when
 * that failed, with 126 or 127 after one line on stderr.
 */
int exec_command(const struct process_state *state, const struct strlist *argv,
		 const struct strlist *changes);

/* Where PATH leads for program: 0, or the errno exec would give. */
int exec_command_find(const char *program);
/* Of this very program, absolute; the caller frees it. */
char *exec_command_self(void);
/* The file itself, or NULL; the caller frees it. */
char *exec_command_where(const char *program);

#endif
