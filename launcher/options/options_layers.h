/* Places that set options, from the strongest down: line, variables, files. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_LAYERS_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_LAYERS_H

#include "base/error.h"
#include "base/strlist.h"
#include "launcher/options/options.h"
#include "launcher/options/options_rows.h"

#include <stdbool.h>

/* One bool for each row of option_rows. */
struct option_layers {
	struct options *options;
	bool stronger[OPTION_ROWS_MAX]; /* set by a place before: stays so */
	bool here[OPTION_ROWS_MAX];     /* set by the present place */
};

/* Set it for the present place; of an option that is decided nothing is read.
 */
int layers_set(struct option_layers *layers, const struct option_row *row,
	       const char *value, struct error *err);
/* The present place is done; a weaker one follows. */
void layers_next(struct option_layers *layers);

/* Rows of this group and of those behind it are read from no place more. */
void layers_pass_over(struct option_layers *layers, enum option_group first);

/* AUTOFIT_<OPTION> of NAME=value items, as one place. */
int layers_read_environment(struct option_layers *layers,
			    const struct strlist *environment,
			    struct strlist *warnings, struct error *err);

/*
 * The lines of one file, as one place: 0, or -EINVAL with "path:line: ...".
 * Texts of what was passed over are added to warnings (NULL: not wanted).
 */
int layers_read_file(struct option_layers *layers,
		     const struct options_file *file, struct strlist *warnings,
		     struct error *err);

#endif
