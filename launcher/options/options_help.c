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
#define HELP_COLUMNS_LEAST 39
/* Where the words of an option begin; in a narrow terminal. */
#define HELP_INDENT 28
#define HELP_INDENT_NARROW 10
#define HELP_HEAD_INDENT 6
#define HELP_NARROW 70

/* A text under way, and how wide it may be. */
struct help_page {
	struct strbuf *out;
	size_t columns, indent;
};

static const char help_usage[] = "Usage: autofit [options] [--] command...\n"
				 "       autofit tune [options] -- command...\n"
				 "\n";

static const char help_what[] =
	"Finds the largest batch size of a training command that is safe in "
	"memory by short probes of that very command, records it, and becomes "
	"the command. The next time no probe is needed. The effective batch "
	"(micro x accum x world) stays what the command asks for.";

static const char help_places[] =
	"Every option can be set as a variable: --max-micro as "
	"AUTOFIT_MAX_MICRO, and nearly every one in a file: ./.autofit.ini, "
	"autofit.ini of the user, of the site. The first word that is no "
	"option begins the command. Where a NAME stands, -- command... means "
	"the record of that command.";

static const char help_examples[] =
	"\n"
	"Examples:\n"
	"  autofit -- python train.py --batch-size 8 --grad-accum 16\n"
	"  autofit tune --memory 8G --json result.json -- \\\n"
	"      python train.py --batch-size 8\n";

static const char help_more[] =
	"autofit --help lists everything; autofit help WORD is about one "
	"sub-command.";

static const char help_estimate_usage[] =
	"Usage: autofit estimate [options] [MODEL]\n"
	"       autofit estimate [options] -- command...\n"
	"\n";

static const char help_estimate[] =
	"Says what memory training or generation takes on a GPU, part by part, "
	"with an interval; no GPU is needed. MODEL is a config.json or its "
	"folder, a file of weights (safetensors), a TOML, YAML, JSON or INI "
	"file of its numbers, a name in the local hub cache, or a well-known "
	"one such as llama-3.1-8b. Of a training command the model and the "
	"sizes are read. Also used: --as NAME (a GPU), --effective-batch N, "
	"--preset, --json, --color.";

static const char help_estimate_examples[] =
	"\n"
	"Examples:\n"
	"  autofit estimate --lora 16 --sequence 1024 \\\n"
	"          --as rtx4090 llama-3.1-8b\n"
	"  autofit estimate --fit 24GiB\n"
	"  autofit estimate --need llama-3.1-8b\n"
	"  autofit estimate -- python train.py \\\n"
	"          --model_name_or_path gpt2 \\\n"
	"          --per_device_train_batch_size 8\n";

static struct help_page page_of(struct strbuf *out, size_t columns)
{
	struct help_page page = { .out = out, .columns = HELP_COLUMNS };

	if (columns && columns <= HELP_COLUMNS)
		page.columns = columns - 1;
	if (page.columns < HELP_COLUMNS_LEAST)
		page.columns = HELP_COLUMNS_LEAST;
	page.indent =
		page.columns < HELP_NARROW ? HELP_INDENT_NARROW : HELP_INDENT;
	return page;
}

static void help_add_text(const struct help_page *page, const char *text,
			  size_t indent)
{
	text_add_wrapped(page->out, text, indent, page->columns);
	strbuf_addch(page->out, '\n');
}

/* The head stands alone when it reaches into the column of the words. */
static void help_add_entry(const struct help_page *page, const char *head,
			   const char *doc)
{
	size_t indent = page->indent;

	text_add_wrapped(page->out, head, HELP_HEAD_INDENT, page->columns);
	if (strlen(head) + 2 > indent)
		strbuf_addf(page->out, "\n%*s", (int)indent, "");
	else
		strbuf_addf(page->out, "%*s", (int)(indent - strlen(head)), "");
	help_add_text(page, doc, indent);
}

static void help_add_option(const struct help_page *page,
			    const struct option_row *row)
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
	help_add_entry(page, strbuf_text(&head), strbuf_text(&doc));
	strbuf_release(&head);
	strbuf_release(&doc);
}

static void add_subcommand(const struct help_page *page,
			   const struct subcommand_row *row)
{
	struct strbuf head = STRBUF_INIT;

	strbuf_addf(&head, "  %s", row->word);
	if (row->arguments)
		strbuf_addf(&head, " %s", row->arguments);
	help_add_entry(page, strbuf_text(&head), row->doc);
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

static void add_groups(const struct help_page *page,
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
				strbuf_addf(page->out, "\n%s:\n",
					    option_group_titles[group]);
			has_title = true;
			help_add_option(page, row);
		}
	}
}

static void help_add_usual(const struct help_page *page,
			   const struct subcommand_row *subcommand)
{
	strbuf_adds(page->out, "\nOptions used most:\n");
	for (const struct option_row *row = option_rows; row->name; row++)
		if (is_usual(row) && help_has_option(subcommand, row))
			help_add_option(page, row);
}

static void add_subcommands(const struct help_page *page)
{
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++)
		if (!row->is_hidden)
			add_subcommand(page, row);
}

static void help_of_autofit(const struct help_page *page,
			    enum help_length length)
{
	strbuf_adds(page->out, help_usage);
	help_add_text(page, help_what, 0);
	strbuf_adds(page->out, "\nSub-commands:\n");
	add_subcommands(page);
	if (length == HELP_SHORT) {
		help_add_usual(page, NULL);
		strbuf_addch(page->out, '\n');
		help_add_text(page, help_more, 0);
		strbuf_adds(page->out, "Manual: man autofit, docs/manual.md\n");
		return;
	}
	add_groups(page, NULL);
	strbuf_addch(page->out, '\n');
	help_add_text(page, help_places, 0);
	strbuf_adds(page->out,
		    "\nExit codes: the command's own when it ran; else\n");
	for (const struct exit_row *row = exit_rows; row->doc; row++) {
		strbuf_addf(page->out, "  %3d  ", row->code);
		help_add_text(page, row->doc, 7);
	}
	strbuf_adds(page->out, help_examples);
}

static void help_of_estimate(const struct help_page *page,
			     enum help_length length,
			     const struct subcommand_row *row)
{
	strbuf_adds(page->out, help_estimate_usage);
	help_add_text(page, help_estimate, 0);
	if (length == HELP_LONG)
		add_groups(page, row);
	strbuf_adds(page->out, help_estimate_examples);
	if (length == HELP_SHORT)
		strbuf_adds(page->out, "\nautofit estimate --help lists its "
				       "options.\n");
}

static void help_of_subcommand(const struct help_page *page,
			       enum help_length length,
			       const struct subcommand_row *row)
{
	bool is_short = length == HELP_SHORT && row->groups;

	strbuf_addf(page->out, "Usage: autofit %s [options] %s\n\n", row->word,
		    row->arguments);
	help_add_text(page, row->doc, 0);
	if (is_short)
		help_add_usual(page, row);
	else
		add_groups(page, row);
	if (is_short)
		strbuf_addf(page->out,
			    "\nautofit %s --help lists all of them.\n",
			    row->word);
	else if (row->takes_name) {
		strbuf_addch(page->out, '\n');
		help_add_text(page,
			      "-- command... instead of NAME means the record "
			      "of that command, read with the options of "
			      "autofit tune.",
			      0);
	}
}

void options_help(struct strbuf *out, const char *word, enum help_length length,
		  size_t columns)
{
	const struct subcommand_row *row = word ? subcommand_of(word) : NULL;
	const struct help_page page = page_of(out, columns);

	if (!row || row->prints)
		help_of_autofit(&page, length);
	else if (row->subcommand == SUBCOMMAND_ESTIMATE)
		help_of_estimate(&page, length, row);
	else
		help_of_subcommand(&page, length, row);
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
