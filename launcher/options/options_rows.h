/* The table behind options.h: every option once, for parser and help. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_ROWS_H
#define AUTOFIT_LAUNCHER_OPTIONS_OPTIONS_ROWS_H

#include "base/error.h"
#include "base/strbuf.h"
#include "launcher/options/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_row;

/* --help and its like: what is printed instead. */
enum option_print {
	PRINT_NOTHING,
	PRINT_HELP,
	PRINT_VERSION,
	PRINT_COMPLETION,
};

/* How the text of an option becomes the field it sets. */
struct option_kind {
	/*
	 * value is never NULL; a flag gets "1". What was set before is
	 * replaced, a list grows. err says what is wrong with the value only.
	 */
	int (*set)(const struct option_row *row, struct options *options,
		   const char *value, struct error *err);
	/* Free and empty the field; NULL: it owns nothing. */
	void (*release)(const struct option_row *row, struct options *options);
	bool is_flag; /* takes no value */
	bool grows;   /* a list: may be given more than once */
};

enum option_group {
	GROUP_MEMORY,
	GROUP_SIZES,
	GROUP_COMMAND,
	GROUP_PROBES,
	GROUP_RECORDS,
	GROUP_OUTPUT,
	GROUP_NIGHTLY,
	GROUP_REPORT,
	/* An option of autofit estimate only, and in its own help. */
	GROUP_MODEL,
	GROUP_RUN,
	GROUP_ASK,
	GROUP_COUNT,
	GROUP_ESTIMATE = GROUP_MODEL, /* the first of those */
};

#define GROUPS_OF_ESTIMATE ((1U << GROUP_COUNT) - (1U << GROUP_ESTIMATE))

extern const char *const option_group_titles[GROUP_COUNT];

struct option_row {
	const char *name; /* without dashes; also AUTOFIT_<NAME> */
	const struct option_kind *kind;
	size_t field;         /* offset into struct options */
	const char *argument; /* its name in the help; NULL for a flag */
	const char *initial;  /* default, read by kind->set; NULL: empty */
	const char *doc;
	enum option_group group;
	char letter;              /* -q; 0: none */
	int64_t min, max;         /* numbers: both ends allowed */
	const char *const *words; /* the allowed ones; NULL: any */
	const char *hint;         /* kind_name: a name as it may be */
	size_t given;             /* offset of a bool; 0: none */
	size_t excludes;          /* offset of a flag it takes back; 0: none */
	bool value_optional;      /* without one it is 1 */
	bool one_call;            /* in no file: it belongs to one call */
	bool runs_or_writes;      /* in no file of another user */
	enum option_print print;  /* no field, a text instead */
	const char *only_of;      /* the one sub-command it is of; NULL */
};

/* A row without a name ends the table. */
extern const struct option_row option_rows[];
#define OPTION_ROWS_MAX 160

/* The sub-commands, also those whose name is kept for later. */
struct subcommand_row {
	const char *word;
	enum subcommand subcommand;
	const char *arguments;      /* as the help shows them; NULL: none */
	const char *const *formats; /* its first word is one of these */
	bool takes_file;            /* its first word */
	bool takes_second_file;     /* and its second */
	bool takes_name;            /* a record's */
	bool takes_preset;          /* its first word: a preset's name */
	bool takes_model;           /* its first word: a model */
	bool takes_card;            /* its first word: CARD or CARDxN */
	bool takes_command;         /* after "--" */
	bool command_optional;      /* or none */
	bool needs_subject;         /* a name or a command */
	bool takes_json;            /* --json has a meaning */
	bool changes;               /* more than it prints: no --dry-run */
	bool is_hidden;             /* understood, offered nowhere */
	const char *prints;         /* an option that prints the same; NULL */
	unsigned groups;            /* 1 << GROUP_...: in its help */
	const char *doc;
};

extern const struct subcommand_row subcommand_rows[];
const struct subcommand_row *subcommand_of(const char *word);
/* The one that was probably meant by a word that is no program, or NULL. */
const char *subcommand_suggestion(const char *word);

/* Exit codes of autofit itself; a row without a doc ends the table. */
struct exit_row {
	int code;
	const char *doc;
};

extern const struct exit_row exit_rows[];

static inline void *option_field(const struct option_row *row,
				 struct options *options)
{
	return (char *)options + row->field;
}

/* The key argp knows a row by: its letter, or a number past all letters. */
int option_key(size_t index);
const struct option_row *option_of_key(int key);
const struct option_row *option_of_name(const char *name, size_t length);

/*
 * May word (NULL: none), which stands behind an option whose value is optional,
 * be that value? row NULL: of an option that is not known.
 */
bool option_value_may_be(const struct option_row *row, const char *word);

/* The option that was probably meant, or NULL: a beginning, or a slip. */
const char *option_suggestion(const char *name);
/* The same of slips alone. */
const char *option_nearest(const char *name);
/* err for a long option that is not in the table, and its likely neighbour. */
void option_unknown(const char *name, struct error *err);
/* The same of a sub-command. */
void subcommand_unknown(const char *word, struct error *err);
/* err for a word that argp refused without saying why. */
void option_misread(const char *word, struct error *err);

/*
 * Reads words[*at], which begins with "--", as far as one can without knowing
 * that the whole line is right: its row, or NULL for an option that is not
 * known. value: what stands behind "=" or, where one belongs to it, the next
 * word, and *at is moved on to that; NULL: it has none.
 */
const struct option_row *option_read(const struct strlist *words, size_t *at,
				     const char **value);

#endif
