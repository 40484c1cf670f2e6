/* How the report is to be written: terminal, locale, NO_COLOR, --color. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/report_style.h"

#include "base/units.h"

#include <assert.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_LEAST 40
#define WIDTH_USUAL 80
#define WIDTH_MOST 500

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* 0: it is none, or does not say. */
static int terminal_columns(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

size_t report_width(void)
{
	const char *text = getenv("COLUMNS");
	int64_t columns = 0;

	if (!text || integer_parse(text, &columns, NULL) < 0 ||
	    columns < WIDTH_LEAST || columns > WIDTH_MOST)
		columns = terminal_columns(STDOUT_FILENO);
	return columns < WIDTH_LEAST ? WIDTH_USUAL : (size_t)columns;
}

struct report_style report_style_choose(const struct options *options)
{
	const char *term = getenv("TERM");
	bool dumb = !term || strcmp(term, "dumb") == 0;
	bool tty = isatty(STDERR_FILENO) != 0;
	struct report_style style = { .columns = 0 };

	style.live = tty && !dumb && !is_set("CI");
	style.color = tty && !dumb && !is_set("NO_COLOR");
	if (options->output.color != COLOR_AUTO)
		style.color = options->output.color == COLOR_ALWAYS;
	style.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	report_style_measure(&style);
	return style;
}

void report_style_measure(struct report_style *style)
{
	style->columns = terminal_columns(STDERR_FILENO);
	if (!style->columns)
		style->columns = (int)report_width();
	assert(style->columns > 0);
}
