/* What a command is for, as far as its words and its script say. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_PURPOSE_H
#define AUTOFIT_LAUNCHER_COMMAND_PURPOSE_H

#include "launcher/command/parts/recognition.h"

/* Refused where the script hands the training on to other machines. */
enum command_outcome submission_check(struct recognition *r);
/* Not recognised where the command says that it only evaluates. */
enum command_outcome evaluation_check(struct recognition *r);
/* Not recognised where the program is told to find its batch size itself. */
enum command_outcome own_search_check(struct recognition *r);

#endif
