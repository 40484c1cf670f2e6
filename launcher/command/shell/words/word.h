/* A word of the flat command, and where it stands. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_WORDS_WORD_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_WORDS_WORD_H

#include <stdbool.h>
#include <stddef.h>

/* Where a word of the flat command comes from, so how it can be changed. */
enum word_origin {
	WORD_ARGUMENT,   /* of the user's argv: freely; see is_numbered */
	WORD_SHELL_TEXT, /* inside the text after bash -c: quoted anew */
	WORD_SCRIPT,     /* of a script file, which is never written: not */
};

struct word {
	enum word_origin origin;
	size_t argument;   /* of the given argv; SCRIPT: not used */
	size_t start, end; /* bytes of the text or script it stands for; 0, 0:
			    * it stands in the given argv only */
	unsigned line;     /* of that text, from 1; else 0 */
	/*
	 * SHELL_TEXT, SCRIPT: the value comes from this variable, which the
	 * environment may set: ${BS:-4} in the word itself, or $BS after a line
	 * BS=${BS:-4}. It begins at variable_offset of the flat word (5 for
	 * the word --bs=$BS) and ends it. NULL: it does not.
	 */
	char *variable;
	/* ARGUMENT: what stands before it is of the text: --bs=$1. */
	size_t variable_offset;
	/*
	 * The bytes of the flat word from literal_offset on stand as they are
	 * in the text, from literal_start to literal_end: 4 of --bs 4, or of a
	 * line BS=4. literal_end 0: nowhere, as a whole.
	 */
	size_t literal_offset, literal_start, literal_end;
	bool is_computed; /* they are not as they are: $((64 / 4)) stands there
			   */
	bool is_opaque;   /* holds an expansion whose value is not known */
	/*
	 * ARGUMENT: stands there as $1 and not by "$@": it can be changed, but
	 * neither dropped nor have a neighbour, for the others have numbers.
	 */
	bool is_numbered;
};

#endif
