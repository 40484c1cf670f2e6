/* `autofit -- command` and `autofit tune`: record or tuning, report, exec. */
/* SPDX-License-Identifier: MIT */
#include "launcher/launch.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/match.h"
#include "configs/records/record.h"
#include "configs/secrets/secrets.h"
#include "launcher/admission/preconditions.h"
#include "launcher/admission/tuning_lease.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/shellquote.h"
#include "launcher/command/text/text.h"
#include "launcher/guard/guard.h"
#include "launcher/launch_tune.h"
#include "launcher/options/exitcode.h"
#include "launcher/options/options.h"
#include "launcher/options/options_rows.h"
#include "launcher/records/first_split.h"
#include "launcher/records/record_answer.h"
#include "launcher/report/report_style.h"
#include "launcher/report/result.h"
#include "launcher/report/result_fill.h"
#include "launcher/request/config_copies.h"
#include "launcher/request/end_signals.h"
#include "launcher/request/exec_command.h"
#include "launcher/request/request.h"
#include "launcher/request/seen_store.h"
#include "probes/process/process_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Batch size by its value, accumulation by its value, one of them taken back.
 */
#define READINGS_MAX 3

static void set_as_given(struct result *result, const struct options *options)
{
	if (options->subcommand == SUBCOMMAND_TUNE) {
		result_refuse(result, COMMAND_REFUSED,
			      "nothing is recorded for this command, and with "
			      "--no-probe nothing is tried");
		return;
	}
	result->outcome = OUTCOME_AS_GIVEN;
	result->exit_code = EXIT_DONE;
	result_start_as_given(result, options);
}

/* What the words of a command that is not there may be a slip of; or "". */
static char *what_is_meant(const struct strlist *command)
{
	const char *word = command->items[0];
	const char *meant;
	struct stat info;

	if (command->count == 1 && strchr(word, ' '))
		return xstrdup("; that is one word: leave out the quotes "
			       "around the command");
	if (strchr(word, '=') && command->count > 1)
		return xstrdup("; a variable stands in front of autofit, or "
			       "behind env");
	if (!strchr(word, '/') && stat(word, &info) == 0 &&
	    S_ISREG(info.st_mode))
		return xasprintf("; of the file here write: %s%s",
				 text_ends_with(word, ".py") ? "python " : "./",
				 word);
	meant = strchr(word, '/') ? NULL : subcommand_suggestion(word);
	return meant ? xasprintf("; did you mean autofit %s?", meant)
		     : xstrdup("");
}

static void cannot_start(struct result *result, const struct options *options,
			 int error_number)
{
	char *meant = error_number == ENOENT ? what_is_meant(&options->command)
					     : xstrdup("");

	secrets_mask_argv(&result->record.argv, &options->command);
	result->outcome = OUTCOME_COMMAND_FAILED;
	result->exit_code =
		error_number == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
	result->message =
		xasprintf("cannot run '%s': %s%s", options->command.items[0],
			  strerror(error_number), meant);
	free(meant);
}

static void set_command(struct result *result, const struct options *options)
{
	secrets_mask_argv(&result->record.argv, &options->command);
}

/* As one of several ranks: what is recorded, or nothing. */
static void decide_as_rank(const struct request *request, struct result *result)
{
	const struct rank_place *place = &request->place;
	char *message;

	if (request->identity && record_answer_fill(result, request))
		return;
	if (request->options->reuse.no_probe) {
		set_as_given(result, request->options);
		return;
	}
	message = xasprintf(
		"autofit is one of %lld ranks here (%s): ranks never tune, and "
		"there is no exact record of this command. Put autofit in "
		"front of what starts the ranks, in one task: %sautofit -- "
		"torchrun --nproc-per-node %lld ...; --no-probe starts the "
		"command as it is",
		(long long)place->world, place->variable,
		strcmp(place->launcher, "srun") == 0 ? "srun --ntasks=1 " : "",
		(long long)place->world);
	result_refuse(result, COMMAND_REFUSED, message);
	free(message);
}

/* A copy of a script is run only where that was asked for. */
static bool may_run_copy(const struct options *options)
{
	return options->subcommand == SUBCOMMAND_TUNE ||
	       options->reuse.edit_copy;
}

bool launch_lacks_copy(const struct request *request)
{
	const struct options *options = request->options;

	return command_edits_script(&request->command,
				    options->batch.choice == EFFECTIVE_KEEP) &&
	       !may_run_copy(options);
}

/* "`train.py:7: BATCH_SIZE = 32` and ..." */
static void launch_add_lines(struct strbuf *out, const struct strlist *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		strbuf_addf(out, "%s`%s`", i > 0 ? " and " : "",
			    lines->items[i]);
}

static void ask_for_copy(const struct request *request, struct result *result)
{
	char *command = shell_quote_all(&result->record.argv);
	struct strbuf text = STRBUF_INIT;
	const struct command_values own = { .micro_batch = 0 };
	struct strlist lines = STRLIST_INIT;

	if (result->lines.count) {
		strbuf_adds(&text, "the recorded answer is to write ");
		launch_add_lines(&text, &result->lines);
	} else {
		command_source_lines(&request->command, &own, &lines);
		strbuf_adds(&text, "no argument can change ");
		launch_add_lines(&text, &lines);
		strbuf_addf(&text, ": `autofit tune -- %s` tells what to write",
			    command);
	}
	strbuf_adds(&text, "; or add --edit-copy: then a copy with the other "
			   "number lies in its place");
	rewrite_release(&result->run);
	result_refuse(result, COMMAND_NOT_RECOGNISED, strbuf_text(&text));
	strlist_release(&lines);
	strbuf_release(&text);
	free(command);
}

static void launch_probe(const struct request *request,
			 struct record_match *match, int64_t seen,
			 struct result *result)
{
	struct error err = ERROR_INIT;
	enum command_outcome refused =
		preconditions_check_unsafe(request, &err);

	if (refused != COMMAND_OK)
		result_refuse(result, refused, err.message);
	else
		launch_tune(request, match, seen, result);
}

/* The command is known: from its records, else by probes. */
static void launch_answer(const struct request *request, struct result *result)
{
	struct record_match *match;
	struct error err = ERROR_INIT;
	int64_t seen = launch_records_change(request);

	if (record_answer_start(result, request))
		return;
	match = xcalloc(1, sizeof(*match));
	match->grade = RECORD_NONE;
	/* No record speaks of a command whose sizes are not known yet. */
	if (command_rows_are_open(&request->command)) {
		launch_probe(request, match, seen, result);
		goto out;
	}
	if (record_answer_find(match, request, &err) < 0) {
		result_refuse(result, COMMAND_USAGE, err.message);
	} else if (record_answer_use(result, match, request)) {
		/* the usual case: no probe */
		tuning_lease_clear(request);
	} else if (request->options->reuse.no_probe) {
		set_as_given(result, request->options);
	} else if (launch_lacks_copy(request)) {
		ask_for_copy(request, result);
	} else {
		launch_probe(request, match, seen, result);
	}
out:
	record_match_release(match);
	free(match);
}

/* What the probes so far say of the command whatever its numbers mean. */
static void keep_earlier(struct result *kept, const struct result *result,
			 const struct command *command)
{
	const struct probe_notes *notes = &result->record.probes;

	kept->earlier.probes_run = result->probes_run;
	kept->earlier.seconds = result->seconds;
	for (size_t i = notes->count; i > 0; i--) {
		const struct trial *trial = &notes->items[i - 1].trial;

		if (trial->steps_source != STEPS_HOOK || trial->is_forked ||
		    (!trial_fits(trial) && !trial_is_misfit(trial)) ||
		    (!command_rows_are_open(command) &&
		     (trial->micro_batch != command->batch.micro_batch ||
		      trial->grad_accum != command->batch.grad_accum)))
			continue;
		probe_notes_copy(&kept->earlier.as_given, &notes->items[i - 1]);
		return;
	}
}

/*
 * The first probes saw that the command means other sizes than its words say:
 * it is read anew, and probes see whether it is right now.
 */
static void answer_as_seen(struct request *request, struct result *result)
{
	const struct seen_meaning seen = result->seen;
	struct result *anew = xcalloc(1, sizeof(*anew));
	struct error err = ERROR_INIT;
	enum command_outcome outcome;

	keep_earlier(anew, result, &request->command);
	if (!request->options->output.quiet)
		log_warning("%s; the command is read so from here on",
			    result->message);
	outcome = request_prepare_again(request, &seen, &err);
	if (outcome != COMMAND_OK) {
		char *message =
			xasprintf("%s; but: %s", result->message, err.message);

		result_refuse(result, COMMAND_NOT_RECOGNISED, message);
		result->is_misread = false;
		free(message);
		result_release(anew);
		free(anew);
	} else {
		result_release(result);
		*result = *anew;
		free(anew);
		result_begin(result, request);
		launch_answer(request, result);
	}
	if (result->outcome == OUTCOME_NOT_RECOGNISED && request->worded)
		seen_store_forget(&request->paths, request->worded);
}

/*
 * In this order: the split of a run that is resumed, a record that holds here
 * and now, the command as it is (--no-probe), probes. Fills in job and result,
 * which the caller releases. Every process of every probe is gone then.
 */
static void answer_source_find(const struct options *options,
			       const struct process_state *state,
			       struct request *request, struct result *result)
{
	struct error err = ERROR_INIT;
	int missing = exec_command_find(options->command.items[0]);
	enum command_outcome outcome;

	memset(request, 0, sizeof(*request));
	if (missing) {
		cannot_start(result, options, missing);
		return;
	}
	outcome = request_prepare(request, options, state, &err);
	if (outcome == COMMAND_OK && options->reuse.fresh)
		seen_store_forget(&request->paths, request->identity);
	if (outcome == COMMAND_OK)
		result_begin(result, request);
	else
		set_command(result, options);
	if (request->place.world > 1)
		decide_as_rank(request, result);
	else if (outcome == COMMAND_OK)
		launch_answer(request, result);
	else if (options->reuse.no_probe &&
		 options->subcommand != SUBCOMMAND_TUNE)
		set_as_given(result, options);
	else
		result_refuse(result, outcome, err.message);
	for (int i = 0; i < READINGS_MAX && result->is_misread; i++)
		answer_as_seen(request, result);
	if (!config_copies_cover(&result->run) || may_run_copy(options))
		return;
	if (options->reuse.no_probe)
		set_as_given(result, options);
	else
		ask_for_copy(request, result);
}

static void print_report(const struct options *options,
			 const struct result *result)
{
	struct report_style style = report_style_choose(options);
	struct strbuf text = STRBUF_INIT;

	if (options->output.quiet && result->outcome <= OUTCOME_PLANNED)
		return;
	if (result->exit_code == EXIT_NOT_FOUND ||
	    result->exit_code == EXIT_CANNOT_EXECUTE) {
		strbuf_adds(&text, "autofit: ");
		text_add_safe(&text, result->message, style.ascii);
		strbuf_addch(&text, '\n');
	} else {
		report_final(&text, &style, result);
	}
	(void)fwrite(strbuf_text(&text), 1, text.length, stderr);
	(void)fflush(stderr);
	strbuf_release(&text);
}

/* A failure of autofit's, or of its probes: not one of the run's. */
static bool is_failing(const struct result *result)
{
	return result->exit_code >= EXIT_NOTHING_FITS &&
	       result->exit_code <= EXIT_AUTOFIT_FAILED;
}

/* What is to be started, and in which form; NULL: nothing. */
static const char *what_starts(const struct options *options,
			       struct result *result)
{
	if (options->subcommand == SUBCOMMAND_TUNE || result->signal_number)
		return NULL;
	if (result->outcome == OUTCOME_AS_GIVEN)
		return "as_given";
	if (result->run.argv.count && (result->outcome == OUTCOME_TUNED ||
				       result->outcome == OUTCOME_REUSED ||
				       result->outcome == OUTCOME_TIME_LIMIT))
		return "recommended";
	if (!options->reuse.otherwise_run || !is_failing(result) ||
	    result->has_written)
		return NULL;
	result_start_as_given(result, options);
	return "as_given";
}

static void say_otherwise(const struct result *result)
{
	if (result->starts && result->outcome != OUTCOME_AS_GIVEN &&
	    strcmp(result->starts, "as_given") == 0)
		(void)fputs("autofit: starting the command exactly as given "
			    "(--otherwise run)\n",
			    stderr);
}

/* The run, now or later, reads them. */
static void keep_copies(struct result *result)
{
	struct error err = ERROR_INIT;

	if (config_copies_write(&result->run, false, &err) == 0)
		return;
	result->outcome = OUTCOME_ERROR;
	result->exit_code = EXIT_AUTOFIT_FAILED;
	free(result->message);
	result->message = xstrdup(err.message);
}

/* From here on the scripts of the recommended command are their copies. */
static void lay_copies(struct result *result)
{
	struct error err = ERROR_INIT;
	char *message;

	if (config_copies_lay(&result->run, &err) == 0)
		return;
	message = xasprintf("%s, so write the line yourself: %s", err.message,
			    result->lines.items[0]);
	rewrite_release(&result->run);
	result_refuse(result, COMMAND_REFUSED, message);
	free(message);
}

/* Becomes the command, or guards it; the exit code where it returns. */
static int start_command(const struct process_state *state,
			 const struct request *request, struct result *result)
{
	bool is_guarded = request->options && request->options->reuse.guard &&
			  guard_can(request, result);

	return is_guarded ? guard_run(request, result)
			  : exec_command(state, &result->run.argv,
					 &result->run.environment);
}

int launch_command(const struct options *options,
		   const struct process_state *state)
{
	/* What is large is on the heap: a stack may be small. */
	struct result *result = xcalloc(1, sizeof(*result));
	struct request request;
	int code;

	answer_source_find(options, state, &request, result);
	keep_copies(result);
	result->starts = what_starts(options, result);
	if (result->starts && strcmp(result->starts, "recommended") == 0) {
		lay_copies(result);
		result->starts = what_starts(options, result);
	}
	print_report(options, result);
	code = result_write_json(options, result) < 0 ? EXIT_AUTOFIT_FAILED
						      : result->exit_code;
	say_otherwise(result);
	if (result->starts && strcmp(result->starts, "recommended") == 0)
		first_split_keep(&request, result);
	if (result->signal_number)
		end_signals_die(state, result->signal_number);
	else if (result->starts)
		code = start_command(state, &request, result);
	result_release(result);
	free(result);
	request_release(&request);
	return code;
}
