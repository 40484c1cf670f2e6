/* The part of a module that is used by who imports it. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_MODULES_SOURCE_REACH_H
#define AUTOFIT_LAUNCHER_COMMAND_MODULES_SOURCE_REACH_H

#include "base/strbuf.h"
#include "launcher/command/modules/source_imports.h"

#include <stdbool.h>

/*
 * Appends those functions and classes of a module's text that its user reaches:
 * "from module import get_parser" and what get_parser names there, or
 * "module.get_parser". Each keeps its line: the others are empty. False, with
 * nothing added: none is reached.
 */
bool source_reach(struct strbuf *out, const char *module, const char *user,
		  const struct source_import *import);

#endif
