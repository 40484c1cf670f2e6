/* What only the whole command line can tell. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int options_wrong(struct options_parsing *parsing, const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	(void)error_set(parsing->err, -EINVAL, "%s",
			text ? text : "wrong usage");
	free(text);
	parsing->failed = true;
	return EINVAL;
}

const char *options_owner(const struct option_row *row)
{
	return row->group >= GROUP_ESTIMATE ? "estimate" : row->only_of;
}

/* The word that the sub-command is about, and that is not there; NULL: none. */
static const char *missing_word(const struct options_parsing *parsing)
{
	const struct subcommand_row *row = parsing->subcommand;
	const struct options *options = parsing->options;

	if (row->formats && !options->export_format)
		return "format";
	if (row->takes_file && !options->import_file && !options->nightly.init)
		return "file";
	if (row->takes_second_file && !options->second_file)
		return "second file";
	return row->takes_card && !options->card ? "card" : NULL;
}

static int check_subcommand(struct options_parsing *parsing)
{
	const struct subcommand_row *row = parsing->subcommand;
	const struct options *options = parsing->options;
	const char *missing = missing_word(parsing);

	if (missing)
		return options_wrong(parsing, "no %s given: autofit %s %s",
				     missing, row->word, row->arguments);
	if (row->needs_subject && !options->record_name &&
	    !parsing->has_command && !options->report.nightly)
		return options_wrong(
			parsing,
			"no record given: autofit %s %s, or -- command... "
			"instead of NAME (autofit show lists them)",
			row->word, row->arguments);
	if (parsing->has_json && !row->takes_json)
		return options_wrong(
			parsing,
			"autofit %s takes no --json; a record as JSON: "
			"autofit export json NAME",
			row->word);
	if (parsing->has_command && row->subcommand == SUBCOMMAND_DEVICES &&
	    !options->times.watch_ms && !options->devices.check)
		return options_wrong(
			parsing, "autofit devices takes a command only with "
				 "--watch or --check");
	if (options->devices.check && options->times.watch_ms)
		return options_wrong(
			parsing,
			"autofit devices takes --check or --watch, not both");
	if (row->changes && options->subcommand == SUBCOMMAND_EXPLAIN)
		return options_wrong(parsing, "autofit %s takes no --dry-run",
				     row->word);
	if (!parsing->has_command && row->takes_command &&
	    !row->command_optional && !row->takes_name)
		return options_wrong(parsing, "no command given: autofit %s %s",
				     row->word, row->arguments);
	return 0;
}

/* On a phantom card nothing runs for real, and nothing is fast or slow. */
static int check_phantom(struct options_parsing *parsing)
{
	const struct options *options = parsing->options;

	if (options->target.device != DEVICE_PHANTOM)
		return 0;
	if (options->subcommand != SUBCOMMAND_TUNE &&
	    options->subcommand != SUBCOMMAND_PHANTOM)
		return options_wrong(
			parsing,
			"--device phantom:%.64s answers without a "
			"card, and nothing can run on it: autofit tune "
			"--device phantom:%.64s -- command...",
			options->target.phantom, options->target.phantom);
	if (options->search.fastest)
		return options_wrong(parsing,
				     "--objective fastest: a phantom card "
				     "computes nothing, so nothing on it is "
				     "fast or slow");
	return 0;
}

/* By runs of a command, not by a formula. */
static int check_phantom_cards(struct options_parsing *parsing)
{
	const struct estimate_request *request = &parsing->options->estimate;

	if (!request->phantom)
		return 0;
	if (!parsing->has_command)
		return options_wrong(parsing,
				     "--phantom runs a command on phantom "
				     "cards: autofit estimate --phantom "
				     "[CARD,...] -- command...");
	if (request->compare || request->generation || request->fit ||
	    request->need || request->profile)
		return options_wrong(parsing, "--phantom makes a table of its "
					      "own: leave out the other one");
	return 0;
}

/* Options that belong to another sub-command than the one that is called. */
static int check_owned(struct options_parsing *parsing)
{
	const struct subcommand_row *called = parsing->subcommand;

	for (size_t i = 0; i < 2 && parsing->owned[i]; i++) {
		const char *owner = options_owner(parsing->owned[i]);

		if (!called || strcmp(called->word, owner) != 0)
			return options_wrong(parsing,
					     "--%s belongs to autofit %s",
					     parsing->owned[i]->name, owner);
	}
	return 0;
}

int options_check(struct options_parsing *parsing)
{
	const struct subcommand_row *row = parsing->subcommand;
	struct options *options = parsing->options;

	if (row && check_subcommand(parsing))
		return EINVAL;
	if (check_owned(parsing))
		return EINVAL;
	if (row && row->subcommand == SUBCOMMAND_NIGHTLY)
		options->nightly.is_dry_run =
			options->subcommand == SUBCOMMAND_EXPLAIN;
	/* --dry-run makes an explanation of what would tune or launch. */
	if (row && (row->subcommand != SUBCOMMAND_TUNE ||
		    options->subcommand == SUBCOMMAND_LAUNCH))
		options->subcommand = row->subcommand;
	if (!parsing->has_command && !row)
		return options_wrong(
			parsing, "no command given: autofit -- python train.py "
				 "... (autofit --help says more)");
	if (check_phantom(parsing) || check_phantom_cards(parsing))
		return EINVAL;
	if (options->subcommand == SUBCOMMAND_LAUNCH && options->output.json &&
	    strcmp(options->output.json, "-") == 0)
		return options_wrong(parsing, "--json -: stdout belongs to the "
					      "command; use --json FILE");
	return 0;
}
