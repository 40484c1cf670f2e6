/* Texts that options print: the help, and the scripts of shells. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_help.h"

#include "configs/files/builtin.h"
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

static void add_groups(struct strbuf *out, size_t first, size_t end)
{
	for (size_t group = first; group < end; group++) {
		strbuf_addf(out, "\n%s:\n", option_group_titles[group]);
		for (const struct option_row *row = option_rows; row->name;
		     row++)
			if (row->group == group)
				help_add_option(out, row);
	}
}

static void estimate_help(struct strbuf *out)
{
	strbuf_adds(out, help_estimate);
	add_groups(out, GROUP_ESTIMATE, GROUP_COUNT);
	strbuf_adds(out, help_estimate_examples);
}

void options_help(struct strbuf *out, const char *value)
{
	if (value && strcmp(value, "estimate") == 0) {
		estimate_help(out);
		return;
	}
	strbuf_adds(out, help_usage);
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++)
		add_subcommand(out, row);
	add_groups(out, 0, GROUP_ESTIMATE);
	strbuf_adds(out, help_places);
	for (const struct exit_row *row = exit_rows; row->doc; row++)
		strbuf_addf(out, "  %3d  %s\n", row->code, row->doc);
	strbuf_adds(out, help_examples);
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
