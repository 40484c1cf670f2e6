/* The command line of autofit: argp walks it, the table says what it means. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options.h"

#include "base/alloc.h"
#include "launcher/command/text/resume_words.h"
#include "launcher/options/options_check.h"
#include "launcher/options/options_help.h"
#include "launcher/options/options_kinds.h"
#include "launcher/options/options_layers.h"
#include "launcher/options/options_rows.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The calculators of published guides have options of their own names. */
struct option_alias {
	const char *theirs; /* "model_size_gb" */
	const char *ours;   /* name of a row of option_rows */
	const char *value;  /* of a switch, "bf16"; NULL: it takes one */
};

/*
 * utils/memory_calculator.py of LatentWire, estimate_memory.py of AGI2 and its
 * function, the configuration of nanoGPT-like models.
 */
static const struct option_alias option_aliases[] = {
	{ "model_size_gb", "model-size", NULL },
	{ "gpu_memory_gb", "gpu-memory", NULL },
	{ "num_gpus", "num-gpus", NULL },
	{ "model-embd", "hidden", NULL },
	{ "model_embd", "hidden", NULL },
	{ "model-layer", "layers", NULL },
	{ "model_layer", "layers", NULL },
	{ "model-head", "heads", NULL },
	{ "model_head", "heads", NULL },
	{ "model-positions", "positions", NULL },
	{ "model_positions", "positions", NULL },
	{ "n_embd", "hidden", NULL },
	{ "n_layer", "layers", NULL },
	{ "n_head", "heads", NULL },
	{ "batch-size", "batch", NULL },
	{ "batch_size", "batch", NULL },
	{ "seq-len", "sequence", NULL },
	{ "seq_len", "sequence", NULL },
	{ "block_size", "sequence", NULL },
	{ "mixed-precision", "precision", "bf16" },
};

#define OPTION_ALIASES (sizeof(option_aliases) / sizeof(*option_aliases))

/* getopt takes any unique beginning of a name; autofit does not. */
static bool is_abbreviated(const struct option_row *row,
			   const struct option_alias *alias, const char *word)
{
	size_t length;

	if (strncmp(word, "--", 2) != 0)
		return false;
	length = strcspn(word + 2, "=");
	if (alias)
		return strlen(alias->theirs) != length ||
		       strncmp(word + 2, alias->theirs, length) != 0;
	return option_of_name(word + 2, length) != row;
}

static int wrong_value(struct options_parsing *parsing,
		       const struct option_row *row)
{
	(void)error_prefix(parsing->err, "--%s", row->name);
	parsing->failed = true;
	return EINVAL;
}

/* Words behind --version that ask for more of it. */
static bool is_verbose(const struct argp_state *state)
{
	for (int i = 1; i < state->argc && strcmp(state->argv[i], "--") != 0;
	     i++)
		if (strcmp(state->argv[i], "-v") == 0 ||
		    strcmp(state->argv[i], "--verbose") == 0)
			return true;
	return false;
}

/* word: as it stands there, "-h" or "--help". */
static int on_print(struct options_parsing *parsing,
		    const struct option_row *row, const char *value,
		    const char *word, struct argp_state *state)
{
	if (row->kind->set(row, parsing->options, value ? value : "1",
			   parsing->err) < 0)
		return wrong_value(parsing, row);
	parsing->print = row;
	parsing->print_value = value;
	parsing->print_length =
		strncmp(word, "--", 2) == 0 ? HELP_LONG : HELP_SHORT;
	parsing->print_verbose = is_verbose(state);
	if (!value && parsing->subcommand)
		parsing->print_value = parsing->subcommand->word;
	state->next = state->argc;
	return 0;
}

/* Of two owners one is not called, whichever is: more need not be known. */
static void note_owned(struct options_parsing *parsing,
		       const struct option_row *row)
{
	const char *owner = options_owner(row);

	if (!owner)
		return;
	if (!parsing->owned[0])
		parsing->owned[0] = row;
	else if (strcmp(options_owner(parsing->owned[0]), owner) != 0)
		parsing->owned[1] = row;
}

/*
 * A forgotten value must not swallow what separates the command, nor a path
 * that was forgotten the next option: one of that name is written as ./--NAME.
 */
static bool swallows(const struct option_row *row, const char *value,
		     const char *word)
{
	bool is_path = row->argument && (strstr(row->argument, "FILE") ||
					 strstr(row->argument, "DIR"));

	return strcmp(value, "--") == 0 ||
	       (is_path && strncmp(value, "--", 2) == 0 && !strchr(word, '=') &&
		option_of_name(value + 2, strcspn(value + 2, "=")));
}

static int on_option(struct options_parsing *parsing,
		     const struct option_row *row, const char *value,
		     struct argp_state *state)
{
	const char *word = state->argv[parsing->word];

	if (is_abbreviated(row, parsing->alias, word)) {
		char *name = xstrndup(word + 2, strcspn(word + 2, "="));

		option_unknown(name, parsing->err);
		free(name);
		parsing->failed = true;
		return EINVAL;
	}
	if (!value && row->value_optional && state->next < state->argc &&
	    option_value_may_be(row, state->argv[state->next]))
		value = state->argv[state->next++];
	parsing->word = state->next;
	if (value && swallows(row, value, word))
		return options_wrong(parsing, "--%s needs a value before %s",
				     row->name, value);
	if (row->print)
		return on_print(parsing, row, value, word, state);
	note_owned(parsing, row);
	if (layers_set(&parsing->layers, row, value ? value : "1",
		       parsing->err) < 0)
		return wrong_value(parsing, row);
	return 0;
}

static int take_format(struct options_parsing *parsing, const char *word)
{
	const struct subcommand_row *row = parsing->subcommand;

	if (option_word(word, row->formats, parsing->err) < 0) {
		(void)error_prefix(parsing->err, "autofit %s", row->word);
		parsing->failed = true;
		return EINVAL;
	}
	parsing->options->export_format = xstrdup(word);
	return 0;
}

/* Which words a sub-command takes, in this order, and where they go. */
static const struct {
	size_t by, field;
} words_taken[] = {
	{ offsetof(struct subcommand_row, takes_file),
	  offsetof(struct options, import_file) },
	{ offsetof(struct subcommand_row, takes_second_file),
	  offsetof(struct options, second_file) },
	{ offsetof(struct subcommand_row, takes_preset),
	  offsetof(struct options, preset_name) },
	{ offsetof(struct subcommand_row, takes_model),
	  offsetof(struct options, estimate.model) },
	{ offsetof(struct subcommand_row, takes_card),
	  offsetof(struct options, card) },
	{ offsetof(struct subcommand_row, takes_name),
	  offsetof(struct options, record_name) },
};

/* A word after a sub-command without "--" before it. */
static int options_on_word(struct options_parsing *parsing, const char *word)
{
	const struct subcommand_row *row = parsing->subcommand;
	struct options *options = parsing->options;

	if (row->formats && !options->export_format)
		return take_format(parsing, word);
	for (size_t i = 0; i < sizeof(words_taken) / sizeof(*words_taken);
	     i++) {
		bool is_taken =
			*(const bool *)((const char *)row + words_taken[i].by);
		char **field =
			(char **)((char *)options + words_taken[i].field);

		if (is_taken && !*field) {
			*field = xstrdup(word);
			return 0;
		}
	}
	if (!row->takes_command || row->command_optional || row->takes_name ||
	    row->takes_card)
		return options_wrong(
			parsing,
			"autofit %s does not take '%.64s'; to launch a "
			"program called %s write: autofit -- %s ... (it is "
			"called as autofit %s%s%s)",
			row->word, word, row->word, row->word, row->word,
			row->arguments ? " " : "",
			row->arguments ? row->arguments : "");
	return options_wrong(
		parsing,
		"to %s: autofit %s -- command...; to launch %s write: "
		"autofit -- %s %.64s ...",
		row->word, row->word,
		row->subcommand == SUBCOMMAND_TUNE ? "torchtune"
						   : "a program of that name",
		row->word, word);
}

static int take_command(struct options_parsing *parsing,
			struct argp_state *state)
{
	const struct subcommand_row *row = parsing->subcommand;

	if (row && (!row->takes_command || parsing->options->record_name))
		return options_wrong(
			parsing, "autofit %s takes no command%s", row->word,
			parsing->options->record_name ? " after a name" : "");
	/* state->next is already past the first word. */
	for (int i = state->next - 1; i < state->argc; i++)
		strlist_add(&parsing->options->command, state->argv[i]);
	parsing->has_command = true;
	state->next = state->argc;
	return 0;
}

/* "help", "help WORD", "version" */
static int on_word_that_prints(struct options_parsing *parsing,
			       const struct subcommand_row *row,
			       struct argp_state *state)
{
	const char *next =
		state->next < state->argc ? state->argv[state->next] : NULL;
	const char *topic = next && next[0] != '-' ? next : NULL;

	parsing->print = option_of_name(row->prints, strlen(row->prints));
	parsing->print_length = topic ? HELP_LONG : HELP_SHORT;
	parsing->print_verbose = is_verbose(state);
	state->next = state->argc;
	if (topic && parsing->print->print == PRINT_HELP) {
		parsing->print_value = topic;
		if (!subcommand_of(topic)) {
			subcommand_unknown(topic, parsing->err);
			parsing->failed = true;
			return EINVAL;
		}
	} else if (topic) {
		return options_wrong(parsing,
				     "autofit %s does not take '%.64s'; to "
				     "launch a program called %s write: "
				     "autofit -- %s ...",
				     row->word, topic, row->word, row->word);
	}
	return 0;
}

static int on_argument(struct options_parsing *parsing, const char *word,
		       struct argp_state *state)
{
	/* argp skips "--"; then the word is not the one it stood at. */
	bool dashes = parsing->word < state->next - 1;
	const struct subcommand_row *row;

	parsing->word = state->next;
	if (dashes)
		return take_command(parsing, state);
	if (parsing->subcommand)
		return options_on_word(parsing, word);
	row = subcommand_of(word);
	if (!row)
		return take_command(parsing, state);
	if (row->prints)
		return on_word_that_prints(parsing, row, state);
	parsing->subcommand = row;
	return 0;
}

/* Keys of aliases lie above those of all rows. */
#define ALIAS_KEY 100000

static const struct option_alias *alias_of_key(int key)
{
	bool is_alias =
		key >= ALIAS_KEY && key < ALIAS_KEY + (int)OPTION_ALIASES;

	return is_alias ? &option_aliases[key - ALIAS_KEY] : NULL;
}

static error_t on_key(int key, char *value, struct argp_state *state)
{
	struct options_parsing *parsing = state->input;
	const struct option_row *row;
	const char *given = value;

	if (key == ARGP_KEY_ERROR) {
		if (!parsing->failed && parsing->word < state->argc) {
			option_misread(state->argv[parsing->word],
				       parsing->err);
			parsing->failed = true;
		}
		return 0;
	}
	if (key == ARGP_KEY_ARG)
		return on_argument(parsing, value, state);
	parsing->alias = alias_of_key(key);
	row = parsing->alias ? option_of_name(parsing->alias->ours,
					      strlen(parsing->alias->ours))
			     : option_of_key(key);
	if (parsing->alias && parsing->alias->value)
		given = parsing->alias->value;
	return row ? on_option(parsing, row, given, state) : ARGP_ERR_UNKNOWN;
}

static int parse_argv(struct options_parsing *parsing,
		      const struct strlist *argv)
{
	struct argp_option
		argp_options[OPTION_ROWS_MAX + OPTION_ALIASES + 1] = { { 0 } };
	const struct argp argp = { .options = argp_options, .parser = on_key };
	size_t rows = 0;
	int result;

	for (size_t i = 0; option_rows[i].name; i++) {
		argp_options[i].name = option_rows[i].name;
		argp_options[i].key = option_key(i);
		argp_options[i].arg = option_rows[i].argument;
		if (option_rows[i].value_optional)
			argp_options[i].flags = OPTION_ARG_OPTIONAL;
	}
	while (option_rows[rows].name)
		rows++;
	for (size_t i = 0; i < OPTION_ALIASES; i++) {
		argp_options[rows + i].name = option_aliases[i].theirs;
		argp_options[rows + i].key = ALIAS_KEY + (int)i;
		argp_options[rows + i].arg =
			option_aliases[i].value ? NULL : "N";
	}
	if (argv->count == 0)
		return 0;
	parsing->word = 1;
	result = argp_parse(&argp, (int)argv->count, argv->items,
			    ARGP_IN_ORDER | ARGP_SILENT, NULL, parsing);
	if (result && !parsing->failed)
		return options_wrong(parsing, "cannot read the options: %s",
				     strerror(result));
	return result;
}

static int read_files(struct options_parsing *parsing,
		      const struct options_files *files,
		      struct strlist *warnings)
{
	int result = 0;

	for (size_t i = 0; files && i < files->count && result == 0; i++)
		result = layers_read_file(&parsing->layers, &files->items[i],
					  warnings, parsing->err);
	return result;
}

static int set_initial(struct options *options, struct error *err)
{
	memset(options, 0, sizeof(*options));
	for (const struct option_row *row = option_rows; row->name; row++)
		if (row->initial &&
		    row->kind->set(row, options, row->initial, err) < 0)
			return -EINVAL;
	return 0;
}

/* The words of the first start, and those of a restart beside them. */
static void take_resume_words(struct options *options)
{
	struct strlist first = STRLIST_INIT;

	if (!resume_words(&options->command, RESUME_FIRST_START, &first) ||
	    !first.count) {
		strlist_release(&first);
		return;
	}
	(void)resume_words(&options->command, RESUME_RESTART,
			   &options->restart);
	strlist_release(&options->command);
	options->command = first;
}

/* What follows from the options together. */
static void options_settle(struct options *options)
{
	take_resume_words(options);
	if (options->card) {
		free(options->target.phantom);
		options->target.phantom = xstrdup(options->card);
		options->target.device = DEVICE_PHANTOM;
	}
	/* Its word names cards then: the command names the model. */
	if (options->estimate.phantom) {
		options->estimate.cards = options->estimate.model;
		options->estimate.model = NULL;
	}
	/* The run itself confirms what has fitted so far. */
	if (options->reuse.guard && !options->search.has_confirm_steps)
		options->search.confirm_steps = options->search.probe_steps;
}

static void print_text(struct strbuf *out,
		       const struct options_parsing *parsing, size_t columns)
{
	enum option_print what = parsing->print->print;
	const char *value = parsing->print_value;

	if (what == PRINT_HELP)
		options_help(out, value, parsing->print_length, columns);
	else if (what == PRINT_VERSION)
		options_version(out, parsing->print_verbose);
	else
		options_completion(out, value);
}

/* NOLINTNEXTLINE(readability-function-size): the places options come from */
enum options_outcome options_parse(struct options *options,
				   const struct strlist *argv,
				   const struct strlist *environment,
				   const struct options_files *files,
				   struct strlist *warnings,
				   struct strbuf *text, struct error *err)
{
	struct options_parsing parsing = { .options = options,
					   .layers.options = options,
					   .err = err };

	if (set_initial(options, err) < 0 || parse_argv(&parsing, argv))
		return OPTIONS_WRONG;
	if (parsing.print) {
		print_text(text, &parsing, files ? files->columns : 0);
		return OPTIONS_PRINT;
	}
	parsing.has_json = options->output.json != NULL;
	layers_next(&parsing.layers);
	if (!parsing.subcommand ||
	    parsing.subcommand->subcommand != SUBCOMMAND_ESTIMATE)
		layers_pass_over(&parsing.layers, GROUP_ESTIMATE);
	if (layers_read_environment(&parsing.layers, environment, warnings,
				    err) < 0 ||
	    read_files(&parsing, files, warnings) < 0 ||
	    options_check(&parsing))
		return OPTIONS_WRONG;
	options_settle(options);
	return OPTIONS_RUN;
}

void options_release(struct options *options)
{
	for (const struct option_row *row = option_rows; row->name; row++)
		if (row->kind->release)
			row->kind->release(row, options);
	strlist_release(&options->command);
	strlist_release(&options->restart);
	free(options->record_name);
	free(options->export_format);
	free(options->import_file);
	free(options->second_file);
	free(options->preset_name);
	free(options->estimate.model);
	free(options->card);
	free(options->estimate.cards);
	free(options->target.phantom);
	free(options->target.phantom_folder);
	memset(options, 0, sizeof(*options));
}
