/* How many ranks the words of a command and of its script speak of. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_RANKS_BY_WORDS_H
#define AUTOFIT_LAUNCHER_COMMAND_RANKS_BY_WORDS_H

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
/* Sets command->open_ranks where it may start more ranks than are counted. */
void ranks_open(const struct recognition *r);

/* NPROC_PER_NODE, if the program may read it; 0: nothing. */
int64_t ranks_of_variable(const struct recognition *r);

#endif
