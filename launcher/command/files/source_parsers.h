/* Parsers that make options of the fields of classes. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_PARSERS_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_PARSERS_H

#include <stdbool.h>

/* Does such a parser stand in the text? By its name, or as one that is handed
 * a class. */
bool source_parsers_take_fields(const char *text);

/* Is an option called --data.batch_size there, rather than --batch_size? */
bool source_parsers_nest(const char *text);

#endif
