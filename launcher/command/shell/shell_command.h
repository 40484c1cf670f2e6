/* Shell text inside a command, word by word: bash -c '...', ./train.sh. Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_COMMAND_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_COMMAND_H

#include "base/error.h"
#include "base/strlist.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/shell/words/word.h"
#include "launcher/command/text/command_outcome.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A command with its shell text taken apart: one flat argv, as if the words
 * stood there ("bash" "-c" and then the words of the text; or "./train.sh",
 * and then the words of the line that trains, the arguments of the script
 * standing where "$@" does). All zero: nothing to take apart.
 */
struct shell_expansion {
	struct strlist argv; /* flat; count 0: the given argv is flat itself */
	struct word *words;  /* one for each of argv */
	size_t inner;        /* index in the flat argv where the inner command
			      * begins; assignments before it are skipped */
	/*
	 * Where arguments can be added: past the last of the inner command
	 * (shell text), past what "$@" stands for (script); NO_INDEX: nowhere.
	 */
	size_t append_at;
	char *script; /* path of the script file; NULL: shell text */
	size_t text;  /* of the given argv: the shell text; NO_INDEX: none */
	/*
	 * Where cd leads before the line that trains: paths in it are seen from
	 * there. "": it cannot be told. NULL: it stays where it is.
	 */
	char *folder;
};

/* The path as seen from here; the caller frees. NULL: it cannot be told. */
char *shell_path(const char *folder, const char *path);

/* A shell in a command. */
struct shell_call {
	const struct strlist *argv;
	size_t at; /* of it: the shell, or a script */
	/* What variables are set to; NULL: not known. */
	const struct strlist *environment;
	/*
	 * In $(( )) and $( ) the numbers that variables and arguments stand
	 * for are said instead of them: of two calls it can be told what is
	 * computed from what differs. No word that holds one is for use.
	 */
	bool looks_inside;
};

/*
 * Takes apart the shell at argv[at] (bash, sh, dash, zsh, ksh; or a script
 * that ends in .sh): its -c text must be exactly one simple command (leading
 * assignments, exec, redirections at its end are fine); of a script, the one
 * line that starts a training is found (python, torchrun, accelerate,
 * deepspeed and such; cd, echo, export, module load, source, set, if [ ] around
 * variables, mkdir are passed over).
 * COMMAND_NOT_RECOGNISED with why and the way out when it is more than that;
 * COMMAND_REFUSED for one read from stdin.
 * The caller releases the expansion whatever the outcome.
 */
enum command_outcome shell_command_expand(struct shell_expansion *expansion,
					  const struct shell_call *call,
					  struct named_files *texts,
					  struct error *err);
void shell_expansion_release(struct shell_expansion *expansion);

/* A word of a rewritten flat argv. */
struct new_word {
	const char *text;
	size_t from; /* index in the flat argv; NO_INDEX: it is new */
};

/*
 * Appends the argv to start: the given one with the changes of the flat one
 * written back. Words that did not change keep their bytes; a changed or new
 * word inside shell text is quoted where it must be; a dropped one goes with
 * the blanks before it. Words of a script file are left out (the script says
 * them); new ones stand where append_at is.
 */
void shell_rewrite_fold(const struct shell_expansion *expansion,
			const struct strlist *given,
			const struct new_word *words, size_t count,
			struct strlist *out);

#endif
