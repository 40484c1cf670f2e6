/* How the text of an option is read: one kind for each sort of value. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_KINDS_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_KINDS_H

#include "launcher/options/options_rows.h"

extern const struct option_kind kind_flag;      /* bool */
extern const struct option_kind kind_string;    /* char *, any words */
extern const struct option_kind kind_name;      /* char *, an option's name */
extern const struct option_kind kind_strategy;  /* char *, a search strategy */
extern const struct option_kind kind_list;      /* strlist, any text */
extern const struct option_kind kind_variable;  /* strlist, NAME=value */
extern const struct option_kind kind_template;  /* strlist, NAME={micro} */
extern const struct option_kind kind_integer;   /* int64_t */
extern const struct option_kind kind_bytes;     /* uint64_t */
extern const struct option_kind kind_amount;    /* struct amount */
extern const struct option_kind kind_percent;   /* double, a share */
extern const struct option_kind kind_duration;  /* int64_t, milliseconds */
extern const struct option_kind kind_color;     /* enum color_choice */
extern const struct option_kind kind_device;    /* device and cuda_index */
extern const struct option_kind kind_effective; /* effective and its number */
extern const struct option_kind kind_grow;      /* the same, as a flag */
extern const struct option_kind kind_explain;   /* enum subcommand, a flag */
extern const struct option_kind kind_isolation; /* enum isolation_kind */
extern const struct option_kind kind_second;    /* bool: of two words */
extern const struct option_kind kind_clock;     /* char *, HH:MM */
extern const struct option_kind kind_path;      /* strlist, not empty */
extern const struct option_kind kind_print;     /* nothing: stops parsing */
extern const struct option_kind kind_print_for; /* the same, with a word */

/* The place of value in words (NULL ends them), or -EINVAL. */
int option_word(const char *value, const char *const *words, struct error *err);
/* What a flag may be in a variable or a file: 1, yes, true, on, and so on. */
int option_truth(const char *value, bool *truth, struct error *err);

#endif
