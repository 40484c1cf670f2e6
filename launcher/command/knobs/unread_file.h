/* Sizes in files that the command names and that nothing here reads. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_KNOBS_UNREAD_FILE_H
#define AUTOFIT_LAUNCHER_COMMAND_KNOBS_UNREAD_FILE_H

#include "launcher/command/parts/recognition.h"

/*
 * Sets the message of r where such a file has a line like "batch_size = 8", or
 * a mark {micro}: how it is given as a template. False: none has.
 */
bool unread_file_advise(const struct recognition *r);

#endif
