/* What the scripts for three shells need of the tables of options. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_COMPLETION_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_COMPLETION_H

#include "base/strbuf.h"
#include "launcher/options/options_rows.h"

#include <stdbool.h>

/* What the value of an option is. */
enum completion_sort {
	COMPLETION_NONE, /* a flag */
	COMPLETION_ANY,  /* nobody can offer it: a number, a size */
	COMPLETION_WORDS,
	COMPLETION_FILE,
	COMPLETION_FOLDER,
};

enum completion_sort completion_sort(const struct option_row *row);
/* The fixed words of a value, with a blank between; "" where there are none. */
void completion_words(struct strbuf *out, const struct option_row *row);
/* What the word after a sub-command is that has index words already. */
enum completion_word {
	COMPLETION_NOTHING,
	COMPLETION_DASHES, /* "--" and a command */
	COMPLETION_RECORD,
	COMPLETION_FORMAT,
	COMPLETION_PRESET,
	COMPLETION_INPUT, /* a file */
};

#define COMPLETION_WORDS_MAX 2

enum completion_word completion_word(const struct subcommand_row *row,
				     size_t index);
/* Every sub-command of this version, with a blank between. */
void completion_subcommands(struct strbuf *out);
/* The first words of sub-commands that take one of a list: export's. */
void completion_formats(struct strbuf *out);
/* The built-in presets. */
void completion_presets(struct strbuf *out);
/* Options that take a value, as the shell will see them. */
void completion_valued(struct strbuf *out);
/* text within single quotes, in a way that all three shells read alike. */
void completion_quote(struct strbuf *out, const char *text);

void completion_bash(struct strbuf *out);
void completion_zsh(struct strbuf *out);
void completion_fish(struct strbuf *out);

#endif
