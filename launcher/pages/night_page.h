/* A night and those before it as a page, and as lines of a terminal. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PAGES_NIGHT_PAGE_H
#define AUTOFIT_LAUNCHER_PAGES_NIGHT_PAGE_H

#include "launcher/nightly/night_row.h"

/* nights: the oldest first, the one that is told of last; at least one. */
void night_page_html(const struct night *nights, size_t count,
		     struct strbuf *out);
void night_page_text(const struct night *nights, size_t count, bool is_ascii,
		     struct strbuf *out);

#endif
