/* A record as a page, and as curves in a terminal. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PAGES_RECORD_PAGE_H
#define AUTOFIT_LAUNCHER_PAGES_RECORD_PAGE_H

#include "configs/records/record.h"

void record_page_html(const struct record *record, struct strbuf *out);
void record_page_text(const struct record *record, size_t columns,
		      bool is_ascii, struct strbuf *out);

#endif
