/* Arguments as a POSIX shell reads them back, byte for byte. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_SHELLQUOTE_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_SHELLQUOTE_H

#include "base/strlist.h"

/* One argument quoted for a POSIX shell; the caller frees. */
char *shell_quote(const char *argument);
/* All of them with blanks between; the caller frees. */
char *shell_quote_all(const struct strlist *argv);

#endif
