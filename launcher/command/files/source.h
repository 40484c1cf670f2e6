/* Options, variables and constants in the text of a Python script. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_H

#include "base/strlist.h"
#include "launcher/command/text/option_class.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Only this much of a script is read; enough for any parser of options. */
#define SOURCE_BYTES_MAX ((size_t)200 * 1024)
/* More options or constants than these are passed over. */
#define SOURCE_OPTIONS_MAX 1024
#define SOURCE_CONSTANTS_MAX 4096
#define SOURCE_VARIABLES_MAX 256

enum source_value {
	SOURCE_NONE,    /* not given, or None */
	SOURCE_INTEGER, /* 8, 5 * 8, "8" */
	SOURCE_WHOLE,   /* 8.0, for who asks for it */
	SOURCE_OTHER,   /* something else, or several that differ */
};

/*
 * One option: add_argument of argparse, option of click, DEFINE_integer of
 * absl; a field of a dataclass where a parser makes options of those (tyro,
 * HfArgumentParser, simple_parsing); a parameter of a function that is handed
 * to fire, tyro or typer.
 */
struct source_option {
	struct strlist names; /* as written, at least one */
	uint64_t name_bits;   /* two of each name, by its hash */
	char *dest;           /* NULL: not given */
	char *text;           /* the default, where it is a string; NULL */
	enum source_value kind;
	int64_t value;       /* the default */
	bool is_switch;      /* action= something that takes no value */
	bool takes_settings; /* many words, or each to an action of its own */
	bool leads; /* stands before its sub-command, or before words that take
		       all that follows */
	char *command; /* the sub-command that it is of; NULL: of all, or not
			  known */
	char *help;    /* its words for people; NULL: none */
	enum option_class class; /* by the words of its names */
	unsigned line;
	const char *path; /* of the module with that line; NULL: the script */
	size_t indent;    /* of that line, of add_argument */
};

/* name = 8, f(name=8), "name": 8. */
struct source_constant {
	char *name;
	char *help;  /* of field(default=8, metadata={"help": ...}); NULL */
	bool global; /* at the beginning of a line: a global of the script */
	bool field;  /* name: int = 8, indented: of a dataclass, most likely */
	enum source_value kind;
	int64_t value;
	unsigned line;
};

/* os.environ["BS"], os.environ.get("BS", 8), os.getenv("BS") or 8. */
struct source_variable {
	char *name;
	enum source_value kind; /* of its default */
	int64_t value;
	unsigned line;
};

struct source {
	struct source_option *options;
	size_t option_count, option_capacity;
	struct source_constant *constants;
	size_t constant_count, constant_capacity;
	struct source_variable *variables;
	size_t variable_count, variable_capacity;
	const char *text; /* that it was read of; NULL: none */
	/* Arguments that have a place and no dashes; each takes one word, but
	 * perhaps the last. */
	struct strlist positionals;
	bool positionals_are_open; /* what is behind them has no place */
	struct strlist commands;   /* sub-commands that it declares */
	bool places_matter; /* some word of it says where options stand */
	char *command;      /* the one that was asked for; options of others are
			       left out; NULL: none */
	/* By this it submits jobs ("sbatch"), in that line; NULL: not. */
	const char *submits_by;
	unsigned submits_line;
};

/*
 * Reads text (NULL: none). Comments and strings are no code. What is not
 * understood is passed over: nothing here can fail. The caller releases.
 */
void source_read(struct source *source, const char *text);
/* The same, for a command line that names this sub-command of it. */
void source_read_command(struct source *source, const char *text,
			 const char *command);
void source_release(struct source *source);
/* Drops the constants and variables before that line, which becomes the first
 * one. */
void source_begin_at(struct source *source, unsigned line);

/*
 * The option that a user who typed this means: the same name ("-" and "_" are
 * one), or the only one that begins so (argparse). NULL: none, or several.
 */
const struct source_option *source_resolve(const struct source *source,
					   const char *typed, size_t length);

/* The first global of that name ("-" and "_" are one), or NULL. */
const struct source_constant *source_global(const struct source *source,
					    const char *name);

#endif
