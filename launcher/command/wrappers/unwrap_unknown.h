/* What a program that nobody knows may start. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_UNWRAP_UNKNOWN_H
#define AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_UNWRAP_UNKNOWN_H

#include "launcher/command/wrappers/wrapper.h"

/*
 * A program that neither a launcher's file nor a preset names is at
 * wrapper->at. Where python, a launcher of ranks with a script, or a script
 * that is there stands among its words, it starts that, on nobody knows how
 * many ranks: view->starter is set, and wrapper->at is left on it. False: it is
 * a program by itself.
 */
bool wrapper_starts_another(struct wrapper *wrapper);
/*
 * The same of a script or module that python is given: one that starts
 * processes and hands on its last words, or a module that is not in this
 * folder.
 */
bool wrapper_hands_on(struct wrapper *wrapper, bool is_module);

#endif
