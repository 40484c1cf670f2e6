/* Pieces of a page: head and style, and text that cannot become markup. Pure.
 */
/* SPDX-License-Identifier: MIT */
#include "launcher/pages/html.h"

#include "launcher/command/text/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * Two schemes by the reader's own setting, one column on a phone, and paper.
 * Good and bad differ in shape too, and both stand out on both grounds.
 */
static const char style[] =
	":root{color-scheme:light dark;--ground:#fff;--ink:#1b1f24;"
	"--soft:#57606a;--rule:#d0d7de;--panel:#f6f8fa;--good:#0a7d55;"
	"--bad:#c0392b;--open:#9a6700;--line:#0969da}\n"
	"@media(prefers-color-scheme:dark){:root{--ground:#0d1117;"
	"--ink:#e6edf3;--soft:#9aa4af;--rule:#30363d;--panel:#161b22;"
	"--good:#3fb98a;--bad:#ff7b72;--open:#e3b341;--line:#58a6ff}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;background:var(--ground);color:var(--ink);"
	"font:16px/1.5 system-ui,sans-serif}\n"
	"main{max-width:76rem;margin:0 auto;padding:1rem}\n"
	"h1{font-size:1.5rem;margin:.5rem 0;overflow-wrap:anywhere}\n"
	"h2{font-size:1.15rem;margin:2rem 0 .5rem}\n"
	".skip{position:absolute;left:-999rem}.skip:focus{left:1rem;top:1rem;"
	"background:var(--panel);padding:.5rem}\n"
	":focus-visible{outline:3px solid var(--line);outline-offset:2px}\n"
	"dl{display:grid;grid-template-columns:max-content 1fr;"
	"gap:.25rem 1rem;margin:0}dt{color:var(--soft)}"
	"dd{margin:0;overflow-wrap:anywhere}\n"
	".charts{display:grid;gap:1rem;"
	"grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr))}\n"
	"figure{margin:0;padding:.75rem;background:var(--panel);"
	"border:1px solid var(--rule);border-radius:6px}\n"
	"figcaption{font-weight:600}svg{display:block;width:100%;height:auto}\n"
	"svg text{fill:var(--soft);font-size:12px}\n"
	".grid{stroke:var(--rule)}.axis{stroke:var(--soft)}"
	".fit{stroke:var(--line);stroke-width:2;fill:none;"
	"stroke-dasharray:5 4}\n"
	".level{stroke:var(--bad);stroke-width:1.5}"
	".band{fill:var(--bad);opacity:.12}\n"
	".good{fill:var(--good);stroke:var(--good)}"
	".bad{stroke:var(--bad);fill:none;stroke-width:2.5}"
	".open{stroke:var(--open);fill:var(--panel);stroke-width:2.5}"
	".bar.bad{fill:var(--bad)}.bar.open{fill:var(--open)}"
	".spread{stroke:var(--ink)}\n"
	".legend{color:var(--soft);font-size:.875rem;margin:.25rem 0 0}\n"
	"pre{background:var(--panel);border:1px solid var(--rule);"
	"border-radius:6px;padding:.75rem;white-space:pre-wrap;"
	"overflow-wrap:anywhere;margin:.5rem 0}\n"
	".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;"
	"font-variant-numeric:tabular-nums}\n"
	"caption{text-align:left;color:var(--soft);padding:.25rem 0}"
	"th,td{text-align:left;padding:.375rem .625rem;vertical-align:top;"
	"border-bottom:1px solid var(--rule)}thead th{white-space:nowrap}"
	".n{text-align:right!important;white-space:nowrap}"
	"tbody th{font-weight:600;white-space:nowrap}\n"
	"td.why{min-width:14rem}tr:has(+tr.why)>*{border-bottom:0}"
	"tr.why td{padding-top:0;color:var(--soft)}"
	"tr.why div{position:sticky;left:.625rem;overflow-wrap:anywhere;"
	"max-width:calc(100vw - 3.25rem)}\n"
	"td svg{width:7.5rem}.is-bad{color:var(--bad);font-weight:600}"
	".is-good{color:var(--good);font-weight:600}\n"
	"footer{color:var(--soft);font-size:.875rem;margin-top:2rem}\n"
	"@media print{:root{--ground:#fff;--ink:#000;--soft:#444;"
	"--rule:#bbb;--panel:#fff;--good:#0a7d55;--bad:#c0392b;"
	"--open:#9a6700;--line:#0969da}main{max-width:none;padding:0}"
	"figure,tr,pre{break-inside:avoid}.skip{display:none}"
	"tr.why div{max-width:none}}\n";

static void add_escaped(struct strbuf *out, char c)
{
	switch (c) {
	case '&':
		strbuf_adds(out, "&amp;");
		break;
	case '<':
		strbuf_adds(out, "&lt;");
		break;
	case '>':
		strbuf_adds(out, "&gt;");
		break;
	case '"':
		strbuf_adds(out, "&quot;");
		break;
	case '\'':
		strbuf_adds(out, "&#39;");
		break;
	default:
		/* Control characters are not allowed in HTML. */
		if ((unsigned char)c < ' ' && c != '\n' && c != '\t')
			strbuf_adds(out, "\xef\xbf\xbd");
		else
			strbuf_addch(out, c);
	}
}

void html_text(struct strbuf *out, const char *text)
{
	struct strbuf clean = STRBUF_INIT;

	text_add_utf8(&clean, text ? text : "");
	for (size_t i = 0; i < clean.length; i++)
		add_escaped(out, clean.data[i]);
	strbuf_release(&clean);
}

void html_begin(struct strbuf *out, const char *title)
{
	strbuf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
			 "<meta charset=\"utf-8\">\n"
			 "<meta name=\"viewport\" "
			 "content=\"width=device-width,initial-scale=1\">\n"
			 "<meta http-equiv=\"Content-Security-Policy\" "
			 "content=\"default-src 'none';"
			 "style-src 'unsafe-inline'\">\n");
	html_element(out, "title", title);
	strbuf_addf(out,
		    "<style>\n%s</style>\n</head>\n<body>\n"
		    "<a class=\"skip\" href=\"#content\">Skip to the "
		    "content</a>\n<main id=\"content\">\n",
		    style);
	html_element(out, "h1", title);
}

void html_end(struct strbuf *out)
{
	strbuf_adds(out, "<footer>Written by autofit " AUTOFIT_VERSION
			 ".</footer>\n</main>\n</body>\n</html>\n");
}

void html_element(struct strbuf *out, const char *tag, const char *text)
{
	strbuf_addf(out, "<%s>", tag);
	html_text(out, text);
	strbuf_addf(out, "</%s>\n", tag);
}

void html_field(struct strbuf *out, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	html_element(out, "dt", name);
	html_element(out, "dd", text);
}

void html_table_begin(struct strbuf *out, const char *caption,
		      const struct html_head *heads)
{
	strbuf_adds(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
			 "aria-label=\"");
	html_text(out, caption);
	strbuf_adds(out, "\"><table>\n");
	html_element(out, "caption", caption);
	strbuf_adds(out, "<thead><tr>");
	for (; heads->name; heads++) {
		strbuf_addf(out, "<th scope=\"col\"%s>",
			    heads->is_number ? " class=\"n\"" : "");
		html_text(out, heads->name);
		strbuf_adds(out, "</th>");
	}
	strbuf_adds(out, "</tr></thead>\n<tbody>\n");
}

void html_table_end(struct strbuf *out)
{
	strbuf_adds(out, "</tbody></table></div>\n");
}

void html_number(struct strbuf *out, double number)
{
	int64_t tenths = (int64_t)llround(number * 10);
	int64_t size = tenths < 0 ? -tenths : tenths;

	strbuf_addf(out, "%s%" PRId64 ".%" PRId64, tenths < 0 ? "-" : "",
		    size / 10, size % 10);
}
