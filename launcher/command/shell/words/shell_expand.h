/* What the files share that turn one word into others. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_WORDS_SHELL_EXPAND_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_WORDS_SHELL_EXPAND_H

#include "base/strbuf.h"
#include "launcher/command/shell/words/shell_scope.h"

/* What the bytes at the end of the word came from as a whole. */
struct tail {
	bool is_set;
	const char *variable;
	size_t argument; /* NO_INDEX */
	bool is_numbered;
	size_t offset, end;
};

/* More of one word are not told. */
#define PIECES_MAX 32

struct builder {
	struct shell_scope *scope;
	struct shell_fields *out;
	enum shell_context context;
	struct shell_span word;
	struct strbuf text;
	bool begun; /* there is a word, be it empty */
	bool is_opaque;
	bool has_arguments; /* of "$@" */
	bool ends_in_arguments;
	struct tail tail;
	struct shell_piece pieces[PIECES_MAX];
	size_t piece_count;
	unsigned brace; /* of {a,b}: 1 after {, 2 after the comma */
	unsigned depth;
};

/* Ends the word, where one has begun. */
void builder_flush(struct builder *b);
/* Bytes that stand for what is not known. */
void builder_add_unknown(struct builder *b, const char *bytes, size_t length);
/* Such bytes of the text. */
void builder_add_opaque(struct builder *b, size_t start, size_t end);
/* The same, with what is known of it, where the scope looks inside. */
void builder_look_inside(struct builder *b, size_t start, size_t end);
/* One value of a variable or an argument. */
void builder_add_value(struct builder *b, const struct shell_field *field,
		       bool is_quoted);
/* is_nested: the word after :- between double quotes. */
void builder_expand_parts(struct builder *b, struct shell_span span,
			  bool is_nested);
/* $NAME, ${NAME:-word}, "$@" */
void builder_add_parameter(struct builder *b, const struct shell_part *part);

/* An arithmetic_name: a number, or what it is computed from; of struct
 * shell_scope. */
const char *builder_known_text(void *scope, const char *text, size_t length,
			       size_t *width);

/*
 * The folder that $(dirname "$0"), $(pwd) and their kin name; NULL: it is
 * something else, or cannot be told. The caller frees.
 */
char *shell_own_folder(const struct shell_scope *scope, size_t start,
		       size_t end);
/* Entries of a list that $(echo $GPUS | awk -F, '{print NF}') counts; NULL: it
 * is something else, or the list is not known. The caller frees. */
char *builder_list_length(struct shell_scope *scope, size_t start, size_t end);
/* shell_own_folder, and what else a command is known to print: a number of
 * devices, the name of Python. The caller frees. */
char *shell_output(struct shell_scope *scope, size_t start, size_t end);

#endif
