/* What the files that read and rewrite a command share. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_PARTS_COMMAND_INTERNAL_H
#define AUTOFIT_LAUNCHER_COMMAND_PARTS_COMMAND_INTERNAL_H

#include "launcher/command/command.h"
#include "launcher/command/files/source.h"

/* One line of at most this many bytes of an argument, for a message. */
#define BRIEF_MAX 72
const char *argument_brief(char text[BRIEF_MAX], const char *argument);

/* Digits only, at least 1: what a batch size is written as. */
bool count_parse(const char *text, int64_t *value);

/* 12.0 as 12; no other fraction. */
bool fraction_parse(const char *text, int64_t *value);

/*
 * --x 8, --x=8, -b 8, -b8, -b=8, x=8 or (where the preset has such) X.Y 8
 * among the program's arguments.
 */
struct token {
	size_t index;     /* argument with the name */
	const char *name; /* in argv, with its dashes */
	size_t name_length;
	enum knob_form form; /* SEPARATE, JOINED; ABSENT: no value */
	size_t value_index;  /* argument with the value */
	size_t value_offset; /* where it begins there */
	bool bare;           /* x=8, X.Y 8 */
};

/* False: the argument is neither an option nor key=value. */
bool token_read(struct token *token, const struct strlist *argv,
		const struct command_view *view, size_t index);
/* The value; "" without one. */
/*
 * The first token from an argument of the program on, which index is then; for
 * (size_t i = view.args; token_next(&token, command, &i); i++)
 */
bool token_next(struct token *token, const struct command *command,
		size_t *index);
/* Whatever the view, token_read will say false. */
bool token_is_plain(const char *argument);
const char *token_value(const struct token *token, const struct strlist *argv);

/* Byte for byte, but "-" and "_" are one. */
bool name_equal(const char *a, size_t a_length, const char *b, size_t b_length);
/* Are these its first bytes? */
bool name_starts(const char *name, const char *start, size_t length);

/* Names up to this length take part; longer ones are no knobs. */
#define NAME_MAX_BYTES 160
/* "--Batch-Size" as "batch_size"; false when it is too long. */
bool name_normalise(char out[NAME_MAX_BYTES], const char *name, size_t length);
/*
 * Does a name of a preset (see struct preset_knob) say what was typed? bare:
 * typed as key=value.
 */
bool name_matches(const char *entry, const char *typed, size_t length,
		  bool bare);
/* Place of the first name that matches in the list, or its count. */
size_t names_find(const struct strlist *names, const char *typed, size_t length,
		  bool bare);
/* A name that must never be taken for a knob. */
bool name_is_decoy(const struct strlist *decoys, const char *typed,
		   size_t length);

/* What the parts of recognition share. */
struct recognition {
	struct command *command;
	const struct command_hints *hints;
	struct named_files *texts;
	const struct source *source; /* never NULL */
	const char *text;            /* of the script; NULL: none */
	char source_name[BRIEF_MAX]; /* "train.py", "the code of python -c" */
	size_t config_index; /* the last argument that names a config file */
	struct error *err;
};

const struct preset_knob *preset_knob(const struct preset *preset,
				      enum knob_kind kind);
/* "batch size", "gradient accumulation", ... */
const char *knob_words(enum knob_kind kind);
/* The script lets Hydra put its configuration together. */
bool uses_hydra(const struct recognition *r);

/* Sets the message; returns COMMAND_NOT_RECOGNISED. */
enum command_outcome not_recognised(const struct recognition *recognition,
				    const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "write {micro} where ..., or name the option with --micro-flag NAME" */
const char *way_out(enum knob_kind kind);

/* Which preset speaks for the command; sets preset and its evidence. */
enum command_outcome framework_find(struct recognition *recognition,
				    const struct presets *presets);

/* Reads the config files that the arguments name: sets command->files. */
enum command_outcome files_find(struct recognition *r,
				const struct presets *presets);
/* The preset is known: train.args beside train.py, where it reads that. */
enum command_outcome file_beside_find(struct recognition *r);
/* The preset is known: which of them count, and which win over options. */
void files_judge(struct command *command);
/* Config files that name one of DeepSpeed's, where sizes must not stand. */
enum command_outcome deepspeed_check(struct recognition *r);
/* What is wrong with sizes in such a file, and the way out; NULL: nothing. The
 * caller frees. */
char *deepspeed_fault(const struct settings *settings, const char *path);
/* The last argument that names a config file of the preset, or NO_INDEX. */
size_t config_find(const struct command *command);
/* May a config file set more than is known of it? */
bool config_is_open(const struct recognition *r);

/* Equal keys of one file beyond so many are not told apart. */
#define SETTINGS_SAME_MAX 16

/* The last argument with this name ("--x", "x.y" of key=value). */
bool token_find(const struct command *command, const char *name,
		struct token *found);
/*
 * What the command says of a setting: by its last argument, else by its config
 * files; "true" for a switch; NULL: nothing.
 */
const char *setting_value(const struct command *command, const char *name);
/* The same of "NAME" or "NAME DEFAULT"; name takes the name. */
const char *setting_or_default(const struct command *command, const char *entry,
			       char name[NAME_MAX_BYTES]);
/* See docs/presets.md, CONDITION. */
bool condition_holds(const struct recognition *r, const char *condition);
bool any_condition_holds(const struct recognition *r,
			 const struct strlist *conditions);

/* A sweep is not one training. */
enum command_outcome sweep_check(const struct recognition *r);
/* What the preset cannot have in a command, with the way out. */
enum command_outcome refusals_find(const struct recognition *r);
/* What the preset asks of every split, and its caveats. */
enum command_outcome constraints_find(struct recognition *r);
/* Scopes of the knobs, then micro, accum, world and effective batch. */
enum command_outcome knob_scopes_set(const struct recognition *r);
enum command_outcome effective_batch_derive(struct recognition *r);
/* Sets command->assumption. */
void effective_batch_describe(struct command *command);

/*
 * A knob that a config file sets over all options: sets it, and notes each
 * value in files that must follow a knob. DeepSpeed with transformers: an
 * option, or its default, must agree with the file, so both are written where
 * they do. Else the file alone is what counts.
 */
enum command_outcome knob_in_winning_file_find(struct recognition *r,
					       enum knob_kind kind);
bool knob_in_winning_file_is_set(const struct recognition *r,
				 enum knob_kind kind);
/* A knob that only a config file sets; leaves it absent when none does. */
enum command_outcome knob_in_file_find(struct recognition *r,
				       enum knob_kind kind);
/* Does a config file say it? */
bool knob_in_file_is_set(const struct recognition *r, enum knob_kind kind,
			 const struct command_file *file);
/* The knob becomes an option that is added; evidence is taken over. */
void knob_set_default(struct recognition *r, enum knob_kind kind,
		      const char *name, int64_t value, char *evidence);
/* The same for an option that the script declares, with its default. */
enum command_outcome
knob_set_option_default(struct recognition *r, enum knob_kind kind,
			const struct source_option *option);
/* Back to absent, with its scope. */
void knob_forget(struct knob *knob);

/* Sets world_size: by the launcher, or by what the preset knows. */
enum command_outcome world_size_find(struct recognition *recognition);

/* {micro}, {micro:8} in the command, in --env or --template: sets those knobs.
 */
enum command_outcome placeholders_find(struct recognition *recognition);
/* A copy with the placeholders replaced; NULL: it has none. */
char *placeholders_replace(const struct command *command,
			   const struct command_values *values,
			   const char *text);
/* A copy without the values: {micro:8} as {micro}. */
char *placeholders_strip(const char *text);
/*
 * The command must not set a variable (length bytes of name) itself: what
 * autofit puts into the environment would not reach its program.
 */
enum command_outcome variable_check(const struct recognition *recognition,
				    const char *name, size_t length);
/* "micro" of {micro}. */
const char *placeholder_name(enum knob_kind kind);
/* One of micro, accum, global stands in the text. */
bool placeholders_in(const char *text);

/* All knobs that are not set yet. */
enum command_outcome knobs_find(struct recognition *recognition);
/* --micro-flag and its like, looked for before anything else. */
enum command_outcome knob_by_flag_find(struct recognition *recognition,
				       enum knob_kind kind);
/* The knob is not among the arguments: its default, or why not. */
enum command_outcome knob_default_find(struct recognition *recognition,
				       enum knob_kind kind);
/* Take the value at the token for the knob. */
enum command_outcome knob_take(struct recognition *recognition,
			       enum knob_kind kind, const struct token *token);
/* Another knob has this argument already. */
bool knob_is_taken(const struct command *command, size_t index);
/* The option of the script that means this knob, or NULL. */
const struct source_option *knob_in_source(const struct recognition *r,
					   enum knob_kind kind, size_t *rank);

/* What is written for the knob: counted over ranks as its scope says. */
int64_t knob_written(const struct command *command, enum knob_kind kind,
		     const struct command_values *values);

#endif
