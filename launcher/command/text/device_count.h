/* The ways in which a script counts the devices of the machine. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_DEVICE_COUNT_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_DEVICE_COUNT_H

#include "base/span.h"

#include <stdbool.h>
#include <stddef.h>

/* Is that $(nvidia-smi -L | wc -l), or one of its kin, or in backquotes? */
bool text_counts_devices(const char *text, size_t length);
/* Is that $(echo $NAME | awk -F, '{print NF}')? name: within the text. */
bool text_counts_list(const char *text, size_t length, struct span *name);

#endif
