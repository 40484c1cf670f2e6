/* A program's arguments read as options and key=value. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_PARTS_TOKEN_H
#define AUTOFIT_LAUNCHER_COMMAND_PARTS_TOKEN_H

#include "base/strlist.h"
#include "launcher/command/parts/command.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * --x 8, --x=8, -b 8, -b8, -b=8, x=8 or (where the preset has such) X.Y 8
 * among the program's arguments.
 */
struct token {
	size_t index;     /* argument with the name */
	const char *name; /* in argv, with its dashes */
	size_t name_length;
	enum knob_form form; /* SEPARATE, JOINED; ABSENT: no value */
	size_t value_index;  /* argument with the value */
	size_t value_offset; /* where it begins there */
	bool bare;           /* x=8, X.Y 8 */
};

/* False: the argument is neither an option nor key=value. */
bool token_read(struct token *token, const struct strlist *argv,
		const struct command_view *view, size_t index);
/*
 * The first token from an argument of the program on, which index is then; for
 * (size_t i = view.args; token_next(&token, command, &i); i++)
 */
bool token_next(struct token *token, const struct command *command,
		size_t *index);
/* The value; "" without one. */
const char *token_value(const struct token *token, const struct strlist *argv);

/* The last argument with this name ("--x", "x.y" of key=value). */
bool token_find(const struct command *command, const char *name,
		struct token *found);
/* A knob has this argument already. */
bool knob_is_taken(const struct command *command, size_t index);

/* Names that say so themselves, in programs nobody knows. */
bool option_sounds_like_config(const char *option, size_t length);

/* A knob is this option already. */
bool option_is_knob(const struct command *command,
		    const struct source_option *option);

#endif
