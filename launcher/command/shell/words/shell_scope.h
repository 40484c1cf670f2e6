/* What variables, arguments and words of a shell stand for. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_WORDS_SHELL_SCOPE_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_WORDS_SHELL_SCOPE_H

#include "base/strlist.h"
#include "launcher/command/shell/words/shell_word.h"
#include "launcher/command/shell/words/word.h"
#include "launcher/command/text/command_outcome.h"

/* Bytes of a word, and those of the text that say them. */
struct shell_piece {
	size_t offset, end;     /* of the word */
	size_t start, text_end; /* of the text */
	bool is_computed;       /* $((64 / 4)); else they are the same */
};

/* One word after everything in it was replaced. */
struct shell_field {
	char *text;
	struct word word;
	struct shell_piece *pieces; /* what stands in the text, in order */
	size_t piece_count;
};

struct shell_fields {
	struct shell_field *items;
	size_t count, capacity;
	size_t append_at; /* past the last word of "$@"; NO_INDEX: without */
	/* It stands there twice, or with something joined to its last word. */
	bool is_closed;
};

#define SHELL_FIELDS_INIT                                                      \
	{                                                                      \
		.append_at = NO_INDEX                                          \
	}

void shell_fields_add(struct shell_fields *fields, char *text,
		      const struct word *word);
/* Behind the pieces of the last one, from a byte of its word on. */
void shell_fields_add_pieces(struct shell_fields *fields,
			     const struct shell_piece *pieces, size_t count,
			     size_t offset);
/* All words of fields go to the end of out; fields is released. */
void shell_fields_move(struct shell_fields *out, struct shell_fields *fields);
void shell_fields_release(struct shell_fields *fields);

enum shell_state {
	SHELL_UNSET,
	SHELL_TEXT,  /* the one field */
	SHELL_LIST,  /* an array */
	SHELL_SPLIT, /* NAME="$@": words as soon as it stands unquoted */
	SHELL_UNKNOWN,
};

struct shell_variable {
	char *name;
	enum shell_state state;
	struct shell_fields value;
	bool is_given;    /* by the environment, or could be */
	bool is_exported; /* by the text */
	bool is_fickle;   /* a function assigns it: never known */
	unsigned age;     /* older than scope->age: not known any more */
	struct shell_span assigned;
	size_t next; /* of the same hash; NO_INDEX */
};

/* Of one command. */
#define SHELL_WORDS_MAX 16384
#define SHELL_VARIABLES_MAX 1024
#define SHELL_BUCKETS 512
/* Bytes that all words together may become, and so much for each part. */
#define SHELL_BYTES_MAX (8u << 20)
#define SHELL_BYTES_PART 16
#define SHELL_BYTES_OPAQUE 256

struct shell_scope {
	struct shell_lexer *lexer; /* of the text */
	const struct strlist *argv, *environment;
	size_t first; /* argument of argv that is $1 */
	enum word_origin origin;
	size_t text_argument; /* argument of argv that is the text */
	const char *script;   /* its path; NULL: shell text */
	bool is_zsh;
	bool is_certain;        /* what is read now runs, and once */
	bool arguments_unknown; /* after set --, or shift in a loop */
	bool argument_missing;  /* one that was not given was asked for */
	bool arguments_counted; /* $#: one more would be another command */
	bool splits_unknown;    /* IFS was assigned */
	bool has_moved;         /* cd: PWD is another one */
	bool looks_inside;      /* see struct shell_call */
	bool is_exhausted;      /* more than SHELL_BYTES_MAX, or variables */
	unsigned age;
	size_t bytes;
	struct shell_variable *variables;
	size_t count;
	size_t buckets[SHELL_BUCKETS];
};

void shell_scope_init(struct shell_scope *scope);
void shell_scope_release(struct shell_scope *scope);

/* The variable; it is taken from the environment when it is new. */
struct shell_variable *shell_variable(struct shell_scope *scope,
				      const char *name, size_t length);
/* UNKNOWN also where it was known before something that may change it. */
enum shell_state shell_variable_state(const struct shell_scope *scope,
				      const struct shell_variable *variable);
/* The environment may say another value of it. */
bool shell_variable_is_free(const struct shell_variable *variable);
/* From here on that is not made use of. */
void shell_variable_fix(struct shell_variable *variable);
/* Takes the value over (NULL: none). */
void shell_variable_set(const struct shell_scope *scope,
			struct shell_variable *variable, enum shell_state state,
			struct shell_fields *value);

enum shell_context {
	SHELL_WORDS, /* of a command: split at blanks */
	SHELL_VALUE, /* of an assignment: always one */
};

/* Appends what the word becomes. */
void shell_expand(struct shell_scope *scope, struct shell_span word,
		  enum shell_context context, struct shell_fields *out);

enum shell_manner {
	SHELL_ALWAYS,
	SHELL_MAYBE,    /* under a condition */
	SHELL_IF_EMPTY, /* as := does */
};

/* The word is an assignment; returns its variable. */
struct shell_variable *shell_assign(struct shell_scope *scope,
				    struct shell_span word,
				    enum shell_manner manner);

#endif
