/* Options of `autofit estimate` as other programs write them. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_WORDS_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_WORDS_H

/* The calculators of published guides have options of their own names. */
struct option_alias {
	const char *theirs; /* "model_size_gb" */
	const char *ours;   /* name of a row of option_rows */
	const char *value;  /* of a switch, "bf16"; NULL: it takes one */
};

#define OPTION_ALIASES_MAX 32

/* One without theirs ends them. */
extern const struct option_alias option_aliases[];

#endif
