/* All words the user sees: progress while probing, the report at the end. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_REPORT_H
#define AUTOFIT_LAUNCHER_REPORT_REPORT_H

#include "base/strbuf.h"
#include "base/trial.h"
#include "launcher/report/result.h"

#include <stdbool.h>
#include <stdint.h>

/* How to write: decided once from the options, the terminal and NO_COLOR. */
struct report_style {
	bool color;
	bool live;   /* stderr is a tty that can redraw a line */
	bool ascii;  /* the locale is not UTF-8 */
	int columns; /* 80 when not known */
};

/* A probe under way, for the live line. */
struct progress {
	int64_t micro_batch, grad_accum;
	int64_t steps, steps_needed;
	const char *what; /* "starting", "probing", "confirming", "stopping" */
	uint64_t current_peak_bytes, limit_bytes;
	double seconds;
	int64_t frame; /* counts up: spins the spinner */
	size_t beside; /* probes that run at the same time (--parallel) */
};

/* Each appends text to out; whoever calls writes it to the right stream. */
void report_start(struct strbuf *out, const struct report_style *style,
		  const struct result *result, const char *device_words);
void report_progress(struct strbuf *out, const struct report_style *style,
		     const struct progress *progress);
void report_probe(struct strbuf *out, const struct report_style *style,
		  const struct result *result, const struct probe_note *note);
/* The final report; for a reused record one line. */
void report_final(struct strbuf *out, const struct report_style *style,
		  const struct result *result);

#endif
