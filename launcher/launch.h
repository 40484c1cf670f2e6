/* `autofit -- command` and `autofit tune`: record or tuning, report, exec. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_LAUNCH_H
#define AUTOFIT_LAUNCHER_LAUNCH_H

#include "launcher/options/options.h"
#include "launcher/report/report.h"
#include "launcher/report/result.h"
#include "launcher/request/request.h"
#include "probes/process/process_state.h"

/* The exit code; does not return when the command was started. */
int launch_command(const struct options *options,
		   const struct process_state *state);

/* The beginning of every result: command, preset, splits as asked. */
void launch_begin_result(struct result *result, const struct request *request);

/* What starts is the command exactly as it was typed. */
void launch_as_given(struct result *result, const struct options *options);

/* Outcome, exit code and message for a command that cannot be tuned. */
void launch_refuse(struct result *result, enum command_outcome outcome,
		   const char *message);

/* Write the JSON where --json says. 0, or -errno after a line on stderr. */
int launch_write_json(const struct options *options,
		      const struct result *result);

/* Terminal, NO_COLOR, --color: how stderr is to be written. */
struct report_style launch_style(const struct options *options);

#endif
