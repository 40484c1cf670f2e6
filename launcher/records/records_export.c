/* `autofit export`: a record for another machine, a program, or a script. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/shellquote.h"
#include "launcher/records/records.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/identity/identity_text.h"
#include "configs/identity/stamps.h"
#include "configs/secrets/secrets.h"
#include "launcher/options/exitcode.h"
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
	if (!chosen->has_job)
		return;
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

/*
 * The recorded command stands for the user's where it is read here as it was
 * then, whatever the device and the memory.
 */
static int args_of_record(struct export *export, struct strbuf *out)
{
	const struct record *record = &export->result.record;
	const struct command_values values = {
		.micro_batch = record->batch.micro_batch,
		.grad_accum = record->batch.grad_accum,
	};
	struct options as_recorded = *export->options;
	struct strbuf why = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct request request;
	struct strlist lines = STRLIST_INIT;
	bool is_alike = false;
	char *flags;

	/* Borrowed: the options of a job are not released with it. */
	as_recorded.command = record->argv;
	if (request_prepare(&request, &as_recorded, export->state, &err) !=
	    COMMAND_OK)
		strbuf_adds(&why, err.message);
	else
		is_alike =
			identity_agrees_on(record->identity, request.identity,
					   identity_reading(), &why);
	if (is_alike) {
		flags = command_flags_text(&request.command, &values);
		strbuf_addf(out, "%s\n", flags);
		free(flags);
		command_source_lines(&request.command, &values, &lines);
		warn_of_lines(&lines);
		strlist_release(&lines);
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

/* "env -u A 'B=c d' python train.py ...", for any POSIX shell. */
static int export_command(struct export *export, struct strbuf *out)
{
	const struct strlist *changes = &export->result.run.environment;
	struct strlist words = STRLIST_INIT;
	char *line;

	if (!export->chosen->has_job) {
		log_error("a record does not hold the command as it was typed; "
			  "give it: autofit export command -- command...");
		return EXIT_AUTOFIT_FAILED;
	}
	warn_of_batch(export);
	warn_of_lines(&export->result.lines);
	if (changes->count)
		strlist_add(&words, "env");
	for (size_t i = 0; i < changes->count; i++)
		if (!strchr(changes->items[i], '=')) {
			strlist_add(&words, "-u");
			strlist_add(&words, changes->items[i]);
		}
	for (size_t i = 0; i < changes->count; i++)
		if (strchr(changes->items[i], '='))
			strlist_add(&words, changes->items[i]);
	strlist_add_all(&words,
			(const char *const *)export->result.run.argv.items,
			export->result.run.argv.count);
	line = shell_quote_all(&words);
	strbuf_addf(out, "%s\n", line);
	free(line);
	strlist_release(&words);
	return EXIT_DONE;
}

static export_format *format_of(const char *name)
{
	static const struct {
		const char *name;
		export_format *format;
	} formats[] = {
		{ "json", export_json },
		{ "record", export_record },
		{ "args", export_args },
		{ "command", export_command },
	};

	for (size_t i = 0; name && i < sizeof(formats) / sizeof(*formats); i++)
		if (strcmp(formats[i].name, name) == 0)
			return formats[i].format;
	return NULL;
}

int records_export_command(const struct options *options,
			   const struct process_state *state)
{
	export_format *format = format_of(options->export_format);
	struct strbuf out = STRBUF_INIT;
	struct chosen chosen;
	struct export export = { .options = options,
				 .state = state,
				 .chosen = &chosen };
	int code;

	if (!format) {
		log_error("export what? json, record, args or command, then "
			  "NAME or -- command...");
		return EXIT_AUTOFIT_FAILED;
	}
	code = chosen_need(&chosen, options, state);
	if (code == EXIT_DONE) {
		fill_result(&export.result, &chosen);
		code = format(&export, &out);
	}
	if (code == EXIT_DONE)
		code = report_print(&out, code);
	result_release(&export.result);
	chosen_release(&chosen);
	strbuf_release(&out);
	return code;
}
