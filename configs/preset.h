/* How a framework takes its batch size: one INI file per framework. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_PRESET_H
#define AUTOFIT_CONFIGS_PRESET_H

#include "base/error.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One knob of a framework. Empty names: it has no such knob. A name with
 * dashes is that option; one without is the last part of an option's name
 * (--train.batch_size), and of a key=value where bare is set. "-" and "_" are
 * the same in names, and so is case where they are longer than one letter.
 */
struct preset_knob {
	struct strlist names;  /* spellings, preferred first */
	char *scope;           /* "rank", "node", "global", "total"; NULL */
	int64_t default_value; /* 0: none, or not to be relied on */
	bool joined_only;      /* only --x=8 is understood (nanoGPT) */
	bool bare;             /* x=8 without dashes */
};

/* A command and what it becomes, as a test in the preset itself. */
struct preset_example {
	char *name;
	char *command;  /* split at blanks */
	char *expected; /* the same with the values below written in */
	char *source;   /* text of the script that tells; NULL: none */
	int64_t micro_batch, grad_accum; /* values to write */
	int64_t effective_batch;         /* what is read from command */
};

struct preset {
	char *name;        /* file name without .ini */
	char *description; /* one line for the report */
	/*
	 * Recognition, any of: scripts and programs by name (path/name where
	 * it has a slash; globs), modules of python -m (globs), options, and
	 * texts in the script. " + " joins options or texts that must all be
	 * there.
	 */
	struct strlist scripts, modules, flags, sources;
	struct preset_knob micro, accum, global, steps, output;
	/* Without the value of these the output folder is left alone. */
	struct strlist output_keep_with;
	struct strlist probe_args; /* added to probes, where they belong */
	/* Dropped in probes: "--x VALUE" with its value, "--x" a switch. */
	struct strlist probe_drop;
	struct strlist probe_env; /* NAME=value */
	struct strlist decoys;    /* globs of names never taken for a knob */
	/* See step_patterns_make. */
	struct strlist step_patterns, step_ignore;
	/*
	 * Arguments that may set knobs from a file: "--config" (an option),
	 * "*.py" (an argument that is no option's value).
	 */
	struct strlist config_tokens;
	bool later_config_wins;  /* else options win over the file */
	bool abbreviations;      /* argparse: --per_device_train 8 */
	bool defaults_in_source; /* batch_size = 12 in the script is one */
	/* Without a launcher it runs on every visible device by itself. */
	bool uses_visible_devices;
	struct strlist device_flags; /* options that say on how many */
	struct strlist node_flags;   /* and on how many nodes */
	bool memory_grows_with_accum;
	struct strlist neutral_args; /* options whose value changes no memory */
	struct strlist not_exercised; /* "evaluation", "saving": by probes */
	struct preset_example *examples;
	size_t example_count;
};

struct presets {
	struct preset *items; /* by name; generic is last */
	size_t count;
};

/*
 * Built-in presets, then *.ini of folder (NULL: none): one of the same name
 * replaces the built-in one. The decoys and neutral arguments of generic hold
 * for every preset. The caller releases, whatever the result.
 */
int presets_load(struct presets *presets, const char *folder,
		 struct error *err);
/* One more from INI text; name: for messages, ".../<preset>.ini". */
int presets_add(struct presets *presets, const char *name, const char *text,
		size_t length, struct error *err);
const struct preset *presets_find(const struct presets *presets,
				  const char *name);
void presets_release(struct presets *presets);

#endif
