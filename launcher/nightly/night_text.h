/* A night as text: Markdown, CSV, Prometheus, and lines for people. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_TEXT_H
#define AUTOFIT_LAUNCHER_NIGHTLY_NIGHT_TEXT_H

#include "base/strbuf.h"
#include "launcher/nightly/night_row.h"

void night_markdown(const struct night *night, struct strbuf *out);
void night_csv(const struct night *night, struct strbuf *out);
/* As the textfile collector of Prometheus reads it. */
void night_metrics(const struct night *night, struct strbuf *out);
/* "micro 32 x accum 1, 43.2 of 58.0 MiB, better: torch 2.8 -> 2.9" */
void night_line(const struct night_row *row, struct strbuf *out);

#endif
