/* Hints about a command, from the options of autofit. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_COMMAND_HINTS_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_COMMAND_HINTS_H

#include "base/strlist.h"
#include "launcher/command/text/seen_meaning.h"

#include <stdbool.h>
#include <stdint.h>

/* What the options say about the command; NULL and 0: not said. */
struct command_hints {
	const char *micro_flag, *accum_flag, *global_flag;
	const char *micro_scope;  /* rank, node, global */
	const char *accum_scope;  /* rank, total */
	const char *global_scope; /* rank, global */
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
	/* As probes saw them; 0: not seen. The defaults are of options that
	 * are not given. */
	int64_t ranks_seen, micro_default, accum_default;
	enum seen_guess micro_guess, accum_guess;
	/* A config file that a probe saw the program open; NULL. */
	const char *config_file;
	/* A probe may show the rows of a pass: a batch size that nothing names
	 * is no end. */
	bool rows_may_be_seen;
};

#endif
