/* How a framework takes its batch size: one INI file per framework. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_PRESET_H
#define AUTOFIT_CONFIGS_PRESET_H

#include "base/error.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One knob of a framework. Empty names: it has no such knob. */
struct preset_knob {
	struct strlist names;  /* spellings, preferred first */
	char *scope;           /* "rank", "node", "global", "total"; NULL */
	int64_t default_value; /* 0: none, or not to be relied on */
	bool joined_only;      /* only --x=8 is understood (nanoGPT) */
	bool bare;             /* x=8 without dashes */
};

/* A command and what it becomes, as a test in the preset itself. */
struct preset_example {
	char *command;  /* split at blanks */
	char *expected; /* the same with the values below written in */
	int64_t micro_batch, grad_accum; /* values to write */
	int64_t effective_batch;         /* what is read from command */
};

struct preset {
	char *name;        /* file name without .ini */
	char *description; /* one line for the report */
	/* Recognition, any of: basenames of scripts, modules, options. */
	struct strlist scripts, modules, flags, sources;
	struct preset_knob micro, accum, global, steps, output;
	struct strlist probe_args; /* added to probes, where they belong */
	struct strlist probe_drop; /* options dropped with their value */
	struct strlist probe_env;  /* NAME=value */
	struct strlist decoys;     /* option names never taken for a knob */
	/* The program must be told so; added with the knobs' rules. */
	struct strlist step_patterns, step_ignore;
	/* Options of "config file wins when it comes later" (nanoGPT). */
	bool config_file_after_flag_wins;
	bool memory_grows_with_accum;
	struct strlist neutral_args;  /* options that do not change memory */
	struct strlist not_exercised; /* "evaluation", "saving": by probes */
	struct preset_example *examples;
	size_t example_count;
};

struct presets {
	struct preset *items; /* generic is last */
	size_t count;
};

/*
 * Built-in presets, then *.ini of folder (NULL: none): one of the same name
 * replaces the built-in one. The caller releases.
 */
int presets_load(struct presets *presets, const char *folder,
		 struct error *err);
const struct preset *presets_find(const struct presets *presets,
				  const char *name);
void presets_release(struct presets *presets);

#endif
