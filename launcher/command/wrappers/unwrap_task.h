/* A task of a project's file, where a program could stand. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_UNWRAP_TASK_H
#define AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_UNWRAP_TASK_H

#include "launcher/command/wrappers/wrapper.h"

/* Does one of the row's files say what the word at wrapper->at stands for? */
bool wrapper_is_task(const struct wrapper *wrapper, const struct launcher *row);
/* Such a word hides its command: it is taken with placeholders, or not at all.
 */
enum command_outcome wrapper_task(struct wrapper *wrapper,
				  const struct launcher *row);

#endif
