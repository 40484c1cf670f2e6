/* What stands inside one word of shell text. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_WORDS_SHELL_WORD_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_WORDS_SHELL_WORD_H

#include "launcher/command/shell/words/shell.h"

enum shell_part_kind {
	SHELL_PART_END,
	SHELL_PART_TEXT, /* the bytes as they are; may be none */
	SHELL_PART_ANSI, /* what stands in $'...' */
	SHELL_PART_PARAMETER,
	SHELL_PART_OPAQUE, /* its value cannot be told from the text */
};

struct shell_part {
	enum shell_part_kind kind;
	bool is_quoted;
	size_t start, end; /* the bytes; of all else, $ to the end */
	/* PARAMETER: NAME, digits, @ or *. */
	struct shell_span name, index, word;
	bool has_index; /* ${NAME[index]} */
	bool has_colon; /* :- := :? :+ */
	char operation; /* - = ? + before the word; 's': ${@:word}; 0 */
};

/* Goes through a word that was read as a token. */
struct shell_parts {
	struct shell_lexer lexer;
	bool in_double; /* between " and " */
	bool is_nested; /* the word after :- in "${NAME:-word}" */
};

void shell_parts_begin(struct shell_parts *parts, const char *text,
		       struct shell_span word, bool is_nested);
enum shell_part_kind shell_part_next(struct shell_parts *parts,
				     struct shell_part *part);

#endif
