/* Which config file, of those that a probe opened, says the batch size. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_OPENED_CONFIG_H
#define AUTOFIT_LAUNCHER_REQUEST_OPENED_CONFIG_H

#include "base/strlist.h"
#include "launcher/command/text/seen_meaning.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The only one of the paths in which a name of a batch size has the value of
 * rows, which a pass took, or of whole, which a step did. Sets
 * seen->config_file. Reads the files; one that cannot be read says nothing.
 */
bool opened_config_find(const struct strlist *opened, int64_t rows,
			int64_t whole, struct seen_meaning *seen);

#endif
