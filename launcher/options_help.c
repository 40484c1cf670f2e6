/* The text of --help, made from the tables of options and sub-commands. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options_rows.h"

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

/* Words of text from HELP_INDENT on, broken before HELP_COLUMNS. */
static void add_words(struct strbuf *out, size_t column, const char *text)
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
static void add_entry(struct strbuf *out, const char *head, const char *doc)
{
	strbuf_adds(out, head);
	if (strlen(head) + 2 > HELP_INDENT)
		strbuf_addf(out, "\n%*s", HELP_INDENT, "");
	else
		strbuf_addf(out, "%*s", HELP_INDENT - (int)strlen(head), "");
	add_words(out, HELP_INDENT, doc);
}

static void add_option(struct strbuf *out, const struct option_row *row)
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
	add_entry(out, strbuf_text(&head), strbuf_text(&doc));
	strbuf_release(&head);
	strbuf_release(&doc);
}

static void add_subcommand(struct strbuf *out, const struct subcommand_row *row)
{
	struct strbuf head = STRBUF_INIT;

	strbuf_addf(&head, "  %s", row->word);
	if (row->arguments)
		strbuf_addf(&head, " %s", row->arguments);
	add_entry(out, strbuf_text(&head), row->doc);
	strbuf_release(&head);
}

void options_help(struct strbuf *out, const char *value)
{
	(void)value;
	strbuf_adds(out, help_usage);
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++)
		if (!row->reserved)
			add_subcommand(out, row);
	for (size_t group = 0; group < GROUP_COUNT; group++) {
		strbuf_addf(out, "\n%s:\n", option_group_titles[group]);
		for (const struct option_row *row = option_rows; row->name;
		     row++)
			if (row->group == group)
				add_option(out, row);
	}
	strbuf_adds(out, help_places);
	for (const struct exit_row *row = exit_rows; row->doc; row++)
		strbuf_addf(out, "  %3d  %s\n", row->code, row->doc);
	strbuf_adds(out, help_examples);
}

void options_version(struct strbuf *out, const char *value)
{
	(void)value;
	strbuf_adds(out, "autofit " AUTOFIT_VERSION "\n");
}
