/* The identity of a request: what an exact repeat of it must share. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_IDENTITY_H
#define AUTOFIT_LAUNCHER_REQUEST_IDENTITY_H

#include "launcher/request/request.h"

/*
 * Lines of text: the command with its knobs' values left out, world and
 * effective batch, the options that change an answer, the hardware by its
 * fingerprint, the content of script and files named in the command, the
 * program, and the environment that allocators read. The caller frees.
 */
char *identity_make(const struct request *request);

/* Is this file, a path without links, one whose content is part of it? */
bool identity_has_file(const struct command *command, const char *path);

/* What must agree, that a recorded command is read as it was then: labels for
 * identity_agrees_on. */
const char *const *identity_reading(void);

/* What a hint must share: the name of the script or program, the preset. */
char *identity_subject(const struct request *request);

/* The words after which a record is named: script, else program. */
const char *identity_name(const struct request *request);

#endif
