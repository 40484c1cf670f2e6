/* How a command that only looks gives its answer. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_REPORT_ANSWER_H
#define AUTOFIT_LAUNCHER_REPORT_REPORT_ANSWER_H

#include "base/strbuf.h"
#include "launcher/options/options.h"

/*
 * Text to stdout: the exit code, or 125 after a line on stderr when it cannot
 * be written; a pipe that nobody reads any more is no failure.
 */
int report_print(const struct strbuf *text, int code);

/*
 * The text to stdout; with --json - the object instead, with --json FILE the
 * object into that file too. EXIT_DONE, or 125 after a line on stderr.
 */
int report_answer(const struct options *options, const struct strbuf *text,
		  const struct strbuf *json);

#endif
