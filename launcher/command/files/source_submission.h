/* Where a script hands its work on to other machines. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_SUBMISSION_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_SUBMISSION_H

/*
 * The module or the program by which the script submits jobs, and its line;
 * NULL: it does not.
 */
const char *source_submission_find(const char *text, const char *end,
				   unsigned *line_number);

#endif
