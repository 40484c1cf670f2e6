/* What the steps of recognition share: the command so far, and its words for
 * failure. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_PARTS_RECOGNITION_H
#define AUTOFIT_LAUNCHER_COMMAND_PARTS_RECOGNITION_H

#include "base/error.h"
#include "configs/presets/preset.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/files/source.h"
#include "launcher/command/parts/command.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/command_hints.h"

#include <stdbool.h>
#include <stddef.h>

struct token;

/* What the parts of recognition share. */
struct recognition {
	struct command *command;
	const struct presets *presets;
	const struct command_hints *hints;
	struct named_files *texts;
	const struct source *source;     /* never NULL */
	const char *text;                /* of the script; NULL: none */
	const struct named_file *script; /* with that text; NULL: no file */
	char source_name[BRIEF_MAX]; /* "train.py", "the code of python -c" */
	bool is_open;                /* what Hydra puts together is not known */
	size_t subcommand;   /* the argument that names one; NO_INDEX: none */
	size_t config_index; /* the last argument that names a config file */
	struct error *err;
};

/* "train.py", or the module of it that declares the option */
const char *option_file(const struct recognition *r,
			const struct source_option *option);
/* A path in the words of the command as it is seen from here, for a shell
 * script may go to another folder first; the caller frees. NULL: which folder
 * that is cannot be told. */
char *path_seen(const struct recognition *r, const char *path);
/* The file of that path. NULL: none is known, or too many are read already. */
struct named_file *file_seen(const struct recognition *r, const char *path);
/* The words name a config file that is read. */
bool file_is_read(const struct recognition *r, const char *path);
/* The option of the script that the token names; NULL: it declares none of
 * that name, or the word is bare. */
const struct source_option *option_of_token(const struct recognition *r,
					    const struct token *token);
const struct preset_knob *preset_knob(const struct preset *preset,
				      enum knob_kind kind);
/* "batch size", "gradient accumulation", ... */
const char *knob_words(enum knob_kind kind);
/* Sets the message; returns COMMAND_NOT_RECOGNISED. */
enum command_outcome not_recognised(const struct recognition *recognition,
				    const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "write {micro} where ..., or name the option with --micro-flag NAME" */
const char *way_out(enum knob_kind kind);

/*
 * The command must not set a variable (length bytes of name) itself: what
 * autofit puts into the environment would not reach its program.
 */
enum command_outcome variable_check(const struct recognition *recognition,
				    const char *name, size_t length);

#endif
