/* The exit codes of autofit itself; a command that ran gives its own. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_OPTIONS_EXITCODE_H
#define AUTOFIT_LAUNCHER_OPTIONS_EXITCODE_H

enum exitcode {
	EXIT_DONE = 0,
	EXIT_NEEDS_A_LOOK = 119, /* nightly */
	EXIT_NOTHING_FITS = 120,
	EXIT_COMMAND_FAILED = 121, /* for another reason than memory */
	EXIT_NOT_RECOGNISED = 122,
	EXIT_REFUSED = 123, /* probing would not be safe here */
	EXIT_TIME_LIMIT = 124,
	EXIT_AUTOFIT_FAILED = 125, /* or wrong usage */
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
};

#endif
