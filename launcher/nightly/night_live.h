/* The table at the terminal while a night goes on. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_LIVE_H
#define AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_LIVE_H

#include "base/batch.h"
#include "base/strbuf.h"
#include "launcher/options/options.h"
#include "launcher/report/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A job that is over has its line for good, as without a terminal. Below these
 * lines stands the table of the others, a row for each, and is drawn anew in
 * its place. Without a terminal there is none.
 */
struct night_live_row {
	const char *name, *state; /* "runs", "queued", "waits" */
	const char *node;         /* "": not known */
	size_t probes;            /* so far */
	struct batch best;        /* of them; micro_batch 0: none fits yet */
	int64_t seconds;          /* since it was started; negative: it waits */
};

/* What the log of a tuning says so far: probes and best of the row. Pure. */
void night_live_read_log(struct night_live_row *row, const char *text);

/*
 * The table in at most so many lines: those that wait are counted where there
 * is no room for them. Every line fits into style->columns. Pure.
 */
void night_live_table(struct strbuf *out, const struct report_style *style,
		      const struct night_live_row *rows, size_t count,
		      size_t lines_max);

struct night_live {
	bool is_on;
	struct report_style style;
	size_t drawn; /* lines that stand there; 0: draw below what is there */
	int64_t next_ms;
};

void night_live_open(struct night_live *live, const struct options *options);
/* Is it on, and time to draw it anew? */
bool night_live_is_due(const struct night_live *live);
void night_live_draw(struct night_live *live, const struct night_live_row *rows,
		     size_t count);
/* Before a line for good, and at the end: nothing of it is left. */
void night_live_clear(struct night_live *live);
/* The terminal has another size, or somebody else wrote to it. */
void night_live_forget(struct night_live *live);

#endif
