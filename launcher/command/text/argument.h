/* Single arguments: how they are shown, and what they look like. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_ARGUMENT_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_ARGUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line of at most this many bytes of an argument, for a message. */
#define BRIEF_MAX 72
const char *argument_brief(char text[BRIEF_MAX], const char *argument);

/* Digits only, at least 1: what a batch size is written as. */
bool count_parse(const char *text, int64_t *value);

/* 12.0 as 12; no other fraction. */
bool fraction_parse(const char *text, int64_t *value);

/* An option: "-" alone and -1 are values. */
bool argument_is_option(const char *text);
/* -b8 */
bool argument_is_glued(const char *text);
/* Bytes of the key before "=" of key=value; 0: it is none. */
size_t argument_key_length(const char *text);
/* SOLVER.IMS_PER_BATCH or OUTPUT_DIR, before its value. */
bool argument_is_pair_key(const char *text);
/* Neither option nor setting, whatever stands around it. */
bool argument_is_plain(const char *argument);

/* A path that only one probe could read. */
bool argument_is_pipe(const char *path);
/* python, python3, python3.11: the last part of a path. */
bool argument_is_python(const char *name);

#endif
