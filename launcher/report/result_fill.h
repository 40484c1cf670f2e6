/* Fills a result from the request: its beginning, its command, its end. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_RESULT_FILL_H
#define AUTOFIT_LAUNCHER_REPORT_RESULT_FILL_H

#include "launcher/command/text/command_outcome.h"
#include "launcher/options/options.h"
#include "launcher/report/result.h"
#include "launcher/request/request.h"

/* The beginning of every result: command, preset, splits as asked. */
void result_begin(struct result *result, const struct request *request);

/* What starts is the command with this split, and the text to paste. */
void result_set_command(struct result *result, const struct request *request,
			int64_t micro_batch, int64_t grad_accum);

/* The same with the record's split, going on from where an earlier run was. */
void result_set_restart(struct result *result, const struct request *request);

/* What starts is the command as it was typed, with its placeholders' present
 * values, and --env's. */
void result_start_as_given(struct result *result,
			   const struct options *options);

/* Outcome, exit code and message for a command that cannot be tuned. */
void result_refuse(struct result *result, enum command_outcome outcome,
		   const char *message);

/* Write the JSON where --json says. 0, or -errno after a line on stderr. */
int result_write_json(const struct options *options,
		      const struct result *result);

#endif
