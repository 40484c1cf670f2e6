/* What the rows of several families of launchers say alike. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_LAUNCHERS_ROWS_H
#define AUTOFIT_LAUNCHER_COMMAND_WRAPPERS_LAUNCHERS_ROWS_H

#define NAMES(...)                                                             \
	(const char *const[])                                                  \
	{                                                                      \
		__VA_ARGS__, NULL                                              \
	}

/* What to do instead. */
#define IN_FRONT                                                               \
	"put it in front of autofit, which passes it on to probes and run"
#define INSIDE                                                                 \
	"memory cannot be watched from outside: start autofit inside, in "     \
	"front of the training command"
#define WITHOUT                                                                \
	"start the training without it, or put autofit in front of the "       \
	"training command itself"
#define IN_A_FILE                                                              \
	"what it starts is in a file: write it in the command, or start "      \
	"autofit in front of the training command itself"
#define CHDIR                                                                  \
	"it changes the folder, so files that the command names cannot be "    \
	"found: start autofit there"
#define ELASTIC                                                                \
	"the number of ranks may change while probing: leave it out, so that " \
	"it stays as it is"

#endif
