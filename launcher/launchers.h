/* Programs that start another program: one row each. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_LAUNCHERS_H
#define AUTOFIT_LAUNCHER_LAUNCHERS_H

#include "launcher/command.h"

enum launcher_kind {
	LAUNCHER_WRAPPER, /* becomes the program that follows */
	LAUNCHER_PYTHON,
	LAUNCHER_RANKS, /* starts a Python script once per rank */
	LAUNCHER_OTHER, /* known, but not understood: outcome and advice */
};

/*
 * Options stand without their dashes, words joined by "_"; one letter is a
 * short option. NULL ends a list; a list may be NULL.
 */
struct launcher {
	const char *name;           /* of the program; NULL ends the table */
	const char *subcommand;     /* the word that must follow; NULL */
	const char *const *modules; /* the same as python -m */
	enum launcher_kind kind;
	const char *const *values; /* options with a value */
	const char *const *switches;
	bool unknown_has_value; /* any other --option has a value too */
	bool abbreviations;     /* a unique beginning will do */
	bool digits;            /* -5 is an option (nice) */
	bool assignments;       /* NAME=value may stand among them (env) */
	/* LAUNCHER_RANKS */
	const char *ranks, *nodes;  /* options: ranks per node, nodes */
	const char *all_devices;    /* switch: one rank per device */
	const char *one_rank;       /* switch: no devices, so one rank */
	bool many_by_default;       /* without ranks: maybe per device */
	const char *const *files;   /* options whose file may say ranks */
	const char *const *foreign; /* ranks that share a batch */
	/* LAUNCHER_OTHER */
	enum command_outcome outcome;
	const char *advice;
};

/* The row of a program by the last part of its path, or NULL. */
const struct launcher *launcher_find(const char *program);
/* The row of what python -m starts, or NULL. */
const struct launcher *launcher_find_module(const char *module);

/* A command while its launchers are peeled. */
struct peel {
	struct command_view *view;
	const struct strlist *argv;
	size_t at; /* the argument that is looked at */
	bool done; /* the program itself is found */
	struct error *err;
};

/* What the options of one launcher said. */
struct launch {
	const struct launcher *row;
	const char *ranks, *nodes; /* values as written */
	const char *file;          /* option that names a file with ranks */
	const char *foreign;       /* option that makes ranks share a batch */
	bool module, no_python, all_devices, one_rank;
};

/* Leaves peel->at on the first argument that is no option of the launcher. */
enum command_outcome launch_options_read(struct peel *peel,
					 struct launch *launch);
/* Only one node can be probed. */
enum command_outcome launch_check_nodes(const struct peel *peel,
					const struct launch *launch);
/* Sets view->world. */
enum command_outcome launch_count_ranks(const struct peel *peel,
					const struct launch *launch);

#endif
