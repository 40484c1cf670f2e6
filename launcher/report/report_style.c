/* How the report is to be written: terminal, locale, NO_COLOR, --color. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/report_style.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

struct report_style report_style_choose(const struct options *options)
{
	const char *term = getenv("TERM");
	bool dumb = !term || strcmp(term, "dumb") == 0;
	bool tty = isatty(STDERR_FILENO) != 0;
	struct report_style style = { .columns = 80 };

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
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		style->columns = size.ws_col;
}
