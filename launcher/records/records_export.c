/* `autofit export`: a record for another machine, a program, or a script. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/records/records.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/identity/identity_text.h"
#include "configs/identity/stamps.h"
#include "configs/secrets/secrets.h"
#include "launcher/options/exitcode.h"
#include "launcher/records/export_formats.h"
#include "launcher/records/records_choose.h"
#include "launcher/report/json.h"
#include "launcher/report/report_answer.h"
#include "launcher/report/result_fill.h"
#include "launcher/request/identity.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What one export works with. */
struct export
{
	const struct options *options;
	const struct process_state *state;
	struct chosen *chosen;
	struct result result; /* has taken the record over */
};

/* Appends the text, or says why not and returns another code than 0. */
typedef int export_format(struct export *export, struct strbuf *out);

/* As of a reuse; takes the record over. */
static void fill_result(struct result *result, struct chosen *chosen)
{
	struct strlist masked = STRLIST_INIT;
	struct record *record = &result->record;

	if (chosen->has_job)
		result_begin(result, &chosen->request);
	record_release(record);
	*record = chosen->record;
	memset(&chosen->record, 0, sizeof(chosen->record));
	/* A file may have been written by hand. */
	secrets_mask_argv(&masked, &record->argv);
	strlist_release(&record->argv);
	record->argv = masked;
	result->outcome = OUTCOME_REUSED;
	result->exit_code = EXIT_DONE;
	result->record_path = xstrdup(chosen->path);
	if (!chosen->has_job) {
		result->own.micro_batch = record->own_micro_batch;
		result->own.grad_accum = record->own_grad_accum;
		return;
	}
	result->record_grade = record_grade_name(
		stamps_hold(&record->stamps, NULL) ? RECORD_EXACT
						   : RECORD_NEAR);
	result_set_command(result, &chosen->request, record->batch.micro_batch,
			   record->batch.grad_accum);
}

/* The record of the result as it is, which a masked argv is part of. */
static int export_record(struct export *export, struct strbuf *out)
{
	struct error err = ERROR_INIT;

	if (record_format(&export->result.record, out, &err) == 0)
		return EXIT_DONE;
	log_error("cannot export %s: %s", export->chosen->name, err.message);
	return EXIT_AUTOFIT_FAILED;
}

static void mask_command(struct result *result)
{
	struct strlist masked = STRLIST_INIT;

	secrets_mask_argv(&masked, &result->run.argv);
	strlist_release(&result->run.argv);
	result->run.argv = masked;
}

/* Without the command itself it is not known what would be run. */
static void records_export_forget_command(json_t *root)
{
	json_t *recommended = json_object_get(root, "recommended");

	json_put(recommended, "argv", json_null());
	json_put(recommended, "argv_escaped", json_null());
	json_put(recommended, "env", json_null());
}

static int export_json(struct export *export, struct strbuf *out)
{
	struct strbuf record = STRBUF_INIT;
	struct strbuf plain = STRBUF_INIT;
	json_t *root;
	int code = export_record(export, &record);

	if (code != EXIT_DONE)
		goto out;
	mask_command(&export->result);
	result_json(&export->result, &plain);
	root = json_checked(json_loadb(plain.data, plain.length, 0, NULL));
	if (!export->chosen->has_job)
		records_export_forget_command(root);
	json_put(root, "record_ini", json_text(strbuf_text(&record)));
	json_write(out, root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
out:
	strbuf_release(&plain);
	strbuf_release(&record);
	return code;
}

static void warn_of_batch(const struct export *export)
{
	const struct record *record = &export->result.record;
	int64_t asked = export->chosen->request.asked.effective_batch;

	if (asked > 0 && asked != record->batch.effective_batch)
		log_warning("the effective batch becomes %" PRId64
			    " instead of %" PRId64,
			    record->batch.effective_batch, asked);
}

/* What no argument can say. */
static void warn_of_lines(const struct strlist *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		log_warning("to be written in the script: %s", lines->items[i]);
}

/* No option says how the command is to be read: as it was recorded. */
static bool has_no_hints(const struct options_hints *hints)
{
	return !hints->micro_flag && !hints->accum_flag &&
	       !hints->global_flag && !hints->micro_scope &&
	       !hints->accum_scope && !hints->global_scope && !hints->preset;
}

/*
 * The recorded command stands for the user's where it is read here as it was
 * then, whatever the device and the memory.
 */
static int args_of_record(struct export *export, struct strbuf *out)
{
	const struct record *record = &export->result.record;
	struct command_values values = {
		.micro_batch = record->batch.micro_batch,
		.grad_accum = record->batch.grad_accum,
	};
	struct options as_recorded = *export->options;
	struct strbuf why = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct request request;
	struct strlist lines = STRLIST_INIT;
	bool is_alike = false, is_elsewhere;
	char *flags;

	/* Borrowed: the options of a job are not released with it. */
	as_recorded.command = record->argv;
	is_elsewhere = request_prepare(&request, &as_recorded, export->state,
				       &err) != COMMAND_OK;
	if (is_elsewhere)
		strbuf_adds(&why, err.message);
	else
		is_alike =
			identity_agrees_on(record->identity, request.identity,
					   identity_reading(), &why);
	if (is_alike) {
		flags = command_flags_text(&request.command, &values);
		strbuf_addf(out, "%s\n", flags);
		free(flags);
		values.leaves_computed = request.command.script_follows;
		command_source_lines(&request.command, &values, &lines);
		warn_of_lines(&lines);
		strlist_release(&lines);
	} else if (is_elsewhere && has_no_hints(&export->options->hints) &&
		   export_add_options(out, &record->settings, NULL) == 0) {
		is_alike = true;
	} else {
		log_error("the options of the recorded command cannot be told "
			  "here (%s); give it: autofit export args -- "
			  "command...",
			  strbuf_text(&why));
	}
	request_release(&request);
	strbuf_release(&why);
	return is_alike ? EXIT_DONE : EXIT_AUTOFIT_FAILED;
}

static int export_args(struct export *export, struct strbuf *out)
{
	if (!export->chosen->has_job)
		return args_of_record(export, out);
	warn_of_batch(export);
	warn_of_lines(&export->result.lines);
	strbuf_addf(out, "%s\n", export->result.flags_text);
	return EXIT_DONE;
}

static int export_command(struct export *export, struct strbuf *out)
{
	if (!export->chosen->has_job) {
		log_error("a record does not hold the command as it was typed; "
			  "give it: autofit export command -- command...");
		return EXIT_AUTOFIT_FAILED;
	}
	warn_of_batch(export);
	warn_of_lines(&export->result.lines);
	export_add_line(out, &export->result.run.environment,
			&export->result.run.argv);
	return EXIT_DONE;
}

/* A format needs all of an export, or the record alone. */
static const struct export_row {
	const char *name;
	export_format *format;
	export_text *text;
} export_rows[] = {
	{ "json", export_json, NULL },
	{ "record", export_record, NULL },
	{ "args", export_args, NULL },
	{ "command", export_command, NULL },
	{ "cmd", NULL, export_cmd },
	{ "env", NULL, export_env },
	{ "dotenv", NULL, export_dotenv },
	{ "hf", NULL, export_hf },
	{ "deepspeed", NULL, export_deepspeed },
	{ "accelerate", NULL, export_accelerate },
	{ "hydra", NULL, export_hydra },
	{ "yaml", NULL, export_yaml },
	{ "config", NULL, export_config },
	{ "torchtune", NULL, export_torchtune },
	{ "axolotl", NULL, export_axolotl },
	{ "markdown", NULL, export_markdown },
	{ "csv", NULL, export_csv },
};

static const struct export_row *format_of(const char *name)
{
	for (size_t i = 0; i < sizeof(export_rows) / sizeof(*export_rows); i++)
		if (name && strcmp(export_rows[i].name, name) == 0)
			return &export_rows[i];
	return NULL;
}

static int export_as(const struct export_row *row, struct export *export,
		     struct strbuf *out)
{
	struct error err = ERROR_INIT;

	if (row->format)
		return row->format(export, out);
	if (row->text(&export->result, out, &err) == 0)
		return EXIT_DONE;
	log_error("%s: %s", export->chosen->name, err.message);
	return EXIT_AUTOFIT_FAILED;
}

int records_export_command(const struct options *options,
			   const struct process_state *state)
{
	const struct export_row *row = format_of(options->export_format);
	struct strbuf out = STRBUF_INIT;
	struct chosen chosen;
	struct export export = { .options = options,
				 .state = state,
				 .chosen = &chosen };
	int code;

	if (!row) {
		log_error("export what? a format, such as json or args, then "
			  "NAME or -- command...");
		return EXIT_AUTOFIT_FAILED;
	}
	code = chosen_need(&chosen, options, state);
	if (code == EXIT_DONE) {
		fill_result(&export.result, &chosen);
		code = export_as(row, &export, &out);
	}
	if (code == EXIT_DONE)
		code = report_print(&out, code);
	result_release(&export.result);
	chosen_release(&chosen);
	strbuf_release(&out);
	return code;
}
