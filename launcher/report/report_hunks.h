/* Two lists of words as what is dropped and added, place by place. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REPORT_REPORT_HUNKS_H
#define AUTOFIT_LAUNCHER_REPORT_REPORT_HUNKS_H

#include "base/strbuf.h"
#include "base/strlist.h"

/*
 * A line with "-" and one with "+" for every place where words are inserted,
 * dropped or replaced; none are moved. A value stands behind its option. Words
 * are quoted for a shell, and long ones are cut.
 *
 *	- --batch-size 8
 *	+ --batch-size 16
 *
 * Nothing is added where the lists are equal.
 */
void report_hunks_add(struct strbuf *out, const struct strlist *before,
		      const struct strlist *after);

/* One word behind a sign, on a line of its own. */
void report_hunks_add_word(struct strbuf *out, char sign, const char *word);

#endif
