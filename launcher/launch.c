/* `autofit -- command` and `autofit tune`: record or tuning, report, exec. */
/* SPDX-License-Identifier: MIT */
#include "launcher/launch.h"

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

void launch_begin_result(struct result *result, const struct request *request)
{
	const struct command *command = &request->command;
	struct record *record = &result->record;

	secrets_mask_argv(&record->argv, &command->given);
	set_text(&record->identity, request->identity);
	set_text(&record->subject, request->subject);
	set_text(&record->preset, command->preset->name);
	set_text(&record->autofit_version, AUTOFIT_VERSION);
	set_text(&result->assumption, command->assumption);
	record->effective_batch_asked = request->effective_batch;
	record->world_size = command->world_size;
	result->own_micro_batch = command->micro_batch;
	result->own_grad_accum = command->grad_accum;
	result->grow = request->options->effective == EFFECTIVE_GROW;
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

void launch_as_given(struct result *result, const struct options *options)
{
	rewrite_release(&result->run);
	strlist_add_all(&result->run.argv,
			(const char *const *)options->command.items,
			options->command.count);
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
	launch_as_given(result, options);
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
	set_text(&result->message, err.message);
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
	code = launch_write_json(options, &result) < 0 ? EXIT_AUTOFIT_FAILED
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
