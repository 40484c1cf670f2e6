/* A command with other sizes in it. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_REWRITE_REWRITE_H
#define AUTOFIT_LAUNCHER_COMMAND_REWRITE_REWRITE_H

#include "base/error.h"
#include "base/strlist.h"
#include "configs/settings/settings.h"
#include "launcher/command/parts/command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a run is to use; per rank, in the sense of struct command. */
struct command_values {
	int64_t micro_batch; /* 0: as the command has it */
	int64_t grad_accum;  /* 0: as the command has it */
	int64_t steps;       /* raise the step limit to this; 0: leave it */
	const char *output;  /* fresh output folder of a probe; NULL: leave */
	/* A probe: trackers, evaluation and resume off as the preset says. */
	bool is_probe;
	/* What a script computes stays as it is written. */
	bool leaves_computed;
	/* A run that goes on from its last checkpoint, as the preset says. */
	bool resumes;
	/* A probe that may be the answer: evaluation and saving come early,
	 * at half of this many steps; 0: they are left out. */
	int64_t confirm_steps;
	int port; /* free, for launchers that meet at one; 0: leave it */
	/*
	 * Where copies of config files go that name no other file by where they
	 * lie; NULL: beside the original, as all others.
	 */
	const char *copies;
};

/* A copy of a config file or a script that a run reads instead. */
struct file_copy {
	char *original; /* as named in the command */
	char *path;     /* of the copy, as named in the new argv */
	/* The copy of a script: it is to lie over the original, which the argv
	 * names as before. */
	bool covers;
	char *text;
	size_t length;
	struct settings settings; /* what is in the text; empty: a template */
};

/* A command to start. */
struct rewrite {
	struct strlist argv;
	struct strlist environment; /* NAME=value; a value-less NAME: unset */
	struct file_copy *copies;   /* to be written before it starts */
	size_t copy_count;
	bool leaves_computed; /* as in its values */
	/* "--lr 4 becomes --lr 8 with micro-batch 8": what else a shell makes
	 * of the new values, without secrets, the first few of it. Known once
	 * the command has been read back. */
	struct strlist followers;
};

/*
 * The command with these values. Bytes that belong to no knob are copied as
 * they are. A copy is named .autofit-<hash of its text>-<name of the file>. A
 * value that a file cannot take (it would not read the same) is an error. The
 * caller releases the rewrite whatever the result.
 */
int command_rewrite(const struct command *command,
		    const struct command_values *values,
		    struct rewrite *rewrite, struct error *err);
void rewrite_release(struct rewrite *rewrite);

/* The text of the file that this is a copy of, as it was read. */
const char *copy_original(const struct command *command,
			  const struct file_copy *copy);

/*
 * Does the text of an error name an option that probes get and the command has
 * not? With its dashes, or, in its last line, without them.
 */
bool command_names_addition(const struct command *command, const char *text);
/* The same of the option for the folder of results, which was not given. */
bool command_names_output(const struct command *command, const char *text);

/* "--batch-size 32 --grad-accum 4": the exact text to paste, shell-quoted. */
char *command_flags_text(const struct command *command,
			 const struct command_values *values);
/* The first knob that is a literal of the script of this path, or NULL. */
const struct knob *command_source_find(const struct command *command,
				       const char *path);
/* Of all of a script but the bytes of its knobs. */
uint64_t command_source_hash(const struct command *command,
			     const struct named_file *source);
/* Appends "train.py:7: BATCH_SIZE = 32": the lines of scripts to be written. */
void command_source_lines(const struct command *command,
			  const struct command_values *values,
			  struct strlist *out);

#endif
