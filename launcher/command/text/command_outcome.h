/* How the reading of a command can end. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_COMMAND_OUTCOME_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_COMMAND_OUTCOME_H

#include <stdint.h>

#define NO_INDEX SIZE_MAX

/* The message is in err but for OK. */
enum command_outcome {
	COMMAND_OK,
	COMMAND_UNREADABLE,     /* exit 121: the script cannot be read */
	COMMAND_NOT_RECOGNISED, /* exit 122 */
	COMMAND_REFUSED,        /* exit 123: cannot be probed safely */
	COMMAND_USAGE,          /* exit 125: a wrong option, with the way out */
};

#endif
