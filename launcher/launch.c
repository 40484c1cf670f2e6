/* `autofit -- command` and `autofit tune`: record or tuning, report, exec. */
/* SPDX-License-Identifier: MIT */
#include "launcher/launch.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/textfile.h"
#include "configs/record.h"
#include "launcher/exitcode.h"
#include "launcher/guard.h"
#include "launcher/run.h"
#include "launcher/session.h"
#include "launcher/target.h"
#include "launcher/text.h"

#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

struct report_style launch_style(const struct options *options)
{
	const char *term = getenv("TERM");
	bool dumb = !term || strcmp(term, "dumb") == 0;
	bool tty = isatty(STDERR_FILENO) != 0;
	struct report_style style = { .columns = 80 };
	struct winsize size;

	style.live = tty && !dumb && !is_set("CI");
	style.color = tty && !dumb && !is_set("NO_COLOR");
	if (options->color != COLOR_AUTO)
		style.color = options->color == COLOR_ALWAYS;
	style.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	if (tty && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 &&
	    size.ws_col > 0)
		style.columns = size.ws_col;
	return style;
}

int launch_write_json(const struct options *options,
		      const struct result *result)
{
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int code = 0;

	if (!options->json)
		return 0;
	result_json(result, &text);
	if (strcmp(options->json, "-") == 0) {
		if (fwrite(strbuf_text(&text), 1, text.length, stdout) !=
			    text.length ||
		    fflush(stdout) != 0)
			code = error_set_errno(&err, -errno,
					       "cannot write to stdout");
	} else {
		code = textfile_replace(options->json, 0644, strbuf_text(&text),
					text.length, &err);
	}
	if (code < 0)
		log_error("--json: %s", err.message);
	strbuf_release(&text);
	return code;
}

static void set_text(char **slot, const char *text)
{
	free(*slot);
	*slot = text ? xstrdup(text) : NULL;
}

void launch_begin_result(struct result *result, const struct job *job)
{
	const struct command *command = &job->command;
	struct record *record = &result->record;

	strlist_add_all(&record->argv, (const char *const *)command->argv.items,
			command->argv.count);
	set_text(&record->identity, job->identity);
	set_text(&record->subject, job->subject);
	set_text(&record->preset, command->preset->name);
	set_text(&record->autofit_version, AUTOFIT_VERSION);
	set_text(&result->assumption, command->assumption);
	record->effective_batch_asked = job->effective_batch;
	record->world_size = command->world_size;
	result->own_micro_batch = command->micro_batch;
	result->own_grad_accum = command->grad_accum;
	result->grow = job->options->effective == EFFECTIVE_GROW;
	if (command->knobs[KNOB_ACCUM].form != KNOB_ABSENT)
		result->accum_name = command->knobs[KNOB_ACCUM].name;
}

void launch_refuse(struct result *result, enum command_outcome outcome,
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

/* Is there room now for what the record needs? */
static bool holds_now(const struct job *job, const struct record *record)
{
	const struct host_roots roots = { "/proc", "/sys/fs/cgroup" };
	struct host_budget budget;

	if (strcmp(record->device_kind, "host") != 0)
		return true;
	if (host_budget_read(&budget, job->options->memory_bytes, &roots,
			     NULL) < 0)
		return false;
	return record->peak_bytes <= budget.budget_bytes;
}

/*
 * A file can be edited, and `tune` records the largest safe size where no
 * exact split fits: only a split that keeps what was asked for is used.
 */
static bool keeps_batch(const struct job *job, const struct record *record)
{
	const struct options *options = job->options;
	int64_t micro = record->micro_batch;
	int64_t effective;

	if (micro < 1 || record->grad_accum < 1 || record->world_size < 1 ||
	    micro > options->max_micro ||
	    micro % options->micro_multiple_of != 0 ||
	    record->world_size != job->command.world_size ||
	    __builtin_mul_overflow(micro, record->grad_accum, &effective) ||
	    __builtin_mul_overflow(effective, record->world_size, &effective))
		return false;
	return options->subcommand == SUBCOMMAND_TUNE ||
	       options->effective == EFFECTIVE_GROW || !job->effective_batch ||
	       effective == job->effective_batch;
}

int launch_find_record(const struct job *job, struct result *result)
{
	struct record found = RECORD_INIT;
	struct error err = ERROR_INIT;
	int result_code;

	if (job->options->fresh)
		return 0;
	result_code =
		record_find(&found, job->paths.records, job->identity, &err);
	if (result_code < 0)
		log_warning("a record is passed over: %s", err.message);
	/* `tune` also wants the largest size, which a launch may not know. */
	if (result_code <= 0 || !keeps_batch(job, &found) ||
	    !holds_now(job, &found) ||
	    (job->options->subcommand == SUBCOMMAND_TUNE &&
	     !found.largest_micro_batch)) {
		record_release(&found);
		return 0;
	}
	record_release(&result->record);
	result->record = found;
	result->outcome = OUTCOME_REUSED;
	result->exit_code = EXIT_DONE;
	result->record_grade = "exact";
	result->record_path =
		xasprintf("%s/%s.ini", job->paths.records, found.id);
	session_set_command(result, job, found.micro_batch, found.grad_accum);
	return 1;
}

static void as_given(struct result *result, const struct job *job)
{
	result->outcome = OUTCOME_AS_GIVEN;
	result->exit_code = EXIT_DONE;
	strlist_add_all(&result->run_argv,
			(const char *const *)job->options->command.items,
			job->options->command.count);
}

/* Every process that a killed keeper leaves comes to autofit. */
static void tune_on(const struct job *job, struct target *target,
		    struct guard *guard, struct result *result)
{
	struct report_style style = launch_style(job->options);

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	session_tune(job, target, guard, &style, result);
	(void)prctl(PR_SET_CHILD_SUBREAPER, job->state->subreaper, 0, 0, 0);
}

static void tune(const struct job *job, struct result *result)
{
	struct guard guard = { .count = 0 };
	struct error err = ERROR_INIT;
	struct target target;
	bool waited = false;
	int code = target_open(&target, job->options, job->command.world_size,
			       &err);

	if (code == 0)
		code = guard_take(&guard, job, &target, &waited, &err);
	if (code < 0)
		launch_refuse(result,
			      code == -EBUSY ? COMMAND_REFUSED : COMMAND_USAGE,
			      err.message);
	/* Whom we waited for may have tuned this very command. */
	else if (!waited || !launch_find_record(job, result))
		tune_on(job, &target, &guard, result);
	guard_release(&guard);
	target_release(&target);
}

static void cannot_start(struct result *result, const struct options *options,
			 int error_number)
{
	strlist_add_all(&result->record.argv,
			(const char *const *)options->command.items,
			options->command.count);
	result->outcome = OUTCOME_COMMAND_FAILED;
	result->exit_code =
		error_number == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
	result->message =
		xasprintf("cannot run '%s': %s", options->command.items[0],
			  strerror(error_number));
}

static void decide(const struct options *options,
		   const struct process_state *state, struct job *job,
		   struct result *result)
{
	struct error err = ERROR_INIT;
	int missing = run_find(options->command.items[0]);
	enum command_outcome outcome;

	memset(job, 0, sizeof(*job));
	if (missing) {
		cannot_start(result, options, missing);
		return;
	}
	outcome = job_prepare(job, options, state, &err);
	if (outcome != COMMAND_OK) {
		strlist_add_all(&result->record.argv,
				(const char *const *)options->command.items,
				options->command.count);
		launch_refuse(result, outcome, err.message);
		return;
	}
	launch_begin_result(result, job);
	if (launch_find_record(job, result))
		return;
	if (options->no_probe)
		as_given(result, job);
	else
		tune(job, result);
}

static void print_report(const struct options *options,
			 const struct result *result)
{
	struct report_style style = launch_style(options);
	struct strbuf text = STRBUF_INIT;

	if (options->quiet && result->outcome <= OUTCOME_PLANNED)
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

static bool starts_command(const struct options *options,
			   const struct result *result)
{
	if (options->subcommand == SUBCOMMAND_TUNE || !result->run_argv.count)
		return false;
	return result->outcome == OUTCOME_TUNED ||
	       result->outcome == OUTCOME_REUSED ||
	       result->outcome == OUTCOME_AS_GIVEN ||
	       result->outcome == OUTCOME_TIME_LIMIT;
}

/* A signal that ends autofit ends it by that signal, without a core file. */
static void die_by(const struct process_state *state, int number)
{
	const struct rlimit no_core = { 0, 0 };

	(void)fflush(NULL);
	(void)setrlimit(RLIMIT_CORE, &no_core);
	process_state_restore(state);
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

int launch_command(const struct options *options,
		   const struct process_state *state)
{
	struct result result = RESULT_INIT;
	struct job job;
	int code;

	decide(options, state, &job, &result);
	print_report(options, &result);
	code = launch_write_json(options, &result) < 0 ? EXIT_AUTOFIT_FAILED
						       : result.exit_code;
	if (result.signal_number)
		die_by(state, result.signal_number);
	else if (starts_command(options, &result))
		code = run_command(state, &result.run_argv, &result.run_env);
	result_release(&result);
	job_release(&job);
	return code;
}
