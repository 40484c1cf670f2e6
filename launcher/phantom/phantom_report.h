/* What a phantom card saw, in words. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PHANTOM_PHANTOM_REPORT_H
#define AUTOFIT_LAUNCHER_PHANTOM_PHANTOM_REPORT_H

#include "base/strbuf.h"
#include "launcher/options/options.h"
#include "probes/phantom/phantom.h"

/*
 * Values that a program reads are zeros on a phantom, and what it does or how
 * large a result is may depend on them: what was measured is the least then,
 * and a failure may be of the zeros. NULL, or one sentence without its end; the
 * caller frees it.
 */
char *phantom_report_doubt(const struct phantom_seen *seen);

/*
 * Why nothing can be said of the program at all: a library of the card ended
 * it, or it used no card. failed: it did not end well. NULL, or one sentence
 * without its end; the caller frees it.
 */
char *phantom_report_refusal(const struct phantom_seen *seen, bool failed);

/* What a real card needs beside what was counted; NULL, or a sentence. */
const char *phantom_report_more(const struct phantom_seen *seen);

/* Lines of the report of `autofit phantom`. code: the command's exit code. */
void phantom_report(struct strbuf *out, const struct options_target *target,
		    const struct phantom_seen *seen, int code);

/* The exit code of autofit; see phantom_command(). */
int phantom_report_code(const struct options_target *target,
			const struct phantom_seen *seen, int code);

#endif
