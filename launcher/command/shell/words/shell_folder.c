/* The ways in which a script names its own folder. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/words/shell_expand.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Longer ones say something else. */
#define LENGTH_MAX 200

/* Another spelling of the same. */
struct spelling {
	const char *from, *to;
};

static const struct spelling spellings[] = {
	{ "\"", "" },
	{ " ", "" },
	{ "\t", "" },
	{ "${BASH_SOURCE[0]}", "$0" },
	{ "${BASH_SOURCE}", "$0" },
	{ "$BASH_SOURCE", "$0" },
	{ "${0}", "$0" },
	{ "&>/dev/null", "" },
	{ ">/dev/null2>&1", "" },
	{ "2>/dev/null", "" },
	{ ">/dev/null", "" },
	{ "cd--", "cd" },
	{ "cd-P", "cd" },
	{ "pwd-P", "pwd" },
	{ "dirname--", "dirname" },
	{ ";pwd", "&&pwd" },
	{ "readlink-f", "realpath" },
	{ "$(realpath$0)", "$0" },
};

static void respell(struct strbuf *text, const struct spelling *spelling)
{
	struct strbuf out = STRBUF_INIT;
	const char *at = strbuf_text(text);
	const char *found;

	while ((found = strstr(at, spelling->from))) {
		strbuf_add(&out, at, (size_t)(found - at));
		strbuf_adds(&out, spelling->to);
		at = found + strlen(spelling->from);
	}
	strbuf_adds(&out, at);
	strbuf_release(text);
	*text = out;
}

/* What lies between both ends of the text; false: they are others. */
static bool between(const char *text, const char *begin, const char *end,
		    struct strbuf *middle)
{
	size_t length = strlen(text);
	size_t first = strlen(begin);
	size_t last = strlen(end);

	if (length < first + last || strncmp(text, begin, first) != 0 ||
	    strcmp(text + length - last, end) != 0)
		return false;
	strbuf_add(middle, text + first, length - first - last);
	return true;
}

static bool is_below(const char *path)
{
	return *path == '\0' ||
	       (*path == '/' &&
		strcspn(path, "$`'*?[~;&|<>(){}\\\n") == strlen(path));
}

/* Of the script, as it was named; the caller frees. */
static char *folder_of(const char *script)
{
	const char *slash = strrchr(script, '/');

	if (!slash)
		return xstrdup(".");
	return slash == script ? xstrdup("/")
			       : xstrndup(script, (size_t)(slash - script));
}

/* The folder as pwd prints it, where that is known; takes folder. */
static char *absolute(const struct shell_scope *scope, char *folder)
{
	const char *here = scope->environment
				   ? strlist_env_get(scope->environment, "PWD")
				   : NULL;
	char *joined;

	if (*folder == '/' || !here || *here != '/')
		return folder;
	joined = strcmp(folder, ".") == 0 ? xstrdup(here)
					  : xasprintf("%s/%s", here, folder);
	free(folder);
	return joined;
}

/* As respelled; NULL: something else. */
static char *folder_recognise(const struct shell_scope *scope, const char *text)
{
	struct strbuf below = STRBUF_INIT;
	char *folder = NULL;
	char *own = NULL;

	if (strcmp(text, "$(pwd)") == 0)
		return absolute(scope, xstrdup("."));
	own = folder_of(scope->script);
	if (strcmp(text, "$(dirname$0)") == 0 || strcmp(text, "${0%/*}") == 0)
		folder = xstrdup(own);
	else if ((between(text, "$(cd$(dirname$0)", "&&pwd)", &below) ||
		  between(text, "$(cd${0%/*}", "&&pwd)", &below)) &&
		 is_below(strbuf_text(&below)))
		folder = absolute(scope,
				  xasprintf("%s%s", own, strbuf_text(&below)));
	free(own);
	strbuf_release(&below);
	return folder;
}

char *shell_own_folder(const struct shell_scope *scope, size_t start,
		       size_t end)
{
	struct strbuf text = STRBUF_INIT;
	const char *bytes = scope->lexer->text + start;
	size_t length = end - start;
	char *folder;

	if (!scope->script || scope->has_moved || length < 3 ||
	    length > LENGTH_MAX || memchr(bytes, '\0', length) ||
	    !(memmem(bytes, length, "dirname", 7) ||
	      memmem(bytes, length, "pwd", 3) ||
	      memmem(bytes, length, "%/*", 3)))
		return NULL;
	if (*bytes == '`') {
		strbuf_adds(&text, "$(");
		strbuf_add(&text, bytes + 1, length - 2);
		strbuf_adds(&text, ")");
	} else {
		strbuf_add(&text, bytes, length);
	}
	for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings); i++)
		respell(&text, &spellings[i]);
	folder = folder_recognise(scope, strbuf_text(&text));
	strbuf_release(&text);
	return folder;
}
