/* Fields of dataclasses that become options. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_FIELDS_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_FIELDS_H

#include "launcher/command/files/source.h"

/*
 * Where a parser makes options of fields (tyro, HfArgumentParser, pyrallis),
 * each constant that is one becomes an option. A class that is the type of a
 * field of another one has that field's name before its own, with most of
 * these parsers: --data.batch_size. The text ends at end.
 */
void source_fields_read(struct source *source, const char *start,
			const char *end);

#endif
