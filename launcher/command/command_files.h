/* The config files that the arguments of a program name. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_COMMAND_FILES_H
#define AUTOFIT_LAUNCHER_COMMAND_COMMAND_FILES_H

#include "launcher/command/parts/recognition.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads the config files that the arguments name: sets command->files. */
enum command_outcome files_find(struct recognition *r);
/*
 * Adds a config file that no argument names; NULL: it is none (or NULL itself),
 * it holds data, or they are too many. What is returned is good until the next
 * is added.
 */
struct command_file *file_add_unnamed(struct recognition *r,
				      struct named_file *read);
/* The preset is known: train.args beside train.py, where it reads that. */
enum command_outcome file_beside_find(struct recognition *r);
/* The preset is known: which of them count, and which win over options. */
void files_judge(const struct recognition *r);
/* The script parses a file instead of arguments, and this one has a batch size:
 * parser.parse_json_file(args.train_args). */
bool file_is_parsed_alone(const struct recognition *r,
			  const struct command_file *file);
/* The last argument that names a config file of the preset, or NO_INDEX. */
size_t config_find(const struct command *command);

#endif
