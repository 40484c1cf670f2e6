/* What the checks of a doctor found, line by line. */
/* SPDX-License-Identifier: MIT */
#include "launcher/doctor/doctor_checks.h"

#include "launcher/command/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void doctor_add(struct doctor *doctor, enum finding finding, const char *what,
		const char *format, ...)
{
	static const char *const words[] = { [FINDING_GOOD] = "ok",
					     [FINDING_NOTE] = "note",
					     [FINDING_BAD] = "bad" };
	char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	strbuf_addf(&doctor->out, "%-5s %-10s ", words[finding], what);
	text_add_safe(&doctor->out, text, false);
	strbuf_adds(&doctor->out, "\n");
	doctor->has_bad = doctor->has_bad || finding == FINDING_BAD;
	free(text);
}
