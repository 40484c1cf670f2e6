/* Arguments as a POSIX shell reads them back, byte for byte. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/text/shellquote.h"

#include "base/strbuf.h"

#include <string.h>

static void quote(struct strbuf *out, const char *argument)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz"
				    "0123456789_@%+=:,./-";
	const char *mark;

	if (*argument && argument[strspn(argument, plain)] == '\0') {
		strbuf_adds(out, argument);
		return;
	}
	strbuf_addch(out, '\'');
	while ((mark = strchr(argument, '\''))) {
		strbuf_add(out, argument, (size_t)(mark - argument));
		strbuf_adds(out, "'\\''");
		argument = mark + 1;
	}
	strbuf_adds(out, argument);
	strbuf_addch(out, '\'');
}

char *shell_quote(const char *argument)
{
	struct strbuf out = STRBUF_INIT;

	quote(&out, argument);
	return strbuf_detach(&out);
}

char *shell_quote_all(const struct strlist *argv)
{
	struct strbuf out = STRBUF_INIT;

	/* Gives "" and not NULL for no arguments at all. */
	strbuf_adds(&out, "");
	for (size_t i = 0; i < argv->count; i++) {
		if (i > 0)
			strbuf_addch(&out, ' ');
		quote(&out, argv->items[i]);
	}
	return strbuf_detach(&out);
}
