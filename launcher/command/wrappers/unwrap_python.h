/* python, its options, and what -m, -c or a path then name. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_UNWRAP_PYTHON_H
#define AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_UNWRAP_PYTHON_H

#include "launcher/command/wrappers/wrapper.h"

/* Takes python, which is at wrapper->at. */
enum command_outcome wrapper_python(struct wrapper *wrapper);

#endif
