/* A knob: where a command says a size, and what it says. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_PARTS_KNOB_H
#define AUTOFIT_LAUNCHER_COMMAND_PARTS_KNOB_H

#include "configs/presets/preset.h"
#include "launcher/command/text/knob_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum knob_form {
	KNOB_ABSENT,      /* the command has no such knob */
	KNOB_SEPARATE,    /* --x 8, -b 8: value is its own argument */
	KNOB_JOINED,      /* --x=8, x=8, -b8: value ends the argument */
	KNOB_DEFAULT,     /* not given; the default is known, may be added */
	KNOB_PLACEHOLDER, /* {micro} and such, anywhere in the command */
	KNOB_ENVIRONMENT, /* --env NAME={micro}, a variable of the script */
	KNOB_FILE,        /* a value in a config file: a copy is changed */
	KNOB_SOURCE,      /* a literal of a script: a copy lies over it */
};

enum knob_scope {
	SCOPE_RANK,   /* micro: per rank; accum: per rank */
	SCOPE_NODE,   /* micro: per node, divided by its ranks */
	SCOPE_GLOBAL, /* micro: over all ranks */
	SCOPE_TOTAL,  /* accum: over all ranks */
};

struct named_file;

struct knob {
	enum knob_form form;
	enum knob_scope scope;
	size_t index;  /* argument that holds the value; DEFAULT: where the
			  new argument goes */
	size_t offset; /* JOINED: byte where the value begins in it */
	/* SOURCE: the script, whose bytes offset to end are the value; where
	 * it is a shell's, index is the argument that it makes of it. */
	const struct named_file *source;
	size_t end;
	bool is_computed; /* SOURCE: a shell makes it of other numbers */
	int64_t value; /* as written or default; 0: not known (placeholder) */
	bool joined_only; /* DEFAULT: is added as --x=8 */
	bool follows; /* DEFAULT: the program makes value of another knob, so
			 that it is said wherever something changes */
	bool is_said; /* DEFAULT: a config file or a shell script says value */
	int64_t as_read; /* DEFAULT: what was read for value, where a probe saw
			  value; 0: none did */
	enum preset_unit unit; /* what value counts */
	char *text;            /* OUTPUT: the value as written; else NULL */
	char *name;            /* "--batch-size", "-b", "batch_size" */
	char *evidence; /* "argument 3", "default of timm", "train.py:41" */
};

#endif
