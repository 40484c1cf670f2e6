/* How a framework takes its batch size: one INI file per framework. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_PRESETS_PRESET_H
#define AUTOFIT_CONFIGS_PRESETS_PRESET_H

#include "base/error.h"
#include "base/strlist.h"
#include "configs/files/ini_files.h"
#include "configs/files/ini_keys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a number of a knob counts. */
enum preset_unit {
	UNIT_PLAIN,       /* samples, micro-steps of an accumulation, optimizer
			     steps of a step limit, as the knob itself says */
	UNIT_TOKENS,      /* samples x split.sample_tokens */
	UNIT_GROUPS,      /* samples / split.group_samples */
	UNIT_MICRO_STEPS, /* of a step limit: forward/backward passes */
};

/*
 * One knob of a framework. Empty names and keys: it has no such knob. A name
 * with dashes is that option; one without is the last part of an option's name
 * (--train.batch_size), and of a key=value where bare is set; with a dot in
 * it, it is the whole of such a key. "-" and "_" are the same in names, and so
 * is case where they are longer than one letter.
 */
struct preset_knob {
	struct strlist names;  /* spellings, preferred first */
	struct strlist keys;   /* in a config file; see settings_find_all */
	char *scope;           /* "rank", "node", "global", "total"; NULL */
	int64_t default_value; /* 0: none, or not to be relied on */
	enum preset_unit unit;
	bool joined_only; /* only --x=8 is understood (nanoGPT) */
	bool bare;        /* x=8 without dashes */
	bool fraction;    /* 12.0 is 12 */
	/* global: accumulation is this divided and rounded, at least 1. */
	bool rounds;
};

/*
 * What a run does beside its steps. Of a setting "NAME VALUE" the option or
 * key=value NAME gets that value, in place or added; {half} in VALUE is half
 * the steps of a confirmation.
 */
struct preset_phase {
	struct strlist when; /* any condition: the run does it; none: always */
	struct strlist off;  /* settings of probes that leave it out */
	struct strlist forward; /* settings of probes that are to do it early */
};

/* What the estimator can learn from a command: see docs/presets.md. */
enum preset_model_field {
	MODEL_PATH,
	MODEL_BUILDER,
	MODEL_LAYERS,
	MODEL_HIDDEN,
	MODEL_HEADS,
	MODEL_KV_HEADS,
	MODEL_FFN,
	MODEL_VOCAB,
	MODEL_SEQUENCE,
	MODEL_PRECISION,
	MODEL_OPTIMIZER,
	MODEL_LORA_RANK,
	MODEL_CHECKPOINTING,
	MODEL_AUTOCAST,
	MODEL_FOUR_BIT,
	MODEL_EIGHT_BIT,
	MODEL_ATTENTION,
	MODEL_COMPLETION,
	MODEL_SHARDING,
	MODEL_OFFLOAD_OPTIMIZER,
	MODEL_OFFLOAD_WEIGHTS,
	MODEL_FIELDS,
};
/* "path", "layers", ... : the keys of [model]. */
const char *preset_model_field_name(enum preset_model_field field);

/* A command and what it becomes, as a test in the preset itself. */
struct preset_example {
	char *name;
	char *command;  /* split at blanks */
	char *expected; /* the same with the values below written in */
	char *source;   /* text of the script that tells; NULL: none */
	char *file;     /* path of a config file that the command names */
	char *text;     /* its lines; in expected: the copy's path is {copy} */
	char *changed;  /* lines of the copy that differ; NULL: none do */
	char *refused;  /* instead of expected: words of the message */
	int64_t micro_batch, grad_accum; /* values to write */
	int64_t effective_batch;         /* what is read from command */
};

/* By any of these a command is the framework's. */
struct preset_signs {
	/*
	 * Scripts and programs by name (path/name where it has a slash;
	 * globs), modules of python -m (globs), options, and texts in the
	 * script. " + " joins options or texts that must all be there.
	 */
	struct strlist scripts, modules, flags, sources;
	/* "tune run", "yolo * train": a program and its first words, globs. */
	struct strlist entries;
	/* "base_model + micro_batch_size": keys of a config file named. */
	struct strlist configs;
};

struct preset_knobs {
	struct preset_knob micro, accum, global, steps, output;
	/* Without the value of these the output folder is left alone. */
	struct strlist output_keep_with;
	struct strlist decoys; /* globs of names never taken for a knob */
};

/* How a probe differs from the run. */
struct preset_probe {
	struct strlist args; /* added, where they belong */
	struct strlist drop; /* "--x VALUE" with its value, "--x" a switch */
	struct strlist env;  /* NAME=value */
	struct strlist set;  /* settings */
	/* Settings that make each step as large as any will be. */
	struct strlist worst;
	struct preset_phase evaluation, saving;
	struct strlist not_exercised; /* "evaluation", "saving" */
};

/* Lines that the framework prints. */
struct preset_log {
	struct strlist step_patterns, step_ignore; /* see step_patterns_make */
	/* PCRE2 of lines that name sizes: groups micro, accum, effective. */
	struct strlist printed_sizes_patterns;
};

/* Config files, and what is read beside the arguments. */
struct preset_files {
	/*
	 * Arguments that may set knobs from a file: "--config" (an option),
	 * "*.py" (an argument that is no option's value).
	 */
	struct strlist config_tokens;
	/* The same, where no option is read beside the file or wins over it. */
	struct strlist config_only;
	/* Calls of a script that reads such a file, whatever its option. */
	struct strlist config_calls;
	bool later_config_wins;  /* else options win over the file */
	bool defaults_in_source; /* batch_size = 12 in the script is one */
	bool args_beside;        /* SCRIPT.args is read before the arguments */
};

/* The syntax of its arguments. */
struct preset_words {
	char *group; /* key=value words follow this option (--cfg-options) */
	char *sigil; /* stands before a key that is added ("++"); NULL */
	bool pairs;  /* KEY VALUE words without dashes (detectron2) */
	bool abbreviations;          /* argparse: --per_device_train 8 */
	struct strlist neutral_args; /* options whose value changes no memory */
	/* Settings by which a run goes on from its last checkpoint. */
	struct strlist resume;
};

struct preset_ranks {
	/* Without a launcher it runs on every visible device by itself. */
	bool uses_visible_devices;
	struct strlist device_flags; /* options that say on how many */
	struct strlist device_lists; /* options that list them: 0,1 */
	struct strlist node_flags;   /* and on how many nodes */
	/* "NAME DEFAULT": ranks that share one batch; their product divides. */
	struct strlist model_parallel;
};

/* How its batch may be split: "8", "NAME" or "NAME 8". */
struct preset_split {
	struct strlist sample_tokens; /* "NAME DEFAULT": tokens in a sample */
	struct strlist group_samples; /* "NAME DEFAULT": samples in a group */
	/* "NAME" or "NAME DEFAULT": settings that count micro-steps. */
	struct strlist micro_step_units;
	struct strlist micro_multiple_of;     /* micro-batch */
	struct strlist micro_multiple_from;   /* the same, from that size on */
	struct strlist micro_divides;         /* micro-batch x world */
	struct strlist effective_multiple_of; /* effective batch */
	struct strlist one_accum; /* conditions that forbid accumulation */
};

struct preset {
	char *name;        /* file name without .ini */
	char *description; /* one line for the report */
	char *extends;     /* name of the preset it is a copy of; NULL */
	char *text;        /* of its file, for those that extend it */
	/* Of the text, what was not needed so far; NULL: all was read. */
	const char *unread;
	char *path; /* its file; NULL: it is built in */
	struct preset_signs signs;
	struct preset_words words;
	struct preset_files files;
	struct preset_knobs knobs;
	struct preset_ranks ranks;
	struct preset_split split;
	struct preset_probe probe;
	struct preset_log log;
	struct strlist refuse;  /* "CONDITION : reason and way out" */
	struct strlist caveats; /* "CONDITION : text", or the text alone */
	struct strlist model[MODEL_FIELDS]; /* names of its options and keys */
	/* "OPTION WORDS": what to add for an option of the estimator that saves
	 * memory, by its name there ("checkpointing"). */
	struct strlist memory;
	bool memory_grows_with_accum;
	struct preset_example *examples; /* of a user's file only */
	size_t example_count;
};

/* A row without a name ends each. The second: of every [example NAME]. */
extern const struct ini_key preset_keys[];
extern const struct ini_key preset_example_keys[];

/* Where the built-in ones are, see configs/files/builtin.h. */
#define PRESETS_BUILTIN "configs/presets/"

/* The one of a command that no other knows. */
#define PRESET_GENERIC "generic"

/* "plain", "tokens", "micro_steps"; ends with NULL. */
extern const char *const preset_unit_names[];

struct presets {
	struct preset *items; /* by name; generic is last */
	size_t count, capacity;
};

/*
 * Built-in presets, then *.ini of folder (NULL: none): one of the same name
 * replaces the built-in one; "extends = NAME" makes it a copy of that one, to
 * whose lists it adds and whose single values it replaces. The decoys and
 * neutral arguments of generic hold for every preset. The caller releases,
 * whatever the result. Of a built-in preset only name, description and signs
 * are read, until presets_whole() asks for more.
 */
int presets_load(struct presets *presets, const char *folder,
		 struct error *err);
/* One more, from the text of its file. */
int presets_add(struct presets *presets, const struct ini_file *file,
		struct error *err);
/* This one of them, with all that its file says. */
const struct preset *presets_whole(const struct presets *presets,
				   const struct preset *preset);
void presets_read_all(const struct presets *presets);
const struct preset *presets_find(const struct presets *presets,
				  const char *name);
void presets_release(struct presets *presets);

#endif
