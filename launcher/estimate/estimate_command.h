/* Reads model and run from a training command. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_COMMAND_H
#define AUTOFIT_LAUNCHER_ESTIMATE_ESTIMATE_COMMAND_H

#include "base/error.h"
#include "base/model_facts.h"
#include "base/strlist.h"
#include "estimator/estimator.h"
#include "launcher/command/parts/command.h"
#include "launcher/options/estimate_request.h"

/*
 * The numbers of the model that stand in the command itself (--n_layer 12):
 * they win over those of its file. -EINVAL, -ERANGE: err names the option's
 * field.
 */
int estimate_command_fields(const struct command *command,
			    struct model_facts *facts, struct error *err);

/*
 * Fills what options have left open in request: sizes, ranks, precision,
 * optimizer, adapters, task. What a word means that is not known here is added
 * to notes.
 */
void estimate_command_run(const struct command *command,
			  struct estimate_request *request,
			  struct strlist *notes);

#endif
