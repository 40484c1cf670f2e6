/* The completion for fish, from the tables of options. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_completion.h"

static const char begin[] =
	"# fish completion for autofit, as autofit --completion fish prints "
	"it\n"
	"\n"
	"# What stands at the cursor: \"first\", \"SUB-COMMAND N\" (N words "
	"after\n"
	"# it), or \"command N\": the command begins with word N.\n"
	"function __autofit_place\n";

static const char middle[] =
	"    set -l words (commandline -opc)\n"
	"    set -l sub\n"
	"    set -l given 0\n"
	"    set -l i 2\n"
	"    while test $i -le (count $words)\n"
	"        set -l word $words[$i]\n"
	"        if test \"$word\" = --\n"
	"            echo command (math $i + 1)\n"
	"            return\n"
	"        else if contains -- \"$word\" $valued\n"
	"            set i (math $i + 1)\n"
	"        else if string match -q -- '-*' \"$word\"\n"
	"        else if set -q sub[1]\n"
	"            set given (math $given + 1)\n"
	"        else if contains -- \"$word\" $subcommands\n"
	"            set sub $word\n"
	"        else\n"
	"            echo command $i\n"
	"            return\n"
	"        end\n"
	"        set i (math $i + 1)\n"
	"    end\n"
	"    if set -q sub[1]\n"
	"        echo $sub $given\n"
	"    else\n"
	"        echo first\n"
	"    end\n"
	"end\n"
	"\n"
	"function __autofit_at\n"
	"    contains -- (__autofit_place) $argv\n"
	"end\n"
	"\n"
	"function __autofit_in_command\n"
	"    string match -q 'command *' -- (__autofit_place)\n"
	"end\n"
	"\n"
	"function __autofit_command\n"
	"    set -l from (string split ' ' -- (__autofit_place))[2]\n"
	"    set -l words (commandline -opc)\n"
	"    set -l line (string escape -- $words[$from..-1]) "
	"(commandline -ct)\n"
	"    test (count $words) -ge $from; or set line (commandline -ct)\n"
	"    complete -C \"$line\"\n"
	"end\n"
	"\n"
	"function __autofit_programs\n"
	"    set -l word (commandline -ct)\n"
	"    string match -q -- '-*' \"$word\"; or complete -C \"$word\"\n"
	"end\n"
	"\n"
	"function __autofit_records\n"
	"    set -l words (commandline -opc)\n"
	"    $words[1] show 2>/dev/null |\n"
	"        sed -n '2,$s/^\\([[:alnum:]._-]\\{1,\\}\\).*/\\1/p'\n"
	"end\n"
	"\n"
	"complete -c autofit -f\n"
	"complete -c autofit -n __autofit_in_command -x "
	"-a '(__autofit_command)'\n"
	"complete -c autofit -n '__autofit_at first' -x "
	"-a '(__autofit_programs)'\n";

/* What stands behind a sub-command. */
static void add_word(struct strbuf *out, const struct subcommand_row *row,
		     size_t index)
{
	static const char *const offers[] = {
		[COMPLETION_NOTHING] = NULL,
		[COMPLETION_DASHES] = "-x -a --",
		[COMPLETION_RECORD] = "-x -a '(__autofit_records)'",
		[COMPLETION_FORMAT] = "-x -a",
		[COMPLETION_PRESET] = "-x -a",
		[COMPLETION_INPUT] = "-F",
	};
	enum completion_word word = completion_word(row, index);

	if (!offers[word])
		return;
	strbuf_addf(out, "complete -c autofit -n '__autofit_at \"%s %zu\"' %s",
		    row->word, index, offers[word]);
	if (word == COMPLETION_FORMAT || word == COMPLETION_PRESET) {
		strbuf_adds(out, " '");
		if (word == COMPLETION_FORMAT)
			completion_formats(out);
		else
			completion_presets(out);
		strbuf_addch(out, '\'');
	}
	strbuf_addch(out, '\n');
}

static void add_subcommand(struct strbuf *out, const struct subcommand_row *row)
{
	strbuf_addf(out, "complete -c autofit -n '__autofit_at first' -x -a %s",
		    row->word);
	strbuf_adds(out, " -d ");
	completion_quote(out, row->doc);
	strbuf_addch(out, '\n');
	for (size_t i = 0; i < COMPLETION_WORDS_MAX; i++)
		add_word(out, row, i);
}

static void add_option(struct strbuf *out, const struct option_row *row)
{
	strbuf_adds(out,
		    "complete -c autofit -n 'not __autofit_in_command' -l ");
	strbuf_adds(out, row->name);
	if (row->letter)
		strbuf_addf(out, " -s %c", row->letter);
	switch (completion_sort(row)) {
	case COMPLETION_WORDS:
		strbuf_adds(out, " -x -a '");
		completion_words(out, row);
		strbuf_addch(out, '\'');
		break;
	case COMPLETION_FILE:
		strbuf_adds(out, " -r -F");
		break;
	case COMPLETION_FOLDER:
		strbuf_adds(out, " -x -a '(__fish_complete_directories)'");
		break;
	case COMPLETION_ANY:
		strbuf_adds(out, " -x");
		break;
	case COMPLETION_NONE:
		break;
	}
	strbuf_adds(out, " \\\n    -d ");
	completion_quote(out, row->doc);
	strbuf_addch(out, '\n');
}

static void add_list(struct strbuf *out, const char *name,
		     void (*add)(struct strbuf *out))
{
	strbuf_addf(out, "    set -l %s ", name);
	add(out);
	strbuf_addch(out, '\n');
}

void completion_fish(struct strbuf *out)
{
	strbuf_adds(out, begin);
	add_list(out, "subcommands", completion_subcommands);
	add_list(out, "valued", completion_valued);
	strbuf_adds(out, middle);
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++)
		if (!row->reserved)
			add_subcommand(out, row);
	for (const struct option_row *row = option_rows; row->name; row++)
		add_option(out, row);
}
