/* Words, operators and quotes of shell text, as POSIX shells read it. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_WORDS_SHELL_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_WORDS_SHELL_H

#include <stdbool.h>
#include <stddef.h>

enum shell_kind {
	SHELL_END,
	SHELL_WORD,
	SHELL_NEWLINE,
	SHELL_SEMICOLON,
	SHELL_CASE_END, /* ;; and its kin */
	SHELL_BACKGROUND,
	SHELL_AND,
	SHELL_OR,
	SHELL_PIPE,
	SHELL_OPEN,
	SHELL_CLOSE,
	SHELL_REDIRECT, /* with its file */
	SHELL_HEREDOC,  /* with its delimiter; the lines are skipped */
	SHELL_ERROR,    /* see shell_lexer.error */
};

/* A piece of the text. */
struct shell_span {
	size_t start, end;
	unsigned line; /* from 1 */
};

struct shell_token {
	enum shell_kind kind;
	struct shell_span span;
};

#define SHELL_HEREDOCS_MAX 8
/* Quotes, ${ } and $( ) inside each other. */
#define SHELL_DEPTH_MAX 16

/* What was met in any token so far, bits of shell_lexer.met. */
#define SHELL_MET_COMMAND 1u    /* $( ) */
#define SHELL_MET_BACKQUOTE 2u  /* `` */
#define SHELL_MET_PROCESS 4u    /* <( ) and >( ) */
#define SHELL_MET_ARITHMETIC 8u /* $(( )), $[ ] */

struct shell_heredoc {
	size_t start, end; /* the delimiter, with its quotes */
	bool strips_tabs;
};

/* Set text, length and is_posix; all else is zero. */
struct shell_lexer {
	const char *text;
	size_t length;
	bool is_posix; /* sh, dash: &> is & and > */

	size_t at; /* the next token begins here or behind */
	const char *error;
	size_t error_at;
	unsigned met;
	unsigned depth;
	struct shell_heredoc heredocs[SHELL_HEREDOCS_MAX];
	size_t heredoc_count;
	size_t line_at; /* newlines are counted up to here */
	unsigned newlines;
};

/* Each byte is looked at once, so a text costs what its length is. */
enum shell_kind shell_next(struct shell_lexer *lexer,
			   struct shell_token *token);
/* Line of a byte, from 1; never before the byte asked for last. */
unsigned shell_line(struct shell_lexer *lexer, size_t at);
/* From ( to behind its ), for (( )); false: SHELL_ERROR. */
bool shell_skip_balanced(struct shell_lexer *lexer);
/* From $ or ` to behind what it begins; false: SHELL_ERROR. */
bool shell_skip_dollar(struct shell_lexer *lexer, bool is_quoted);
bool shell_skip_backquote(struct shell_lexer *lexer);

/* From the first byte of a word to behind its last. */
bool shell_skip_word(struct shell_lexer *lexer);
/* The byte so far ahead; NUL behind the end. */
char shell_peek(const struct shell_lexer *lexer, size_t ahead);
/* Sets the error, unless there is one; returns false. */
bool shell_lexer_fail(struct shell_lexer *lexer, const char *why, size_t at);

bool shell_name_begins(char c); /* letter or _ */
/* Bytes of NAME at the beginning of the text; 0: none. */
size_t shell_name_length(const char *text, size_t length);

/* NAME=value, NAME+=value, NAME[i]=value, NAME=(a b). */
struct shell_assignment {
	struct shell_span name, value; /* value: inside the parentheses */
	bool appends, is_element, is_array;
};
/* False: the word is none. */
bool shell_assignment_read(const char *text, struct shell_span word,
			   struct shell_assignment *assignment);

#endif
