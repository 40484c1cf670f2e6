/* `autofit -- command` and `autofit tune`: record or tuning, report, exec. */
/* SPDX-License-Identifier: MIT */
#include "launcher/launch.h"
#include "launcher/report/report_style.h"
#include "launcher/report/result_fill.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/textfile.h"
#include "configs/secrets/secrets.h"
#include "launcher/answer_source.h"
#include "launcher/command/text/text.h"
#include "launcher/options/exitcode.h"
#include "launcher/records/first_split.h"
#include "launcher/request/config_copies.h"
#include "launcher/request/exec_command.h"

#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

static void print_report(const struct options *options,
			 const struct result *result)
{
	struct report_style style = report_style_choose(options);
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
	if (!options->otherwise_run || !is_failing(result))
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

/* The run, now or later, reads them. */
static void keep_copies(struct result *result)
{
	struct error err = ERROR_INIT;

	if (config_copies_write(&result->run, &err) == 0)
		return;
	result->outcome = OUTCOME_ERROR;
	result->exit_code = EXIT_AUTOFIT_FAILED;
	free(result->message);
	result->message = xstrdup(err.message);
}

int launch_command(const struct options *options,
		   const struct process_state *state)
{
	struct result result = RESULT_INIT;
	struct request request;
	int code;

	answer_source_find(options, state, &request, &result);
	keep_copies(&result);
	result.starts = what_starts(options, &result);
	print_report(options, &result);
	code = result_write_json(options, &result) < 0 ? EXIT_AUTOFIT_FAILED
						       : result.exit_code;
	say_otherwise(&result);
	if (result.starts && strcmp(result.starts, "recommended") == 0)
		first_split_keep(&request, &result);
	if (result.signal_number)
		die_by(state, result.signal_number);
	else if (result.starts)
		code = exec_command(state, &result.run.argv,
				    &result.run.environment);
	result_release(&result);
	request_release(&request);
	return code;
}
