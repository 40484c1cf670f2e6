/* What commands print that a script puts among its words. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/words/shell_expand.h"

#include "base/alloc.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/device_count.h"

#include <stdlib.h>
#include <string.h>

/* "python3" of $(which python3): which one it is, the words do not say. */
static char *python_found(const char *text, size_t length)
{
	static const char *const finders[] = { "$(which ", "`which ",
					       "$(command -v " };

	for (size_t i = 0; i < sizeof(finders) / sizeof(*finders); i++) {
		size_t first = strlen(finders[i]);
		char *name;

		if (length < first + 2 || memcmp(text, finders[i], first) != 0)
			continue;
		name = xstrndup(text + first, length - first - 1);
		if (argument_is_python(name))
			return name;
		free(name);
	}
	return NULL;
}

char *shell_output(struct shell_scope *scope, size_t start, size_t end)
{
	const char *text = scope->lexer->text + start;
	char *known = shell_own_folder(scope, start, end);

	/* As torchrun calls the number of visible devices. */
	if (!known && text_counts_devices(text, end - start))
		known = xstrdup("gpu");
	if (!known)
		known = python_found(text, end - start);
	return known;
}
