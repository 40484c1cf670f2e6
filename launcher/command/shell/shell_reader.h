/* Where the reading of shell text stands: its token, its levels. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_READER_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_READER_H

#include "base/error.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/shell/words/shell_scope.h"
#include "launcher/command/text/command_outcome.h"

/* More commands no script has. */
#define SHELL_COMMANDS_MAX 4096
#define SHELL_LEVELS_MAX 32

/* The way out, in a message. */
#define SHELL_INSTEAD "put the training command itself after --"
/* The same, where the script decides how often a training is started. */
#define SHELL_INSIDE                                                           \
	"write autofit -- in front of it in the script, or put it alone "      \
	"after --"

/* How likely a command is what trains. */
enum shell_rank {
	SHELL_NOTHING, /* echo, mkdir, pip */
	SHELL_PROGRAM, /* not known */
	SHELL_TRAINING,
};

enum shell_level_kind {
	SHELL_IF,
	SHELL_LOOP,
	SHELL_CASE,
	SHELL_BRACE,
	SHELL_SUBSHELL,
};

/* [ -z "$NAME" ] and [ -n "$NAME" ] */
struct shell_test {
	bool is_one;
	bool is_empty; /* -z */
	struct shell_span name;
};

/* What a condition comes to. */
enum shell_truth {
	SHELL_UNDECIDED,
	SHELL_TRUE,
	SHELL_FALSE,
};

/* Whether the branch that is read runs. */
enum shell_branch {
	SHELL_PERHAPS,
	SHELL_TAKEN,
	SHELL_DEAD,
};

#define SHELL_SUBJECT_MAX 64
/* More of them are read where they stand. */
#define SHELL_FUNCTIONS_MAX 64
/* Of a loop; so many options no script has. */
#define SHELL_ROUNDS_MAX 128
/* What calls and loops make of a script, in bytes that are read once more. */
#define SHELL_CALLED_BYTES_MAX ((size_t)1 << 20)

struct shell_function {
	struct shell_span name;
	struct shell_lexer body; /* behind its { */
	size_t end;              /* of the text, before its } */
	bool is_active;          /* its body is being read */
};

struct shell_level {
	enum shell_level_kind kind;
	unsigned line;
	bool is_condition; /* IF: before the first then */
	bool is_function;
	bool wants_pattern; /* CASE */
	bool is_maybe;      /* of the list it stands in */
	bool is_pipe;
	size_t found_before; /* reader->founds where it began */
	size_t commands;     /* of the condition */
	struct shell_test test;
	/* IF, CASE: of the branch, and of those before it. */
	bool asks; /* IF: in a condition */
	size_t asked;
	enum shell_truth truth;
	enum shell_branch branch;
	bool is_decided; /* one was taken, if this is reached */
	bool is_open;    /* of one it is not known */
	bool has_subject;
	char subject[SHELL_SUBJECT_MAX]; /* CASE: the word */
	/* BRACE: the definition of a function, which is passed over. */
	bool is_definition;
	size_t definition;
	/* BRACE: the body of a function that was called, from 1, and where it
	 * goes on behind that; 0: none. */
	size_t called;
	/* LOOP, of while: behind that word; how often it was read. */
	bool is_while, is_certain, is_left;
	unsigned rounds;
	struct shell_lexer back;
	struct shell_token back_token;
	bool back_has_token, arguments_unknown;
	size_t first; /* of the arguments, see struct shell_scope */
};

/* The command that is the likeliest so far. */
struct shell_found {
	enum shell_rank rank;
	bool says_size;
	size_t count;      /* so many are as likely */
	unsigned lines[2]; /* of the first two */
	const char *maybe; /* "in a loop": it may not run once; NULL */
	bool in_background, is_waited_for;
	bool is_opaque; /* which program it is cannot be told */
	struct shell_fields fields;
	size_t inner; /* field with the program */
	char *folder; /* see struct shell_expansion */
};

struct shell_reader {
	struct shell_lexer lexer;
	struct shell_token token;
	bool has_token; /* it was read, but not used */
	struct shell_scope scope;
	bool is_one_command;       /* else a script */
	const char *label;         /* "bash -c", "train.sh" */
	struct named_files *texts; /* of the files that it reads in */

	struct shell_level levels[SHELL_LEVELS_MAX];
	size_t depth;
	bool is_function;           /* the next level is the body of one */
	struct shell_span function; /* its name */
	struct shell_function *functions;
	size_t function_count, function_capacity;
	size_t called_bytes;

	/* Of a && b || c | d: */
	bool continues;            /* the last token was one of those */
	bool is_maybe;             /* what follows may not run */
	bool is_pipe;              /* what follows is a process of its own */
	size_t found_before;       /* founds where it began */
	bool was_test;             /* the last command was [ ] */
	bool is_negated;           /* the next command stands behind ! */
	bool is_compound;          /* [[ a && b ]] */
	enum shell_kind joined_by; /* the last of && || | in the list */
	enum shell_truth truth;    /* of the last [ ] */
	struct shell_test test;
	struct shell_test list_test; /* what follows runs when it holds */

	/* Of one command: its words, and what they became. */
	struct shell_span *words;
	size_t count, capacity;
	size_t assignments; /* so many words before the program */
	struct shell_fields fields;
	size_t inner; /* field with its program */
	enum shell_rank rank;

	size_t commands;
	size_t founds; /* how often another one was the likeliest */
	struct shell_found found;
	char *folder;
	bool is_over;
	enum command_outcome outcome;
	struct error *err;
};

void shell_reader_release(struct shell_reader *reader);

/* Ends the reading with a message about the line; 0: of no line. */
void shell_fail(struct shell_reader *reader, unsigned line, const char *format,
		...) __attribute__((format(printf, 3, 4)));

/* Reads a token, unless one was given back; ERROR also when it is over. */
enum shell_kind shell_reader_next(struct shell_reader *reader);
bool shell_token_is(const struct shell_reader *reader, const char *word);
/* "X is not understood": there is more than a command. */
void shell_fail_met(struct shell_reader *reader, const char *what);
void shell_push(struct shell_reader *reader, enum shell_level_kind kind);
void shell_pop(struct shell_reader *reader, enum shell_level_kind kind);
struct shell_level *shell_top(struct shell_reader *reader);
void shell_end_list(struct shell_reader *reader);
/* The token is a word of the command. */
void shell_add_word(struct shell_reader *reader);

#endif
