/* How many ranks the words of a command and of its script speak of. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_RANKS_RANKS_BY_WORDS_H
#define AUTOFIT_LAUNCHER_COMMAND_RANKS_RANKS_BY_WORDS_H

#include "launcher/command/parts/recognition.h"
#include "launcher/command/parts/token.h"

#include <stdbool.h>
#include <stdint.h>

/* "0,1": one rank on each that is named. */
int64_t ranks_listed(const char *text);
/* "2", "0,1", "[0,1]", "auto", "-1"; false: it is something else. */
bool ranks_of_devices_text(const char *text, int64_t visible, int64_t *count);

/* The option by which such a program is told of more nodes than this one;
 * false: there is none. */
bool ranks_name_nodes(const struct recognition *r, struct token *option);

/* A program that nobody knows, but it spawns, and is told how many: sets its
 * world size. */
void ranks_by_words(const struct recognition *r);

/* By a word of the command, or else by a config file; 0: none says it. */
int64_t ranks_said(const struct recognition *r);
/* NPROC_PER_NODE, if the program may read it; 0: nothing. */
int64_t ranks_of_variable(const struct recognition *r);

/* Does the script call what starts ranks, by itself or by a module of its own?
 */
bool ranks_are_started(const char *text);

#endif
