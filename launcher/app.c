/* The program: options in, one sub-command run, an exit code out. */
/* SPDX-License-Identifier: MIT */
#include "launcher/app.h"

#include "base/log.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "launcher/command/text/placeholder.h"
#include "launcher/command/text/text.h"
#include "launcher/complete.h"
#include "launcher/devices/devices.h"
#include "launcher/devices/devices_check.h"
#include "launcher/devices/devices_watch.h"
#include "launcher/doctor/doctor.h"
#include "launcher/estimate/estimate.h"
#include "launcher/explain.h"
#include "launcher/launch.h"
#include "launcher/nightly/diff.h"
#include "launcher/nightly/nightly.h"
#include "launcher/options/exitcode.h"
#include "launcher/options/options.h"
#include "launcher/options/options_files.h"
#include "launcher/pages/pages.h"
#include "launcher/phantom/phantom_command.h"
#include "launcher/phantom/phantom_folder.h"
#include "launcher/presets.h"
#include "launcher/records/records.h"
#include "launcher/report/report_answer.h"
#include "launcher/report/report_style.h"
#include "launcher/request/exec_command.h"
#include "launcher/survey/survey.h"
#include "probes/nodes/node_rank.h"
#include "probes/nodes/node_report.h"
#include "probes/observers/selftest/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int subcommand_run(const struct options *options,
			   const struct process_state *state);

static int devices_run(const struct options *options,
		       const struct process_state *state)
{
	struct strlist environment = STRLIST_INIT;
	int code;

	for (char **item = environ; item && *item; item++)
		strlist_add(&environment, *item);
	if (options->devices.check)
		code = devices_check_command(options, &environment, state);
	else if (options->times.watch_ms)
		code = devices_watch_command(options, &environment, state);
	else
		code = devices_command(options, &environment);
	strlist_release(&environment);
	return code;
}

static int presets_run(const struct options *options,
		       const struct process_state *state)
{
	struct strlist environment = STRLIST_INIT;
	int code;

	(void)state;
	for (char **item = environ; item && *item; item++)
		strlist_add(&environment, *item);
	code = presets_command(options, &environment);
	strlist_release(&environment);
	return code;
}

static int estimate_run(const struct options *options,
			const struct process_state *state)
{
	return options->estimate.phantom ? survey_command(options, state)
					 : estimate_command(options, state);
}

static subcommand_run *const subcommands[] = {
	[SUBCOMMAND_LAUNCH] = launch_command,
	[SUBCOMMAND_TUNE] = launch_command,
	[SUBCOMMAND_EXPLAIN] = explain_command,
	[SUBCOMMAND_DEVICES] = devices_run,
	[SUBCOMMAND_SHOW] = records_show_command,
	[SUBCOMMAND_LOWER] = records_lower_command,
	[SUBCOMMAND_FORGET] = records_forget_command,
	[SUBCOMMAND_EXPORT] = records_export_command,
	[SUBCOMMAND_IMPORT] = records_import_command,
	[SUBCOMMAND_PRESETS] = presets_run,
	[SUBCOMMAND_ESTIMATE] = estimate_run,
	[SUBCOMMAND_NIGHTLY] = nightly_command,
	[SUBCOMMAND_DIFF] = diff_command,
	[SUBCOMMAND_PHANTOM] = phantom_command,
	[SUBCOMMAND_DOCTOR] = doctor_command,
	[SUBCOMMAND_REPORT] = pages_command,
};

/* Inside a probe autofit is nothing but its command, or stands in front of a
 * rank that srun has started. */
static int become_command(const struct options *options,
			  const struct process_state *state)
{
	const struct strlist nothing = STRLIST_INIT;
	const char *ranks = getenv(NODE_VARIABLE);

	if (!options->command.count) {
		log_error("inside a probe autofit only starts commands "
			  "(AUTOFIT_PROBE is set)");
		return EXIT_AUTOFIT_FAILED;
	}
	return ranks ? node_rank_run(state, ranks, &options->command)
		     : exec_command(state, &options->command, &nothing);
}

static bool is_probe(void)
{
	return getenv("AUTOFIT_PROBE") != NULL;
}

static void print_warnings(const struct strlist *warnings)
{
	for (size_t i = 0; i < warnings->count; i++)
		log_warning("%s", warnings->items[i]);
}

/* Before hours are spent on what is to stand there. */
static bool app_can_write(const char *option, const char *path)
{
	struct error err = ERROR_INIT;

	if (!path || strcmp(path, "-") == 0 ||
	    textfile_can_give(path, &err) == 0)
		return true;
	log_error("%s: %s", option, err.message);
	return false;
}

static int run_subcommand(const struct options *options,
			  const struct process_state *state,
			  const struct strlist *warnings)
{
	if (options->output.quiet)
		log_set_level(LOG_LEVEL_QUIET);
	else if (options->output.verbose)
		log_set_level(LOG_LEVEL_VERBOSE);
	print_warnings(warnings);
	if (is_probe())
		return become_command(options, state);
	if (!app_can_write("--json", options->output.json) ||
	    !app_can_write("--html", options->report.html))
		return EXIT_AUTOFIT_FAILED;
	return subcommands[options->subcommand](options, state);
}

static int wrong_usage(const struct strlist *arguments,
		       const struct strlist *environment,
		       const struct process_state *state,
		       const struct error *err)
{
	const struct strlist nothing = STRLIST_INIT;
	struct strlist command = STRLIST_INIT;
	struct strlist present = STRLIST_INIT;
	struct strbuf message = STRBUF_INIT;
	int code = EXIT_AUTOFIT_FAILED;

	if (options_otherwise(arguments, environment, &command)) {
		text_add_safe(&message, err->message, true);
		(void)fprintf(stderr,
			      "autofit: %s; starting the command as given "
			      "(--otherwise run)\n",
			      strbuf_text(&message));
		placeholders_present(&command, &present);
		code = exec_command(state, &present, &nothing);
	} else {
		log_error("%s", err->message);
	}
	strbuf_release(&message);
	strlist_release(&present);
	strlist_release(&command);
	return code;
}

/* A line of autofit that is no question of a shell's completion. */
static int run_line(const struct strlist *arguments,
		    const struct strlist *environment,
		    const struct process_state *state)
{
	struct strlist warnings = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct options_files_read read = { .count = 0 };
	struct options_files files;
	enum options_outcome outcome;
	struct options options;
	int code = EXIT_AUTOFIT_FAILED;

	if (!is_probe())
		options_files_read(&read, environment, &warnings);
	files = (struct options_files){ read.items, read.count,
					report_width() };
	outcome = options_parse(&options, arguments, environment, &files,
				&warnings, &text, &err);
	if (outcome == OPTIONS_RUN && !is_probe() &&
	    options_find_model(&options, environment, &warnings, &err) < 0) {
		/* A line that was passed over may be why. */
		print_warnings(&warnings);
		outcome = OPTIONS_WRONG;
	}
	if (outcome == OPTIONS_RUN && !is_probe() && options.target.phantom &&
	    phantom_folder_open(&options, environment, &err) < 0)
		outcome = OPTIONS_WRONG;
	switch (outcome) {
	case OPTIONS_RUN:
		code = run_subcommand(&options, state, &warnings);
		break;
	case OPTIONS_PRINT:
		code = report_print(&text, EXIT_DONE);
		break;
	case OPTIONS_WRONG:
		code = wrong_usage(arguments, environment, state, &err);
		break;
	}
	phantom_folder_close(&options);
	options_release(&options);
	options_files_release(&read);
	strbuf_release(&text);
	strlist_release(&warnings);
	return code;
}

int app_run(const struct process_state *state, int argc, char **argv)
{
	struct strlist arguments = STRLIST_INIT;
	struct strlist environment = STRLIST_INIT;
	int code;

	/* Started by `devices --check`; no option that people give either. */
	if (argc > 1 && strcmp(argv[1], SELFTEST_WORD) == 0)
		return selftest_serve((const char *const *)argv + 2,
				      (size_t)argc - 2);
	for (int i = 0; i < argc; i++)
		strlist_add(&arguments, argv[i]);
	for (char **item = environ; item && *item; item++)
		strlist_add(&environment, *item);
	/* Asked by scripts/completion/; no option that people give. */
	if (argc > 1 && strcmp(argv[1], "--complete") == 0) {
		strlist_remove(&arguments, 0);
		strlist_remove(&arguments, 0);
		code = complete_command(&arguments, &environment);
	} else {
		code = run_line(&arguments, &environment, state);
	}
	strlist_release(&environment);
	strlist_release(&arguments);
	return code;
}
