/* A training command: its launchers, its knobs, and how to rewrite it. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_COMMAND_H
#define AUTOFIT_LAUNCHER_COMMAND_COMMAND_H

#include "base/error.h"
#include "base/strlist.h"
#include "configs/presets/preset.h"
#include "configs/settings/settings.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/files/source.h"
#include "launcher/command/shell/shell_command.h"
#include "launcher/command/text/command_outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	KNOB_ENVIRONMENT, /* --env NAME={micro}, a variable of the script */
	KNOB_FILE,        /* a value in a config file: a copy is changed */
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
	bool joined_only;      /* DEFAULT: is added as --x=8 */
	enum preset_unit unit; /* what value counts */
	char *text;            /* OUTPUT: the value as written; else NULL */
	char *name;            /* "--batch-size", "-b", "batch_size" */
	char *evidence; /* "argument 3", "default of timm", "train.py:41" */
};

/* What the options say about the command; NULL and 0: not said. */
struct command_hints {
	const char *micro_flag, *accum_flag, *global_flag;
	const char *micro_scope; /* rank, node, global */
	const char *accum_scope; /* rank, total */
	const char *preset;
	const struct strlist *env_templates; /* NAME={micro}; may be NULL */
	const struct strlist *templates;     /* files of --template; or NULL */
	/* What the command would start with; NULL: nothing is known of it. */
	const struct strlist *environment;
	int64_t visible_devices; /* GPUs; 0: none, or not known */
	/* Shells are programs like others: nothing that they read is looked
	 * at. */
	bool shells_are_programs;
	bool looks_inside; /* see struct shell_call */
	/* The command itself runs as one of so many ranks; 0: alone. */
	int64_t ranks_around;
};

/*
 * Where a launcher takes the port at which its ranks meet: probes get one that
 * is free.
 */
struct launch_port {
	size_t index;       /* argument of the flat argv whose value it is, or
			       before which the option is inserted */
	size_t offset;      /* byte where the port begins in it */
	const char *option; /* inserted: "--master_port"; NULL: replaced */
};

#define LAUNCH_PORTS_MAX 4

/* Where the command leads, after its launchers. Indexes into the flat argv. */
struct command_view {
	/* Shell text taken apart; its argv is the flat one where it has any. */
	struct shell_expansion expansion;
	size_t program; /* python, torchrun's script, ./trainer */
	size_t script;  /* a file of source that can be read; NO_INDEX */
	size_t module;  /* the name after python -m; NO_INDEX */
	size_t code;    /* the text after python -c: a source; NO_INDEX */
	size_t args;    /* the first argument of the program itself */
	size_t end;     /* past the last one that may be a knob ("--") */
	/* Of them, the most in one piece that no preset reads as an option or
	 * a setting: the files that a shell made of a pattern. */
	size_t plain_start, plain_end;
	int64_t world;           /* data-parallel ranks by the launchers; 1 */
	int64_t visible_devices; /* as given, less what env hides */
	char *launcher;          /* "torchrun", NULL: none that starts ranks */
	/* How its ranks share the model, as --sharding of `autofit estimate`
	 * says it: "zero3", "fsdp"; NULL: not said. */
	const char *sharding;
	bool offloads_optimizer, offloads_weights; /* to the host */
	struct launch_port ports[LAUNCH_PORTS_MAX];
	size_t port_count;
	/* Its processes are no descendants of it: "srun", "docker"; NULL. */
	const char *outside;
	bool has_shell; /* with text or a script, understood or not */
	/* NAME=value of env and of shell text, before the program. */
	struct strlist assignments;
	/* Of the preset, once it is known: how its arguments are read. */
	const char *group; /* key=value words follow this option; NULL */
	bool pairs;        /* KEY VALUE words without dashes */
	/* Its drop list: "--x" alone is an option without a value. NULL. */
	const struct strlist *dropped;
};

/* A config file named in the command. */
struct command_file {
	/* Its path as named, and its text. */
	const struct named_file *read;
	const struct settings *settings; /* empty: not understood */
	size_t index; /* argument of the flat argv that names it */
	size_t offset;
	bool wins;        /* no option wins over it */
	bool is_template; /* of --template: placeholders in it */
};

/* One value in a file that follows a knob. */
struct command_site {
	enum knob_kind kind;
	size_t file;    /* of command.files */
	size_t setting; /* of its settings */
};

/* A setting that counts micro-steps: rescaled with the accumulation. */
struct command_scaled {
	const char *name;    /* of the preset */
	int64_t value;       /* with the command's own accumulation */
	enum knob_form form; /* SEPARATE, JOINED, DEFAULT */
	size_t index, offset;
};

/* What every split must obey, beside the effective batch. */
struct command_constraints {
	int64_t micro_multiple_of;     /* at least 1 */
	int64_t micro_free_below;      /* smaller ones need not be; 0: none */
	int64_t accum_multiple_of;     /* per rank; at least 1 */
	int64_t effective_multiple_of; /* at least 1 */
	int64_t micro_divides;         /* per rank; 0: nothing */
	bool one_accum;
	char *words; /* what makes them, for the report; NULL: none */
};

struct command {
	struct strlist given; /* as the user gave it */
	struct strlist argv;  /* flat: shell text taken apart */
	struct command_view view;
	/* Config files that the arguments name, in their order. */
	struct command_file *files;
	size_t file_count;
	/* One of them stands alone for all options: none is added. */
	bool takes_no_options;
	/* Values in them that are to change, of KNOB_FILE knobs and others. */
	struct command_site *sites;
	size_t site_count;
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
	int64_t sample_tokens;   /* tokens of one sample; 1 */
	struct command_scaled *scaled;
	size_t scaled_count;
	struct command_constraints constraints;
	/* Settings of the run's evaluation and saving that it does at all. */
	bool evaluates, saves;
	/* Said when the micro-batch becomes another one. */
	struct strlist caveats;
	char *model[MODEL_FIELDS]; /* as the command says them; NULL: not */
	struct source source;      /* what the text of python -c declares */
	char *assumption; /* "effective batch 128 = 8 x 16 x 1 (--batch-size
			     taken as per rank)" */
};

/*
 * Peel the launchers. texts: for config files of launchers and scripts of a
 * shell. The caller releases the view, whatever the outcome.
 */
enum command_outcome command_unwrap(struct command_view *view,
				    const struct strlist *argv,
				    const struct command_hints *hints,
				    struct named_files *texts,
				    struct error *err);
void command_view_release(struct command_view *view);

/* What a command is read by. */
struct command_sources {
	const struct presets *presets; /* must outlive the command */
	const struct command_hints *hints;
	struct named_files *texts; /* the script and the config files */
};

/*
 * Find preset and knobs. The script and the config files come through
 * sources->texts, which the command points into: they outlive it. The text of
 * python -c is found in argv. The caller releases the command whatever the
 * outcome.
 */
enum command_outcome command_recognise(struct command *command,
				       const struct strlist *argv,
				       const struct command_sources *sources,
				       struct error *err);
void command_release(struct command *command);

/* What a run is to use; per rank, in the sense of struct command. */
struct command_values {
	int64_t micro_batch; /* 0: as the command has it */
	int64_t grad_accum;  /* 0: as the command has it */
	int64_t steps;       /* raise the step limit to this; 0: leave it */
	const char *output;  /* fresh output folder of a probe; NULL: leave */
	/* A probe: trackers, evaluation and resume off as the preset says. */
	bool is_probe;
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

/* A copy of a config file that a run reads instead. */
struct file_copy {
	char *original; /* as named in the command */
	char *path;     /* of the copy, as named in the new argv */
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

/*
 * Reads the rewritten command as it would be read had the user typed it, with
 * its copies and its environment: -EINVAL, with why and the way out, where it
 * has not these values. sources are those that the command was read by.
 * Placeholders leave no trace, so where one says a size there is nothing to
 * read. Fills rewrite->followers.
 */
int command_read_back(const struct command *command,
		      const struct command_values *values,
		      struct rewrite *rewrite,
		      const struct command_sources *sources, struct error *err);

/* Does a text name an option that probes get and the command has not? */
bool command_names_addition(const struct command *command, const char *text);

/* "--batch-size 32 --grad-accum 4": the exact text to paste, shell-quoted. */
char *command_flags_text(const struct command *command,
			 const struct command_values *values);

/*
 * Appends the arguments that can change the memory of a step: argv without
 * knobs, step limit, output folder and the preset's neutral options; values
 * of placeholders are left out. Of each dropped option the value goes too.
 */
void command_record_arguments(const struct command *command,
			      struct strlist *out);

/* One argument quoted for a POSIX shell; the caller frees. */
char *shell_quote(const char *argument);
/* All of them with blanks between; the caller frees. */
char *shell_quote_all(const struct strlist *argv);

#endif
