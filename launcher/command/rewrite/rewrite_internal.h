/* Helpers of the files that rewrite a command. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_REWRITE_REWRITE_INTERNAL_H
#define AUTOFIT_LAUNCHER_COMMAND_REWRITE_REWRITE_INTERNAL_H

#include "launcher/command/rewrite/rewrite.h"

/* What the knob is to say now, or NULL: as it does. The caller frees. */
char *knob_new_value(const struct command *command, enum knob_kind kind,
		     const struct command_values *values);
/* A number of micro-steps, with the accumulation of the values. */
int64_t scaled_written(const struct command *command,
		       const struct command_values *values, int64_t value);

/* An option or key that gets a value. */
struct set {
	char *name;
	char *value;
	size_t index;  /* argument that holds the value; NO_INDEX: added */
	size_t offset; /* byte where it begins there */
};

struct sets {
	struct set *items;
	size_t count;
};

/* What the values ask of a command beside its knobs. */
void sets_make(struct sets *sets, const struct command *command,
	       const struct command_values *values);
void sets_release(struct sets *sets);

/* The words of an option that is added, with the form of its framework. */
void words_of_option(const struct command *command, const char *name,
		     const char *value, bool joined, struct strlist *out);
/* The words that add a knob, none when it stays at its default. */
void words_of_knob(const struct command *command, enum knob_kind kind,
		   const struct command_values *values, struct strlist *out);

/* The copies of config files; one for each file that changes. */
int copies_make(const struct command *command,
		const struct command_values *values, struct rewrite *rewrite,
		struct error *err);
/* The copies of scripts whose literals change. */
void sources_make(const struct command *command,
		  const struct command_values *values, struct rewrite *rewrite);
/* Of a literal of a script: its line, from 1. */
size_t source_line_number(const struct knob *knob);
/* Where the copy of this file is; NULL: it has none. */
const char *copy_path(const struct rewrite *rewrite,
		      const struct command_file *file);

/* What is written for the knob: counted over ranks as its scope says. */
int64_t knob_written(const struct command *command, enum knob_kind kind,
		     const struct command_values *values);
/* A copy of text with its placeholders replaced; NULL: it has none. */
char *placeholders_replace(const struct command *command,
			   const struct command_values *values,
			   const char *text);

/* The argument with new values in it; the caller frees. */
char *argument_rewrite(const struct command *command,
		       const struct command_values *values, size_t index);

#endif
