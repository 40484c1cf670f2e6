/* The program: options in, one sub-command run, an exit code out. */
/* SPDX-License-Identifier: MIT */
#include "launcher/app.h"

#include "base/log.h"
#include "base/strbuf.h"
#include "launcher/devices.h"
#include "launcher/exitcode.h"
#include "launcher/explain.h"
#include "launcher/launch.h"
#include "launcher/options.h"
#include "launcher/records.h"
#include "launcher/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int subcommand_run(const struct options *options,
			   const struct process_state *state);

static int devices_run(const struct options *options,
		       const struct process_state *state)
{
	struct strlist environment = STRLIST_INIT;
	int code;

	(void)state;
	for (char **item = environ; item && *item; item++)
		strlist_add(&environment, *item);
	code = devices_command(options, &environment);
	strlist_release(&environment);
	return code;
}

static subcommand_run *const subcommands[] = {
	[SUBCOMMAND_LAUNCH] = launch_command,
	[SUBCOMMAND_TUNE] = launch_command,
	[SUBCOMMAND_EXPLAIN] = explain_command,
	[SUBCOMMAND_DEVICES] = devices_run,
	[SUBCOMMAND_SHOW] = records_show_command,
};

/* Inside a probe autofit is nothing but its command. */
static int become_command(const struct options *options,
			  const struct process_state *state)
{
	const struct strlist nothing = STRLIST_INIT;

	if (!options->command.count) {
		log_error("inside a probe autofit only starts commands "
			  "(AUTOFIT_PROBE is set)");
		return EXIT_AUTOFIT_FAILED;
	}
	return run_command(state, &options->command, &nothing);
}

static int run_subcommand(const struct options *options,
			  const struct process_state *state)
{
	if (options->quiet)
		log_set_level(LOG_LEVEL_QUIET);
	else if (options->verbose)
		log_set_level(LOG_LEVEL_VERBOSE);
	if (getenv("AUTOFIT_PROBE"))
		return become_command(options, state);
	return subcommands[options->subcommand](options, state);
}

int app_run(const struct process_state *state, int argc, char **argv)
{
	struct strlist arguments = STRLIST_INIT;
	struct strlist environment = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct options options;
	int code = EXIT_AUTOFIT_FAILED;

	for (int i = 0; i < argc; i++)
		strlist_add(&arguments, argv[i]);
	for (char **item = environ; item && *item; item++)
		strlist_add(&environment, *item);
	switch (options_parse(&options, &arguments, &environment, NULL, NULL,
			      &text, &err)) {
	case OPTIONS_RUN:
		code = run_subcommand(&options, state);
		break;
	case OPTIONS_PRINT:
		code = fputs(strbuf_text(&text), stdout) < 0 ||
				       fflush(stdout) != 0
			       ? EXIT_AUTOFIT_FAILED
			       : EXIT_DONE;
		break;
	case OPTIONS_WRONG:
		log_error("%s", err.message);
		break;
	}
	options_release(&options);
	strbuf_release(&text);
	strlist_release(&environment);
	strlist_release(&arguments);
	return code;
}
