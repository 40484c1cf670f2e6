/* The command of a job split into words: quotes, but nothing of a shell. Pure.
 */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/jobs/jobs.h"

#include "launcher/command/shell/words/shell.h"
#include "launcher/command/shell/words/shell_word.h"

#include <errno.h>
#include <string.h>

#define USE_SHELL "write command = sh -c '...', or name a script"

/* The word without its quotes. */
static int take_word(const char *text, const struct shell_token *token,
		     struct strlist *words, struct strbuf *why)
{
	struct strbuf word = STRBUF_INIT;
	struct shell_parts parts;
	struct shell_part part;
	int result = 0;

	shell_parts_begin(&parts, text, token->span, false);
	while (result == 0 &&
	       shell_part_next(&parts, &part) != SHELL_PART_END) {
		if (part.kind == SHELL_PART_TEXT) {
			strbuf_add(&word, text + part.start,
				   part.end - part.start);
			continue;
		}
		strbuf_addf(why, "%.*s is for a shell: " USE_SHELL,
			    (int)(part.end - part.start), text + part.start);
		result = -EINVAL;
	}
	if (result == 0)
		strlist_add(words, strbuf_text(&word));
	strbuf_release(&word);
	return result;
}

/* ~ or ~/data. */
static bool is_home(const char *word, size_t length)
{
	return *word == '~' && (length == 1 || word[1] == '/');
}

int job_words(const char *text, struct strlist *words, struct strbuf *why)
{
	struct shell_lexer lexer = { .text = text,
				     .length = strlen(text),
				     .is_posix = true };
	struct shell_token token;
	enum shell_kind kind;

	while ((kind = shell_next(&lexer, &token)) != SHELL_END) {
		if (kind == SHELL_ERROR) {
			strbuf_addf(why, "%s: close what is open", lexer.error);
			return -EINVAL;
		}
		if (kind != SHELL_WORD) {
			strbuf_addf(why, "'%.*s' is for a shell: " USE_SHELL,
				    (int)(token.span.end - token.span.start),
				    text + token.span.start);
			return -EINVAL;
		}
		/* Hydra takes a key away by ~key. */
		if (is_home(text + token.span.start,
			    token.span.end - token.span.start)) {
			strbuf_adds(why, "'~' is for a shell: write the path "
					 "of the folder");
			return -EINVAL;
		}
		if (take_word(text, &token, words, why) < 0)
			return -EINVAL;
	}
	if (words->count && strcmp(words->items[0], "autofit") == 0) {
		strbuf_adds(why, "it begins with autofit: write the command "
				 "alone");
		return -EINVAL;
	}
	return 0;
}
