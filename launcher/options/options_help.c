/* Texts that options print: the help, and the scripts of shells. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_help.h"

#include "configs/files/builtin.h"
#include "launcher/command/text/text.h"
#include "launcher/options/options_kinds.h"
#include "launcher/options/options_rows.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define HELP_COLUMNS 79
#define HELP_INDENT 28

static const char help_usage[] =
	"Usage: autofit [options] [--] command...\n"
	"       autofit tune [options] -- command...\n"
	"\n"
	"Finds the largest batch size of a training command that is safe in\n"
	"memory by short probes of that very command, records it, and becomes\n"
	"the command. The next time no probe is needed. The effective batch\n"
	"(micro x accum x world) stays what the command asks for.\n"
	"\n"
	"Sub-commands:\n";

static const char help_places[] =
	"\n"
	"Every option can be set as a variable: --max-micro as "
	"AUTOFIT_MAX_MICRO,\n"
	"and nearly every one in a file: ./.autofit.ini, autofit.ini of the "
	"user, of the\n"
	"site. The first word that is no option begins the command. Where a "
	"NAME stands,\n"
	"-- command... means the record of that command.\n"
	"\n"
	"Exit codes: the command's own when it ran; else\n";

static const char help_examples[] =
	"\n"
	"Examples:\n"
	"  autofit -- python train.py --batch-size 8 --grad-accum 16\n"
	"  autofit tune --device host --memory 8G --json result.json -- \\\n"
	"      python train.py --batch-size 8\n";

static const char help_more[] =
	"\n"
	"autofit --help lists everything; autofit help WORD is about one "
	"sub-command.\n"
	"Manual: man autofit, docs/manual.md\n";

static const char help_estimate[] =
	"Usage: autofit estimate [options] [MODEL]\n"
	"       autofit estimate [options] -- command...\n"
	"\n"
	"Says what memory training or generation takes on a GPU, part by part, "
	"with\n"
	"an interval; no GPU is needed. MODEL is a config.json or its folder, "
	"a "
	"file of\n"
	"weights (safetensors), a TOML, YAML, JSON or INI file of its numbers, "
	"a "
	"name in\n"
	"the local hub cache, or a well-known one such as llama-3.1-8b. Of a "
	"training\n"
	"command the model and the sizes are read. Also used: --as NAME (a "
	"GPU),\n"
	"--effective-batch N, --preset, --json, --color.\n";

static const char help_estimate_examples[] =
	"\n"
	"Examples:\n"
	"  autofit estimate --lora 16 --sequence 1024 --as rtx4090 "
	"llama-3.1-8b\n"
	"  autofit estimate --fit 24GiB\n"
	"  autofit estimate --need llama-3.1-8b\n"
	"  autofit estimate -- python train.py --model_name_or_path gpt2 \\\n"
	"          --per_device_train_batch_size 8\n";

/* Words of text from HELP_INDENT on, broken before HELP_COLUMNS. */
static void help_add_words(struct strbuf *out, size_t column, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, " ");

		if (column > HELP_INDENT &&
		    column + 1 + length > HELP_COLUMNS) {
			strbuf_addf(out, "\n%*s", HELP_INDENT, "");
			column = HELP_INDENT;
		} else if (column > HELP_INDENT) {
			strbuf_addch(out, ' ');
			column++;
		}
		strbuf_add(out, text, length);
		column += length;
		text += length;
		text += strspn(text, " ");
	}
	strbuf_addch(out, '\n');
}

/* The head stands alone when it reaches into the column of the words. */
static void help_add_entry(struct strbuf *out, const char *head,
			   const char *doc)
{
	strbuf_adds(out, head);
	if (strlen(head) + 2 > HELP_INDENT)
		strbuf_addf(out, "\n%*s", HELP_INDENT, "");
	else
		strbuf_addf(out, "%*s", HELP_INDENT - (int)strlen(head), "");
	help_add_words(out, HELP_INDENT, doc);
}

static void help_add_option(struct strbuf *out, const struct option_row *row)
{
	struct strbuf head = STRBUF_INIT;
	struct strbuf doc = STRBUF_INIT;

	if (row->letter)
		strbuf_addf(&head, "  -%c, ", row->letter);
	else
		strbuf_adds(&head, "      ");
	strbuf_addf(&head, "--%s", row->name);
	if (row->argument)
		strbuf_addf(&head, " %s", row->argument);
	strbuf_adds(&doc, row->doc);
	if (row->initial)
		strbuf_addf(&doc, " [%s]", row->initial);
	help_add_entry(out, strbuf_text(&head), strbuf_text(&doc));
	strbuf_release(&head);
	strbuf_release(&doc);
}

static void add_subcommand(struct strbuf *out, const struct subcommand_row *row)
{
	struct strbuf head = STRBUF_INIT;

	strbuf_addf(&head, "  %s", row->word);
	if (row->arguments)
		strbuf_addf(&head, " %s", row->arguments);
	help_add_entry(out, strbuf_text(&head), row->doc);
	strbuf_release(&head);
}

/* In the short help of what tunes. */
static const char *const usual_options[] = {
	"device",     "memory",     "headroom",   "effective-batch",
	"grow",       "objective",  "micro-flag", "accum-flag",
	"max-probes", "time-limit", "fresh",      "no-probe",
	"json",       "quiet",      "verbose",    "help",
	NULL
};

static bool is_usual(const struct option_row *row)
{
	for (size_t i = 0; usual_options[i]; i++)
		if (strcmp(usual_options[i], row->name) == 0)
			return true;
	return false;
}

/* Of a sub-command, or of a launch where there is none. */
static bool help_has_option(const struct subcommand_row *subcommand,
			    const struct option_row *row)
{
	unsigned groups =
		subcommand ? subcommand->groups : (1U << GROUP_ESTIMATE) - 1;

	if (subcommand && !subcommand->takes_json &&
	    strcmp(row->name, "json") == 0)
		return false;
	if (subcommand && (row->print == PRINT_COMPLETION ||
			   (!groups && row->kind == &kind_explain)))
		return false;
	/* The help of estimate names those of the others that it uses. */
	if (row->group == GROUP_OUTPUT)
		return !(groups & GROUPS_OF_ESTIMATE);
	if (row->only_of && subcommand)
		return strcmp(row->only_of, subcommand->word) == 0;
	return groups & (1U << row->group);
}

static void add_groups(struct strbuf *out,
		       const struct subcommand_row *subcommand)
{
	for (size_t group = 0; group < GROUP_COUNT; group++) {
		bool has_title = false;

		for (const struct option_row *row = option_rows; row->name;
		     row++) {
			if (row->group != group ||
			    !help_has_option(subcommand, row))
				continue;
			if (!has_title)
				strbuf_addf(out, "\n%s:\n",
					    option_group_titles[group]);
			has_title = true;
			help_add_option(out, row);
		}
	}
}

static void help_add_usual(struct strbuf *out,
			   const struct subcommand_row *subcommand)
{
	strbuf_adds(out, "\nOptions used most:\n");
	for (const struct option_row *row = option_rows; row->name; row++)
		if (is_usual(row) && help_has_option(subcommand, row))
			help_add_option(out, row);
}

static void add_subcommands(struct strbuf *out)
{
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++)
		if (!row->is_hidden)
			add_subcommand(out, row);
}

static void help_of_autofit(struct strbuf *out, enum help_length length)
{
	strbuf_adds(out, help_usage);
	add_subcommands(out);
	if (length == HELP_SHORT) {
		help_add_usual(out, NULL);
		strbuf_adds(out, help_more);
		return;
	}
	add_groups(out, NULL);
	strbuf_adds(out, help_places);
	for (const struct exit_row *row = exit_rows; row->doc; row++)
		strbuf_addf(out, "  %3d  %s\n", row->code, row->doc);
	strbuf_adds(out, help_examples);
}

static void help_of_estimate(struct strbuf *out, enum help_length length,
			     const struct subcommand_row *row)
{
	strbuf_adds(out, help_estimate);
	if (length == HELP_LONG)
		add_groups(out, row);
	strbuf_adds(out, help_estimate_examples);
	if (length == HELP_SHORT)
		strbuf_adds(out, "\nautofit estimate --help lists its "
				 "options.\n");
}

static void help_of_subcommand(struct strbuf *out, enum help_length length,
			       const struct subcommand_row *row)
{
	bool is_short = length == HELP_SHORT && row->groups;

	strbuf_addf(out, "Usage: autofit %s [options] %s\n\n", row->word,
		    row->arguments);
	text_add_wrapped(out, row->doc, 0, HELP_COLUMNS);
	strbuf_addch(out, '\n');
	if (is_short)
		help_add_usual(out, row);
	else
		add_groups(out, row);
	if (is_short)
		strbuf_addf(out, "\nautofit %s --help lists all of them.\n",
			    row->word);
	else if (row->takes_name)
		strbuf_adds(out, "\n-- command... instead of NAME means the "
				 "record of that command, read with the\n"
				 "options of autofit tune.\n");
}

void options_help(struct strbuf *out, const char *word, enum help_length length)
{
	const struct subcommand_row *row = word ? subcommand_of(word) : NULL;

	if (!row || row->prints)
		help_of_autofit(out, length);
	else if (row->subcommand == SUBCOMMAND_ESTIMATE)
		help_of_estimate(out, length, row);
	else
		help_of_subcommand(out, length, row);
}

void options_version(struct strbuf *out, bool is_verbose)
{
	strbuf_addf(out, "autofit %s\n", AUTOFIT_VERSION);
	if (is_verbose)
		strbuf_addf(out, "built with %s\ncompiler %s\n",
			    AUTOFIT_LIBRARIES, __VERSION__);
}

void options_completion(struct strbuf *out, const char *shell)
{
	static const char *const paths[][2] = {
		{ "bash", "scripts/completion/autofit.bash" },
		{ "zsh", "scripts/completion/_autofit" },
		{ "fish", "scripts/completion/autofit.fish" },
	};
	const struct builtin_file *file;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (strcmp(paths[i][0], shell) != 0)
			continue;
		file = builtin_find(paths[i][1]);
		assert(file);
		strbuf_add(out, file->data, file->size);
	}
}
