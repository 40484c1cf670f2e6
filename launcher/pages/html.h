/* Pieces of a page: head and style, and text that cannot become markup. Pure.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_PAGES_HTML_H
#define AUTOFIT_LAUNCHER_PAGES_HTML_H

#include "base/strbuf.h"

#include <stdbool.h>

/* The text as it is read, also inside "..." of an attribute. NULL: nothing. */
void html_text(struct strbuf *out, const char *text);

/* All up to and with <main>; the page needs nothing but itself. */
void html_begin(struct strbuf *out, const char *title);
void html_end(struct strbuf *out);

/* <tag>text</tag> */
void html_element(struct strbuf *out, const char *tag, const char *text);
/* <dt>name</dt><dd>text</dd>; nothing without a text. */
void html_field(struct strbuf *out, const char *name, const char *text);
struct html_head {
	const char *name; /* NULL ends them */
	bool is_number;   /* its cells have the class n */
};

/* A table that can be scrolled by keys. */
void html_table_begin(struct strbuf *out, const char *caption,
		      const struct html_head *heads);
void html_table_end(struct strbuf *out);

/* With one digit behind the point, whatever the locale. */
void html_number(struct strbuf *out, double number);

#endif
