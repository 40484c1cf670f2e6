/* Fills a result from the request: its beginning, its command, its end. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/result_fill.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/textfile.h"
#include "configs/secrets/secrets.h"
#include "launcher/command/parts/knob.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/rewrite/settings_list.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/knob_kind.h"
#include "launcher/command/text/placeholder.h"
#include "launcher/options/exitcode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_text(char **slot, const char *text)
{
	free(*slot);
	*slot = text ? xstrdup(text) : NULL;
}

void result_begin(struct result *result, const struct request *request)
{
	const struct command *command = &request->command;
	struct record *record = &result->record;

	secrets_mask_argv(&record->argv, command->given);
	set_text(&record->identity, request->identity);
	set_text(&record->subject, request->subject);
	set_text(&record->preset, command->preset->name);
	set_text(&record->autofit_version, AUTOFIT_VERSION);
	set_text(&result->assumption, command->assumption);
	result->rows_are_open = command_rows_are_open(command);
	record->effective_batch_asked = request->asked.effective_batch;
	record->batch.world_size = command->batch.world_size;
	result->own = command->batch;
	record->own_micro_batch = command->batch.micro_batch;
	record->own_grad_accum = command->batch.grad_accum;
	result->grow = request->options->batch.choice == EFFECTIVE_GROW;
	result->fresh = request->options->reuse.fresh;
	result->has_accumulation = command_trades(command);
}

static void result_write_command(struct result *result,
				 const struct request *request,
				 const struct command_values *values)
{
	struct command_values to_write = *values;
	struct error err = ERROR_INIT;

	rewrite_release(&result->run);
	free(result->flags_text);
	result->flags_text = command_flags_text(&request->command, values);
	/* Every size that is used was written into a probe before. */
	if (request_rewrite(request, &request->command, values, &result->run,
			    &err) < 0)
		log_error("%s", err.message);
	to_write.leaves_computed = result->run.leaves_computed;
	strlist_release(&result->lines);
	command_source_lines(&request->command, &to_write, &result->lines);
	if (request->options->target.cuda_index >= 0 &&
	    result->record.device_count)
		strlist_take(
			&result->run.environment,
			visible_gpus_only(request->gpus,
					  request->options->target.cuda_index,
					  result->record.devices[0].uuid));
}

/* The recommended command as data, which goes into the record. */
static void result_note_settings(struct result *result,
				 const struct request *request,
				 const struct command_values *values)
{
	struct record *record = &result->record;

	record_settings_release(&record->settings);
	settings_list(&record->settings, &request->command, values);
	strlist_release(&record->recommended_argv);
	secrets_mask_argv(&record->recommended_argv, &result->run.argv);
	strlist_release(&record->recommended_env);
	secrets_mask_argv(&record->recommended_env, &result->run.environment);
}

void result_set_command(struct result *result, const struct request *request,
			int64_t micro_batch, int64_t grad_accum)
{
	const struct command_values values = {
		.micro_batch = micro_batch,
		.grad_accum = grad_accum,
		.copies = request->paths.copies,
	};

	result_write_command(result, request, &values);
	result_note_settings(result, request, &values);
}

void result_set_restart(struct result *result, const struct request *request)
{
	const struct command_values values = {
		.micro_batch = result->record.batch.micro_batch,
		.grad_accum = result->record.batch.grad_accum,
		.copies = request->paths.copies,
		.resumes = true,
	};

	result_write_command(result, request, &values);
}

void result_start_as_given(struct result *result, const struct options *options)
{
	rewrite_release(&result->run);
	placeholders_present(&options->command, &result->run.argv);
	placeholders_present(&options->hints.env_templates,
			     &result->run.environment);
}

void result_refuse(struct result *result, enum command_outcome outcome,
		   const char *message)
{
	static const struct {
		enum outcome outcome;
		enum exitcode exit_code;
	} ends[] = {
		[COMMAND_OK] = { OUTCOME_ERROR, EXIT_AUTOFIT_FAILED },
		[COMMAND_UNREADABLE] = { OUTCOME_COMMAND_FAILED,
					 EXIT_COMMAND_FAILED },
		[COMMAND_NOT_RECOGNISED] = { OUTCOME_NOT_RECOGNISED,
					     EXIT_NOT_RECOGNISED },
		[COMMAND_REFUSED] = { OUTCOME_REFUSED, EXIT_REFUSED },
		[COMMAND_USAGE] = { OUTCOME_ERROR, EXIT_AUTOFIT_FAILED },
	};

	result->outcome = ends[outcome].outcome;
	result->exit_code = (int)ends[outcome].exit_code;
	set_text(&result->message, message);
}

int result_write_json(const struct options *options,
		      const struct result *result)
{
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int code = 0;

	if (!options->output.json)
		return 0;
	result_json(result, &text);
	if (strcmp(options->output.json, "-") == 0) {
		if (fwrite(strbuf_text(&text), 1, text.length, stdout) !=
			    text.length ||
		    fflush(stdout) != 0)
			code = error_set_errno(&err, -errno,
					       "cannot write to stdout");
	} else {
		code = textfile_give(options->output.json, strbuf_text(&text),
				     text.length, &err);
	}
	if (code < 0)
		log_error("--json: %s", err.message);
	strbuf_release(&text);
	return code;
}
