/* The completion for bash, from the tables of options. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_completion.h"

static const char begin[] =
	"# bash completion for autofit, as autofit --completion bash prints "
	"it\n"
	"# shellcheck shell=bash\n"
	"\n"
	"_autofit_offer() # WORDS\n"
	"{\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"_autofit_files() # -f or -d\n"
	"{\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"_autofit_records()\n"
	"{\n"
	"\t_autofit_offer \"$(\"${COMP_WORDS[0]}\" show 2>/dev/null |\n"
	"\t\tsed -n '2,$s/^\\([[:alnum:]._-]\\{1,\\}\\).*/\\1/p')\"\n"
	"}\n"
	"\n"
	"_autofit_command() # WHERE IT BEGINS\n"
	"{\n"
	"\tif declare -F _comp_command_offset >/dev/null; then\n"
	"\t\t_comp_command_offset \"$1\"\n"
	"\telif declare -F _command_offset >/dev/null; then\n"
	"\t\t_command_offset \"$1\"\n"
	"\telif (($1 == COMP_CWORD)); then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
	"\telse\n"
	"\t\t_autofit_files -f\n"
	"\tfi\n"
	"}\n"
	"\n"
	"_autofit_value() # OPTION\n"
	"{\n"
	"\t[ \"$cur\" != = ] || cur=\n"
	"\tcase $1 in\n";

static const char middle[] =
	"\tesac\n"
	"}\n"
	"\n"
	"_autofit_subcommand() # SUB-COMMAND, WORDS AFTER IT\n"
	"{\n"
	"\tcase $1.$2 in\n";

static const char walk[] =
	"\tesac\n"
	"}\n"
	"\n"
	"_autofit()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} sub='' given=0 i word\n";

static const char end[] =
	"\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tword=${COMP_WORDS[i]}\n"
	"\t\tif [ \"$word\" = -- ]; then\n"
	"\t\t\t_autofit_command $((i + 1))\n"
	"\t\t\treturn\n"
	"\t\telif [[ \" $valued \" == *\" $word \"* ]]; then\n"
	"\t\t\t[ \"${COMP_WORDS[i + 1]}\" != = ] || ((++i))\n"
	"\t\t\tif ((++i >= COMP_CWORD)); then\n"
	"\t\t\t\t_autofit_value \"$word\"\n"
	"\t\t\t\treturn\n"
	"\t\t\tfi\n"
	"\t\t\t# A value with : or = in it is several words here.\n"
	"\t\t\twhile [[ ${COMP_WORDS[i + 1]} == [:=]* ]]; do\n"
	"\t\t\t\t((i += 2))\n"
	"\t\t\tdone\n"
	"\t\telif [[ $word == -* ]]; then\n"
	"\t\t\tcontinue\n"
	"\t\telif [ -n \"$sub\" ]; then\n"
	"\t\t\t((++given))\n"
	"\t\telif [[ \" $subcommands \" == *\" $word \"* ]]; then\n"
	"\t\t\tsub=$word\n"
	"\t\telse\n"
	"\t\t\t_autofit_command \"$i\"\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\tdone\n"
	"\tif [[ $cur == -* ]]; then\n"
	"\t\t_autofit_offer \"$options\"\n"
	"\telif [ -n \"$sub\" ]; then\n"
	"\t\t_autofit_subcommand \"$sub\" \"$given\"\n"
	"\telse\n"
	"\t\t_autofit_offer \"$subcommands\"\n"
	"\t\t# Without -- the command may stand here as well.\n"
	"\t\tif [ -n \"$cur\" ]; then\n"
	"\t\t\tmapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY \\\n"
	"\t\t\t\t< <(compgen -c -- \"$cur\")\n"
	"\t\tfi\n"
	"\tfi\n"
	"}\n"
	"\n"
	"complete -F _autofit autofit\n";

static void add_value(struct strbuf *out, const struct option_row *row)
{
	switch (completion_sort(row)) {
	case COMPLETION_WORDS:
		strbuf_addf(out, "\t--%s) _autofit_offer '", row->name);
		completion_words(out, row);
		strbuf_adds(out, "' ;;\n");
		break;
	case COMPLETION_FILE:
		strbuf_addf(out, "\t--%s) _autofit_files -f ;;\n", row->name);
		break;
	case COMPLETION_FOLDER:
		strbuf_addf(out, "\t--%s) _autofit_files -d ;;\n", row->name);
		break;
	case COMPLETION_NONE:
	case COMPLETION_ANY:
		break;
	}
}

static void add_subcommand(struct strbuf *out, const struct subcommand_row *row)
{
	static const char *const offers[] = {
		[COMPLETION_NOTHING] = NULL,
		[COMPLETION_DASHES] = "_autofit_offer --",
		[COMPLETION_RECORD] = "_autofit_records",
		[COMPLETION_FORMAT] = "_autofit_offer \"$formats\"",
		[COMPLETION_PRESET] = "_autofit_offer \"$presets\"",
		[COMPLETION_INPUT] = "_autofit_files -f",
	};

	for (size_t i = 0; i < COMPLETION_WORDS_MAX && !row->reserved; i++) {
		const char *offer = offers[completion_word(row, i)];

		if (offer)
			strbuf_addf(out, "\t%s.%zu) %s ;;\n", row->word, i,
				    offer);
	}
}

static void add_options(struct strbuf *out)
{
	strbuf_adds(out, "--");
	for (const struct option_row *row = option_rows; row->name; row++) {
		strbuf_addf(out, " --%s", row->name);
		if (row->letter)
			strbuf_addf(out, " -%c", row->letter);
	}
}

/* One per line: they are long. */
static void add_list(struct strbuf *out, const char *name,
		     void (*add)(struct strbuf *out))
{
	strbuf_addf(out, "\tlocal %s='", name);
	add(out);
	strbuf_adds(out, "'\n");
}

void completion_bash(struct strbuf *out)
{
	strbuf_adds(out, begin);
	for (const struct option_row *row = option_rows; row->name; row++)
		add_value(out, row);
	strbuf_adds(out, middle);
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++)
		add_subcommand(out, row);
	strbuf_adds(out, walk);
	add_list(out, "subcommands", completion_subcommands);
	add_list(out, "formats", completion_formats);
	add_list(out, "presets", completion_presets);
	add_list(out, "valued", completion_valued);
	add_list(out, "options", add_options);
	strbuf_adds(out, end);
}
