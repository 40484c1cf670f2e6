/* The completion for zsh, from the tables of options. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_completion.h"

#include <string.h>

static const char begin[] =
	"#compdef autofit\n"
	"# zsh completion for autofit, as autofit --completion zsh prints it\n"
	"\n"
	"_autofit_records() {\n"
	"\tlocal expl\n"
	"\tlocal -a names\n"
	"\tnames=(${(f)\"$(_call_program records $autofit show 2>/dev/null |\n"
	"\t\tsed -n '2,$s/^\\([[:alnum:]._-]\\{1,\\}\\).*/\\1/p')\"})\n"
	"\t_wanted records expl record compadd -a names\n"
	"}\n"
	"\n"
	"_autofit_first() {\n"
	"\t_alternative \\\n"
	"\t\t'subcommands:sub-command:compadd -a subcommands' \\\n"
	"\t\t'commands:command:_command_names -e'\n"
	"}\n"
	"\n"
	"_autofit_word() {\n"
	"\tlocal expl\n"
	"\n"
	"\tcase $sub.$given in\n"
	"\t.*) _autofit_first ;;\n";

static const char walk[] = "\tesac\n"
			   "}\n"
			   "\n"
			   "_autofit() {\n"
			   "\tlocal autofit=$words[1] sub= word\n"
			   "\tlocal -i i given=0 at=0\n";

static const char middle[] = "\n"
			     "\tfor (( i = 2; i < CURRENT; i++ )); do\n"
			     "\t\tword=$words[i]\n"
			     "\t\tif [[ $word == -- ]]; then\n"
			     "\t\t\tat=i\n"
			     "\t\telif (( ${valued[(Ie)$word]} )); then\n"
			     "\t\t\t(( i++ ))\n"
			     "\t\t\tcontinue\n"
			     "\t\telif [[ $word == -* ]]; then\n"
			     "\t\t\tcontinue\n"
			     "\t\telif [[ -n $sub ]]; then\n"
			     "\t\t\t(( given++ ))\n"
			     "\t\telif (( ${subcommands[(Ie)$word]} )); then\n"
			     "\t\t\tsub=$word\n"
			     "\t\telse\n"
			     "\t\t\tat=i-1\n"
			     "\t\tfi\n"
			     "\t\tif (( at )); then\n"
			     "\t\t\tshift $at words\n"
			     "\t\t\t(( CURRENT -= at ))\n"
			     "\t\t\t_normal\n"
			     "\t\t\treturn\n"
			     "\t\tfi\n"
			     "\tdone\n"
			     "\t_arguments -s -S \\\n";

static const char end[] = "\t\t'*: :_autofit_word'\n"
			  "}\n"
			  "\n"
			  /* Loaded by its name, or evaluated as a whole? */
			  "if [[ $funcstack[1] == _autofit ]]; then\n"
			  "\t_autofit \"$@\"\n"
			  "else\n"
			  "\tcompdef _autofit autofit\n"
			  "fi\n";

/* The same characters mean something in [..] and between colons. */
static void add_plain(struct strbuf *out, const char *text)
{
	struct strbuf escaped = STRBUF_INIT;
	const char *quoted;

	for (; *text; text++) {
		if (strchr("[]:\\", *text))
			strbuf_addch(&escaped, '\\');
		strbuf_addch(&escaped, *text);
	}
	/* Within quotes that are open already. */
	for (quoted = strbuf_text(&escaped); *quoted; quoted++) {
		if (*quoted == '\'')
			strbuf_adds(out, "'\\''");
		else
			strbuf_addch(out, *quoted);
	}
	strbuf_release(&escaped);
}

static void add_value(struct strbuf *out, const struct option_row *row)
{
	enum completion_sort sort = completion_sort(row);

	if (sort == COMPLETION_NONE)
		return;
	strbuf_addch(out, ':');
	add_plain(out, row->argument);
	strbuf_addch(out, ':');
	if (sort == COMPLETION_WORDS) {
		strbuf_addch(out, '(');
		completion_words(out, row);
		strbuf_addch(out, ')');
	} else if (sort == COMPLETION_FILE) {
		strbuf_adds(out, "_files");
	} else if (sort == COMPLETION_FOLDER) {
		strbuf_adds(out, "_files -/");
	} else {
		strbuf_addch(out, ' ');
	}
}

static void add_option(struct strbuf *out, const struct option_row *row)
{
	strbuf_adds(out, "\t\t");
	if (row->letter)
		strbuf_addf(out, "'(-%c --%s)'{-%c,--%s}'", row->letter,
			    row->name, row->letter, row->name);
	else
		strbuf_addf(out, "'%s--%s%s", row->kind->grows ? "*" : "",
			    row->name,
			    completion_sort(row) == COMPLETION_NONE ? "" : "=");
	strbuf_addch(out, '[');
	add_plain(out, row->doc);
	strbuf_addch(out, ']');
	add_value(out, row);
	strbuf_adds(out, "' \\\n");
}

static void add_subcommand(struct strbuf *out, const struct subcommand_row *row)
{
	static const char *const offers[] = {
		[COMPLETION_NOTHING] = NULL,
		[COMPLETION_DASHES] = "compadd -- --",
		[COMPLETION_RECORD] = "_autofit_records",
		[COMPLETION_FORMAT] =
			"_wanted formats expl format compadd -a formats",
		[COMPLETION_PRESET] =
			"_wanted presets expl preset compadd -a presets",
		[COMPLETION_INPUT] = "_files",
	};

	for (size_t i = 0; i < COMPLETION_WORDS_MAX && !row->reserved; i++) {
		const char *offer = offers[completion_word(row, i)];

		if (offer)
			strbuf_addf(out, "\t%s.%zu) %s ;;\n", row->word, i,
				    offer);
	}
}

static void add_list(struct strbuf *out, const char *name,
		     void (*add)(struct strbuf *out))
{
	strbuf_addf(out, "\tlocal -a %s=(", name);
	add(out);
	strbuf_adds(out, ")\n");
}

void completion_zsh(struct strbuf *out)
{
	strbuf_adds(out, begin);
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++)
		add_subcommand(out, row);
	strbuf_adds(out, walk);
	add_list(out, "subcommands", completion_subcommands);
	add_list(out, "formats", completion_formats);
	add_list(out, "presets", completion_presets);
	add_list(out, "valued", completion_valued);
	strbuf_adds(out, middle);
	for (const struct option_row *row = option_rows; row->name; row++)
		add_option(out, row);
	strbuf_adds(out, end);
}
