/* Files of variables that a script reads in. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_sourced.h"

#include <stdlib.h>
#include <string.h>

/* More is no list of a few variables. */
#define SOURCED_BYTES_MAX ((size_t)16 * 1024)

/* What is done with each assignment. */
typedef void sourced_take(struct shell_reader *reader, struct shell_span word,
			  bool is_exported);

static bool is_export(const char *text, struct shell_span word)
{
	return word.end - word.start == 6 &&
	       memcmp(text + word.start, "export", 6) == 0;
}

/* Each assignment in turn (take may be NULL); false: there is more. */
static bool sourced_visit(struct shell_reader *reader,
			  const struct strbuf *text, sourced_take *take)
{
	struct shell_lexer lexer = { .text = strbuf_text(text),
				     .length = text->length,
				     .is_posix = reader->lexer.is_posix };
	struct shell_assignment assignment;
	bool begins = true, exports = false;
	struct shell_token token;

	while (shell_next(&lexer, &token) != SHELL_END) {
		bool ends = token.kind == SHELL_NEWLINE ||
			    token.kind == SHELL_SEMICOLON;

		if (ends || (begins && is_export(lexer.text, token.span))) {
			exports = !ends;
			begins = ends;
			continue;
		}
		if (token.kind != SHELL_WORD || lexer.met & SHELL_MET_COMMAND ||
		    !shell_assignment_read(lexer.text, token.span, &assignment))
			return false;
		if (take)
			take(reader, token.span, exports);
		begins = false;
	}
	return true;
}

static void sourced_assign(struct shell_reader *reader, struct shell_span word,
			   bool is_exported)
{
	struct shell_variable *variable =
		shell_assign(&reader->scope, word, SHELL_ALWAYS);

	variable->is_exported = variable->is_exported || is_exported;
	/* In the script the line that reads the file says it. */
	variable->assigned = reader->words[0];
	for (size_t i = 0; i < variable->value.count; i++) {
		variable->value.items[i].piece_count = 0;
		variable->value.items[i].word.literal_end = 0;
	}
}

bool shell_sourced_read(struct shell_reader *reader, const struct strbuf *text)
{
	struct shell_lexer lexer = { .text = strbuf_text(text),
				     .length = text->length };
	struct shell_lexer *script = reader->scope.lexer;

	if (text->length > SOURCED_BYTES_MAX ||
	    !sourced_visit(reader, text, NULL))
		return false;
	reader->scope.lexer = &lexer;
	(void)sourced_visit(reader, text, sourced_assign);
	reader->scope.lexer = script;
	return true;
}
