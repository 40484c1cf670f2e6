/* A command line under way, and what only the whole of it can tell. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_CHECK_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_CHECK_H

#include "launcher/options/options.h"
#include "launcher/options/options_help.h"
#include "launcher/options/options_layers.h"
#include "launcher/options/options_rows.h"

/* argp hands this to every call of on_key. */
struct options_parsing {
	struct options *options;
	struct option_layers layers;
	struct error *err;
	int word;                       /* the argument argp looks at now */
	bool failed;                    /* err holds the message */
	const struct option_row *print; /* --help or the like came first */
	const char *print_value;
	enum help_length print_length;
	bool print_verbose;
	const struct subcommand_row *subcommand;
	const struct option_alias *alias; /* it is written so; NULL: as ours */
	bool has_command;
	bool has_json; /* as a flag */
	/* The same: one that is of a sub-command only, and one of another. */
	const struct option_row *owned[2];
};

/* Fills in err, once; returns EINVAL, which argp hands on. */
int options_wrong(struct options_parsing *parsing, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The one sub-command that an option is of; NULL: it is of several. */
const char *options_owner(const struct option_row *row);

/*
 * After the last word and the last file: is a word missing, does an option
 * belong to another sub-command, do two of them contradict each other? Settles
 * what --dry-run makes of the sub-command. 0, or EINVAL with err filled in.
 */
int options_check(struct options_parsing *parsing);

#endif
