/* A training command as it was read. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_PARTS_COMMAND_H
#define AUTOFIT_LAUNCHER_COMMAND_PARTS_COMMAND_H

#include "base/batch.h"
#include "base/strlist.h"
#include "configs/presets/preset.h"
#include "configs/settings/settings.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/files/source.h"
#include "launcher/command/files/source_shares.h"
#include "launcher/command/parts/knob.h"
#include "launcher/command/text/command_hints.h"
#include "launcher/command/text/knob_kind.h"
#include "launcher/command/wrappers/unwrap.h"
#include "search/accumulation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A config file named in the command, or by its script. */
struct command_file {
	/* Its path as named, and its text. */
	const struct named_file *read;
	const struct settings *settings; /* empty: not understood */
	/* Argument of the flat argv that names it; NO_INDEX: none, and a copy
	 * is named by this option, which is added; without one it lies over it.
	 */
	size_t index;
	size_t offset;
	const char *option; /* of the script; NULL */
	/* KEY=VALUE words win over it: so its sizes are written. */
	bool takes_words;
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
	struct source_nominal nominal; /* the accumulation is derived; or 0 */
	char *words; /* what makes them, for the report; NULL: none */
};

/* A whole number of the command that is no knob, where it has a name. */
enum number_origin {
	NUMBER_GIVEN,   /* an argument, a line of a config file */
	NUMBER_DEFAULT, /* of an option that the script declares */
	NUMBER_LITERAL, /* of the script */
	NUMBER_ORIGINS,
};

struct command_number {
	const char *name; /* as --micro-flag and its like take it: in the words
			   * and files that were read, so without an end */
	size_t name_length;
	int64_t value;
	enum number_origin origin;
};

struct command {
	const struct strlist *given; /* as the user gave it: the caller's */
	struct command_view view;
	/* The script that was read, of the texts that it was read through;
	 * NULL: none. */
	struct named_file *script_file;
	/* Config files that the arguments name, in their order. */
	struct command_file *files;
	size_t file_count;
	struct settings *composed; /* of one of them, of several; NULL */
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
	/* With another micro-batch what its script computes keeps the effective
	 * batch by itself. */
	bool script_follows;
	/* By --micro-scope: passes of other rows do not contradict it. */
	bool micro_scope_is_said;
	enum seen_guess micro_guess, accum_guess;
	/*
	 * No argument is known to be the batch size: it is 1 until a probe
	 * of the command as it is shows the rows of a pass, and with them which
	 * of its numbers that is. These are the words of the refusal
	 * otherwise; NULL: an argument is known.
	 */
	char *open_words;
	/* What may turn out to be a size; see command_numbers.h. */
	struct command_number *numbers;
	size_t number_count, number_capacity;
	/* Without an option for it, the accumulation may be derived. */
	struct source_nominal nominal;
	struct strlist env_templates;
	/*
	 * Derived. micro_batch 0: not known (a placeholder); grad_accum 1: no
	 * such knob, or not known yet; world_size is view.world, or what the
	 * preset knows; effective_batch 0: not known.
	 */
	struct batch batch;
	/* Why it may train on more or fewer ranks than batch.world_size, each
	 * with these sizes; NULL: they are known. */
	char *open_ranks;
	int64_t sample_tokens; /* tokens of one sample; 1 */
	int64_t group_samples; /* samples of what a knob counts as one; 1 */
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

/* The flat argv that all indexes are of: shell text is taken apart in it. */
static inline const struct strlist *command_argv(const struct command *command)
{
	const struct strlist *flat = &command->view.expansion.argv;

	return flat->count ? flat : command->given;
}

/* Where options are added: a script must pass them on. */
static inline size_t command_append_at(const struct command *command)
{
	const struct shell_expansion *expansion = &command->view.expansion;

	return expansion->script ? expansion->append_at : command->view.end;
}

/* No size is known until a probe of the command as it is shows one. */
static inline bool command_rows_are_open(const struct command *command)
{
	return command->open_words != NULL;
}

/*
 * A size is a literal of a script: another one needs an edited copy.
 * keeps_batch: only splits of the command's own effective batch are wanted, as
 * a run has them.
 */
static inline bool command_edits_script(const struct command *command,
					bool keeps_batch)
{
	bool leaves_computed = keeps_batch && command->script_follows;

	for (int kind = 0; kind <= KNOB_GLOBAL; kind++)
		if (command->knobs[kind].form == KNOB_SOURCE &&
		    !(command->knobs[kind].is_computed && leaves_computed))
			return true;
	return false;
}

/* Of a rank's size, or of the batch of all. */
static inline int64_t
command_nominal_accum(const struct source_nominal *nominal, int64_t micro_batch,
		      int64_t world_size)
{
	int64_t ranks = nominal->is_total ? world_size : 1;
	int64_t step;

	if (__builtin_mul_overflow(micro_batch, ranks, &step))
		step = INT64_MAX;
	return accumulation_derived(nominal->batch, step, nominal->rounds);
}

/* Gradient accumulation can be said: by its own option, or by an effective
 * batch that the program divides. */
static inline bool command_accumulates(const struct command *command)
{
	return command->knobs[KNOB_ACCUM].form != KNOB_ABSENT ||
	       command->knobs[KNOB_GLOBAL].form != KNOB_ABSENT;
}

/* A smaller micro-batch is made up for: by an accumulation that can be said, or
 * by one that the script derives. */
static inline bool command_trades(const struct command *command)
{
	return command_accumulates(command) || command->nominal.batch;
}

#endif
