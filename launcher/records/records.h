/* Sub-commands on records: look, lower, forget, hand on. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_RECORDS_RECORDS_H
#define AUTOFIT_LAUNCHER_RECORDS_RECORDS_H

#include "launcher/options/options.h"
#include "probes/process/process_state.h"

/*
 * Each returns the exit code, after its lines on stdout or one on stderr that
 * says what was wrong. Which record: options->record_name, else the one of
 * options->command.
 */

/* All records, the one of NAME, or the one of a command. */
int records_show_command(const struct options *options,
			 const struct process_state *state);

/*
 * The recorded split ran out of memory in a real run: take the next smaller
 * tested one. 120 when there is none.
 */
int records_lower_command(const struct options *options,
			  const struct process_state *state);

/* Remove a record and what belongs to it; the site's are never touched. */
int records_forget_command(const struct options *options,
			   const struct process_state *state);

/* options->export_format: "json", "record", "args" or "command", to stdout. */
int records_export_command(const struct options *options,
			   const struct process_state *state);

/* A record from options->import_file ("-": stdin) into the user's folder. */
int records_import_command(const struct options *options,
			   const struct process_state *state);

#endif
