/* Parameters of functions that become options. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_SIGNATURE_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_SIGNATURE_H

#include "base/span.h"
#include "launcher/command/files/source.h"

/* Is this function handed to one of them? */
bool source_signature_is_handed(const char *text, const char *end,
				const char *name, size_t length);

/*
 * "data" of add_class_arguments(Data, "data"), add_argument("--data",
 * type=Data): the first string of the call, without dashes. call: behind its
 * bracket.
 */
struct span source_signature_key(const char *call, const char *end);

/*
 * def main(batch_size: int = 8) handed to fire, tyro or typer: each parameter
 * with a number is an option. Functions below @app.command, and methods of a
 * class that is handed to fire, are sub-commands. text ends at end.
 */
void source_signatures_read(struct source *source, const char *text,
			    const char *end);

#endif
