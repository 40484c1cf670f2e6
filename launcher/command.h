/* A training command: its launchers, its knobs, and how to rewrite it. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_H
#define AUTOFIT_LAUNCHER_COMMAND_H

#include "base/error.h"
#include "base/strlist.h"
#include "configs/preset.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_INDEX SIZE_MAX

enum knob_kind {
	KNOB_MICRO,  /* micro-batch */
	KNOB_ACCUM,  /* gradient accumulation */
	KNOB_GLOBAL, /* effective batch, where the framework derives the rest */
	KNOB_STEPS,  /* optimizer steps to run */
	KNOB_OUTPUT, /* output folder */
	KNOB_KINDS,
};

enum knob_form {
	KNOB_ABSENT,      /* the command has no such knob */
	KNOB_SEPARATE,    /* --x 8, -b 8: value is its own argument */
	KNOB_JOINED,      /* --x=8, x=8, -b8: value ends the argument */
	KNOB_DEFAULT,     /* not given; the default is known, may be added */
	KNOB_PLACEHOLDER, /* {micro} and such, anywhere in the command */
	KNOB_ENVIRONMENT, /* --env NAME={micro} */
};

enum knob_scope {
	SCOPE_RANK,   /* micro: per rank; accum: per rank */
	SCOPE_NODE,   /* micro: per node, divided by its ranks */
	SCOPE_GLOBAL, /* micro: over all ranks */
	SCOPE_TOTAL,  /* accum: over all ranks */
};

struct knob {
	enum knob_form form;
	enum knob_scope scope;
	size_t index;  /* argument that holds the value; DEFAULT: where the
			  new argument goes */
	size_t offset; /* JOINED: byte where the value begins in it */
	int64_t value; /* as written or default; 0: not known (placeholder) */
	bool joined_only; /* DEFAULT: is added as --x=8 */
	char *text;       /* OUTPUT: the value as written; else NULL */
	char *name;       /* "--batch-size", "-b", "batch_size" */
	char *evidence;   /* "argument 3", "default of timm", "train.py:41" */
};

/* What the options say about the command; NULL and 0: not said. */
struct command_hints {
	const char *micro_flag, *accum_flag, *global_flag;
	const char *micro_scope; /* rank, node, global */
	const char *accum_scope; /* rank, total */
	const char *preset;
	const struct strlist *env_templates; /* NAME={micro}; may be NULL */
	int64_t visible_devices;             /* GPUs; 0: none, or not known */
	/* The command itself runs as one of so many ranks; 0: alone. */
	int64_t ranks_around;
};

/* Where the command leads, after its launchers. Indexes into argv. */
struct command_view {
	size_t program; /* python, torchrun's script, ./trainer */
	size_t script;  /* a file of source that can be read; NO_INDEX */
	size_t module;  /* the name after python -m; NO_INDEX */
	size_t code;    /* the text after python -c: a source; NO_INDEX */
	size_t args;    /* the first argument of the program itself */
	size_t end;     /* past the last one that may be a knob ("--") */
	int64_t world;  /* data-parallel ranks by the launchers; 1 */
	int64_t visible_devices; /* as given, less what env hides */
	char *launcher;          /* "torchrun", NULL: none that starts ranks */
};

struct command {
	struct strlist argv; /* as the user gave it */
	struct command_view view;
	const struct preset *preset; /* never NULL once recognised */
	char *preset_evidence;
	/* The preset's other options are understood too, not only the knobs. */
	bool preset_is_certain;
	struct knob knobs[KNOB_KINDS];
	struct strlist env_templates;
	/* Derived, per rank: micro x accum x world == effective. */
	int64_t micro_batch;     /* 0: not known (placeholder) */
	int64_t grad_accum;      /* 1 without such a knob, or while not known */
	int64_t world_size;      /* view.world, or what the preset knows */
	int64_t effective_batch; /* 0: not known */
	char *assumption; /* "effective batch 128 = 8 x 16 x 1 (--batch-size
			     taken as per rank)" */
};

/* How recognition can end; the message is in err but for COMMAND_OK. */
enum command_outcome {
	COMMAND_OK,
	COMMAND_UNREADABLE,     /* exit 121: the script cannot be read */
	COMMAND_NOT_RECOGNISED, /* exit 122 */
	COMMAND_REFUSED,        /* exit 123: cannot be probed safely */
	COMMAND_USAGE,          /* exit 125: a wrong option, with the way out */
};

/* Peel the launchers. The caller releases the view, whatever the outcome. */
enum command_outcome command_unwrap(struct command_view *view,
				    const struct strlist *argv,
				    int64_t visible_devices, struct error *err);
void command_view_release(struct command_view *view);

/*
 * Find preset and knobs. source is the beginning of the script (view.script),
 * NULL when there is none: what the caller read, so that this stays pure. The
 * text of python -c is found in argv. presets must outlive the command. The
 * caller releases the command whatever the outcome.
 */
enum command_outcome command_recognise(struct command *command,
				       const struct strlist *argv,
				       const struct presets *presets,
				       const struct command_hints *hints,
				       const char *source, struct error *err);
void command_release(struct command *command);

/* What a run is to use; per rank, in the sense of struct command. */
struct command_values {
	int64_t micro_batch; /* 0: as the command has it */
	int64_t grad_accum;  /* 0: as the command has it */
	int64_t steps;       /* raise the step limit to this; 0: leave it */
	const char *output;  /* fresh output folder of a probe; NULL: leave */
	/* A probe: trackers, evaluation and resume off as the preset says. */
	bool is_probe;
};

/*
 * argv and environment changes (NAME=value; a value-less NAME: unset) of a
 * run. Bytes that belong to no knob are copied as they are. Appends to both.
 */
void command_rewrite(const struct command *command,
		     const struct command_values *values, struct strlist *argv,
		     struct strlist *environment);

/* "--batch-size 32 --grad-accum 4": the exact text to paste, shell-quoted. */
char *command_flags_text(const struct command *command,
			 const struct command_values *values);

/*
 * Appends the arguments that can change the memory of a step: argv without
 * knobs, step limit, output folder and the preset's neutral options; values
 * of placeholders are left out. Of each dropped option the value goes too.
 */
void command_identity(const struct command *command, struct strlist *out);

/* One argument quoted for a POSIX shell; the caller frees. */
char *shell_quote(const char *argument);
/* All of them with blanks between; the caller frees. */
char *shell_quote_all(const struct strlist *argv);

#endif
