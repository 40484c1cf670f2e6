/* Shell text is cut into words, operators and parts where shells cut it. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/shell/words/shell.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "launcher/command/shell/words/shell_word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* Tokens as "word", operators by a letter, with | between them. */
static void tokens_show(struct strbuf *out, struct shell_lexer *lexer)
{
	static const char *const names[] = {
		[SHELL_NEWLINE] = "NL",      [SHELL_SEMICOLON] = ";",
		[SHELL_CASE_END] = ";;",     [SHELL_BACKGROUND] = "&",
		[SHELL_AND] = "&&",          [SHELL_OR] = "||",
		[SHELL_PIPE] = "PIPE",       [SHELL_OPEN] = "(",
		[SHELL_CLOSE] = ")",         [SHELL_REDIRECT] = "R",
		[SHELL_HEREDOC] = "HEREDOC", [SHELL_ERROR] = "ERROR",
	};
	struct shell_token token;

	strbuf_adds(out, "");
	while (shell_next(lexer, &token) != SHELL_END) {
		if (out->length)
			strbuf_adds(out, " | ");
		if (token.kind == SHELL_ERROR) {
			strbuf_addf(out, "ERROR %u %s",
				    shell_line(lexer, lexer->error_at),
				    lexer->error);
			return;
		}
		if (token.kind != SHELL_WORD)
			strbuf_adds(out, names[token.kind]);
		if (token.kind == SHELL_REDIRECT)
			strbuf_addch(out, ':');
		if (token.kind == SHELL_WORD || token.kind == SHELL_REDIRECT)
			strbuf_add(out, lexer->text + token.span.start,
				   token.span.end - token.span.start);
	}
}

struct token_row {
	const char *text, *tokens;
};

static const struct token_row token_rows[] = {
	{ "", "" },
	{ "  \t ", "" },
	{ "# all a comment", "" },
	{ "a b", "a | b" },
	{ "a\tb  c", "a | b | c" },
	{ "a#b #c", "a#b" },
	{ "a;#b\nc", "a | ; | NL | c" },
	{ "a\\\nb", "a\\\nb" },
	{ "a \\\n  b", "a | b" },
	{ "a\\ b", "a\\ b" },
	{ "'a b'c", "'a b'c" },
	{ "\"a b\"c", "\"a b\"c" },
	{ "\"a'b\" c'd\"e'", "\"a'b\" | c'd\"e'" },
	{ "\"a\\\"b\" c", "\"a\\\"b\" | c" },
	{ "a&&b||c|d|&e&f;g", "a | && | b | || | c | PIPE | d | PIPE | e | & "
			      "| f | ; | g" },
	{ "(a)", "( | a | )" },
	{ "a;;b;&c;;&d", "a | ;; | b | ;; | c | ;; | d" },
	{ "a>b", "a | R:>b" },
	{ "a > b 2>&1 c", "a | R:> b | R:2>&1 | c" },
	{ "a 2>b", "a | R:2>b" },
	{ "a2>b", "a2 | R:>b" },
	{ "a '2'>b", "a | '2' | R:>b" },
	{ "a &>b &>>c <d <<<\"e f\" >|g <>h <&3",
	  "a | R:&>b | R:&>>c | R:<d | R:<<<\"e f\" | R:>|g | R:<>h | R:<&3" },
	{ "a > >(tee b) <(c d)e", "a | R:> >(tee b) | <(c d)e" },
	{ "a >", "a | ERROR 1 a redirection names no file" },
	{ "$(a b) c", "$(a b) | c" },
	{ "\"$(a \"b c\" ')')\" d", "\"$(a \"b c\" ')')\" | d" },
	{ "$(a (b) # )\n) c", "$(a (b) # )\n) | c" },
	{ "$((1 << (2))) a", "$((1 << (2))) | a" },
	{ "$[B/(2*a[1])] a", "$[B/(2*a[1])] | a" },
	{ "`a b` `\\`c\\`` d", "`a b` | `\\`c\\`` | d" },
	{ "${A:-b c} d", "${A:-b c} | d" },
	{ "\"${A:-it's}\" b", "\"${A:-it's}\" | b" },
	{ "${A:-'}'} b", "${A:-'}'} | b" },
	{ "${A:-${B:-\"}\"}} c", "${A:-${B:-\"}\"}} | c" },
	{ "$'a\\'b' c", "$'a\\'b' | c" },
	{ "$\"a b\" c", "$\"a b\" | c" },
	{ "A=(b 'c d'\n e) f", "A=(b 'c d'\n e) | f" },
	{ "A+=(b) A[1]=c", "A+=(b) | A[1]=c" },
	{ "f() { :; }", "f | ( | ) | { | : | ; | }" },
	{ "a <<E b\nx y\n$(\nE\nc", "a | HEREDOC | b | NL | c" },
	{ "a <<-'E' <<F\nx\n\tE\ny\nF\nc", "a | HEREDOC | HEREDOC | NL | c" },
	{ "a <<E\nx", "a | HEREDOC | NL" },
	{ "\xff\xfe \xc3\xa4", "\xff\xfe | \xc3\xa4" },
	{ "a\rb\fc", "a\rb\fc" },
	{ "a\\", "a\\" },
	{ "$", "$" },
	{ "\"$\" a", "\"$\" | a" },
	{ "a\nb 'c", "a | NL | b | ERROR 2 a single quote (') is never "
		     "closed" },
	{ "\"a", "ERROR 1 a double quote (\") is never closed" },
	{ "\"a\\", "ERROR 1 a double quote (\") is never closed" },
	{ "a `b", "a | ERROR 1 a backquote (`) is never closed" },
	{ "$'a\\", "ERROR 1 a single quote ($') is never closed" },
	{ "${a", "ERROR 1 ${ is never closed" },
	{ "$(a", "ERROR 1 a parenthesis is never closed" },
	{ "$((a)", "ERROR 1 a parenthesis is never closed" },
	{ "$[a[1]", "ERROR 1 $[ is never closed" },
	{ "A=(b", "ERROR 1 a parenthesis is never closed" },
	{ "A=(b;)", "ERROR 1 an array is not understood" },
	{ "$(case a in b) c;; esac)",
	  "ERROR 1 case inside $( ) is not understood" },
	{ "a << E << E << E << E << E << E << E << E << E",
	  "a | HEREDOC | HEREDOC | HEREDOC | HEREDOC | HEREDOC | HEREDOC | "
	  "HEREDOC | HEREDOC | ERROR 1 too many here-documents (<<)" },
};

static void tokens_are_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(token_rows); i++) {
		const struct token_row *row = &token_rows[i];
		struct strbuf out = STRBUF_INIT;
		/* On the heap, where a byte read too far is seen. */
		size_t length = strlen(row->text);
		char *text = xmalloc(length + 1);
		struct shell_lexer lexer = { .text = text, .length = length };

		memcpy(text, row->text, length);
		text[length] = '\1';
		tokens_show(&out, &lexer);
		if (strcmp(strbuf_text(&out), row->tokens) != 0)
			print_error("row %zu: %s\n", i, row->text);
		assert_string_equal(strbuf_text(&out), row->tokens);
		strbuf_release(&out);
		free(text);
	}
}

static void posix_has_no_and_redirection(void **state)
{
	struct shell_lexer lexer = { .text = "a &>b |& c",
				     .length = 10,
				     .is_posix = true };
	struct strbuf out = STRBUF_INIT;

	(void)state;
	tokens_show(&out, &lexer);
	assert_string_equal(strbuf_text(&out), "a | & | R:>b | PIPE | & | c");
	strbuf_release(&out);
}

static void nul_is_an_error(void **state)
{
	static const char *const texts[] = { "\0", "a\0b", "'\0' \0" };
	static const size_t lengths[] = { 1, 3, 5 };

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct shell_lexer lexer = { .text = texts[i],
					     .length = lengths[i] };
		struct shell_token token;
		size_t count = 0;

		while (shell_next(&lexer, &token) == SHELL_WORD)
			count++;
		assert_int_equal(token.kind, SHELL_ERROR);
		assert_true(count <= 1);
	}
}

static void depth_has_an_end(void **state)
{
	static const char *const openings[] = { "$(", "${a:-", "\"$(", "A=(" };

	(void)state;
	for (size_t i = 0; i < COUNT(openings); i++) {
		struct strbuf text = STRBUF_INIT;
		struct shell_lexer lexer = { .length = 0 };
		struct shell_token token;

		for (int k = 0; k < 10000; k++)
			strbuf_adds(&text, openings[i]);
		lexer.text = text.data;
		lexer.length = text.length;
		assert_int_equal(shell_next(&lexer, &token), SHELL_ERROR);
		assert_string_equal(lexer.error,
				    "quotes and $( ) are nested too deeply");
		strbuf_release(&text);
	}
}

static void lines_are_counted(void **state)
{
	static const char text[] = "a\n'b\nc' d\n\\\ne <<E\nx\nE\nf";
	static const unsigned lines[] = { 1, 1, 2, 3, 3, 5, 5, 5, 8 };
	struct shell_lexer lexer = { .text = text, .length = sizeof(text) - 1 };
	struct shell_token token;
	size_t i = 0;

	(void)state;
	for (; shell_next(&lexer, &token) != SHELL_END; i++) {
		assert_true(i < COUNT(lines));
		assert_int_equal(token.span.line, lines[i]);
	}
	assert_int_equal(i, COUNT(lines));
}

static void what_was_met_is_told(void **state)
{
	static const struct {
		const char *text;
		unsigned met;
	} rows[] = {
		{ "a 'b$(c)' \"\\$(d)\" \\`", 0 },
		{ "a \"$(b)\"", SHELL_MET_COMMAND },
		{ "a b`c`", SHELL_MET_BACKQUOTE },
		{ "a <(b)", SHELL_MET_PROCESS },
		{ "a > >(b)", SHELL_MET_PROCESS },
		{ "a $((1 + 2))", SHELL_MET_ARITHMETIC },
		{ "a $[1 + 2]", SHELL_MET_ARITHMETIC },
		{ "${a:-$(b `c`)}", SHELL_MET_COMMAND | SHELL_MET_BACKQUOTE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct shell_lexer lexer = { .text = rows[i].text,
					     .length = strlen(rows[i].text) };
		struct shell_token token;

		while (shell_next(&lexer, &token) != SHELL_END)
			assert_int_not_equal(token.kind, SHELL_ERROR);
		assert_int_equal(lexer.met, rows[i].met);
	}
}

/* Parts: 'quoted' bytes, plain ones, $name op word, opaque ones in < >. */
static void parts_show(struct strbuf *out, const char *text)
{
	struct shell_span word = { .end = strlen(text), .line = 1 };
	struct shell_parts parts;
	struct shell_part part;

	strbuf_adds(out, "");
	shell_parts_begin(&parts, text, word, false);
	while (shell_part_next(&parts, &part) != SHELL_PART_END) {
		int size = (int)(part.end - part.start);
		int name = (int)(part.name.end - part.name.start);
		int rest = (int)(part.word.end - part.word.start);
		const char *mark = part.is_quoted ? "'" : "";

		if (part.kind == SHELL_PART_TEXT)
			strbuf_addf(out, "[%s%.*s%s]", mark, size,
				    text + part.start, mark);
		else if (part.kind == SHELL_PART_ANSI)
			strbuf_addf(out, "[ansi %.*s]", size,
				    text + part.start);
		else if (part.kind == SHELL_PART_OPAQUE)
			strbuf_addf(out, "<%s%.*s%s>", mark, size,
				    text + part.start, mark);
		else
			strbuf_addf(out, "$%s%.*s%s%.*s%s%s%.1s%.*s", mark,
				    name, text + part.name.start,
				    part.has_index ? "#" : "",
				    (int)(part.index.end - part.index.start),
				    text + part.index.start, mark,
				    part.has_colon ? ":" : "", &part.operation,
				    rest, text + part.word.start);
	}
}

static const struct token_row part_rows[] = {
	{ "abc", "[abc]" },
	{ "a'b c'd", "[a]['b c'][d]" },
	{ "''", "['']" },
	{ "\"\"", "['']" },
	{ "a\\ b", "[a][' '][b]" },
	{ "a\\\nb", "[a][b]" },
	{ "\"a\\\"b\\c\\\nd\"", "['']['a']['\"']['b']['\\']['c']['d']" },
	{ "$A", "$A" },
	{ "\"$A\"", "['']$'A'" },
	{ "$A.b$B_1-", "$A[.b]$B_1[-]" },
	{ "${A}b", "$A[b]" },
	{ "${A:-4}", "$A:-4" },
	{ "${A-}", "$A-" },
	{ "\"${A:=$B}\"", "['']$'A':=$B" },
	{ "${A:+--x y}", "$A:+--x y" },
	{ "${A?}", "$A?" },
	{ "$1$12${12}", "$1$1[2]$12" },
	{ "$@$*", "$@$*" },
	{ "${@:2}", "$@:s2" },
	{ "${A[@]}${A[0]}", "$A#@$A#0" },
	{ "${A[@]+x}", "$A#@+x" },
	{ "${#A}${!A}${A%x}${A/a/b}${A:1}${A^^}",
	  "<${#A}><${!A}><${A%x}><${A/a/b}><${A:1}><${A^^}>" },
	{ "$#$?$$$!$-$0", "<$#><$?><$$><$!><$->$0" },
	{ "$(a b)`c`$((1))<(d)", "<$(a b)><`c`><$((1))><<(d)>" },
	{ "$'a\\nb'c", "[ansi a\\nb][c]" },
	{ "$\"a b\"", "['']['a b']" },
	{ "$", "[$]" },
	{ "a$ b", "[a][$][ b]" },
	{ "${}", "<${}>" },
	{ "${:-x}", "<${:-x}>" },
	{ "${A:}", "<${A:}>" },
	{ "{micro}", "[{micro}]" },
	{ "\xff$\xff", "[\xff][$][\xff]" },
};

static void parts_are_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(part_rows); i++) {
		struct strbuf out = STRBUF_INIT;

		parts_show(&out, part_rows[i].text);
		if (strcmp(strbuf_text(&out), part_rows[i].tokens) != 0)
			print_error("row %zu: %s\n", i, part_rows[i].text);
		assert_string_equal(strbuf_text(&out), part_rows[i].tokens);
		strbuf_release(&out);
	}
}

static void assignments_are_read(void **state)
{
	static const struct {
		const char *word, *name, *value;
		bool appends, is_element, is_array;
	} rows[] = {
		{ "A=1", "A", "1", false, false, false },
		{ "_a9=", "_a9", "", false, false, false },
		{ "A+=b=c", "A", "b=c", true, false, false },
		{ "A[i]=b", "A", "b", false, true, false },
		{ "A=(b c)", "A", "b c", false, false, true },
		{ "A+=()", "A", "", true, false, true },
		{ "--a=b", NULL, NULL, false, false, false },
		{ "9A=b", NULL, NULL, false, false, false },
		{ "A", NULL, NULL, false, false, false },
		{ "A+", NULL, NULL, false, false, false },
		{ "A[=", NULL, NULL, false, false, false },
		{ "a.b=c", NULL, NULL, false, false, false },
		{ "\"A\"=b", NULL, NULL, false, false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct shell_span word = { .end = strlen(rows[i].word) };
		struct shell_assignment found;
		bool is_one = shell_assignment_read(rows[i].word, word, &found);
		struct strbuf name = STRBUF_INIT;
		struct strbuf value = STRBUF_INIT;

		assert_int_equal(is_one, rows[i].name != NULL);
		if (!is_one)
			continue;
		strbuf_add(&name, rows[i].word + found.name.start,
			   found.name.end - found.name.start);
		strbuf_add(&value, rows[i].word + found.value.start,
			   found.value.end - found.value.start);
		assert_string_equal(strbuf_text(&name), rows[i].name);
		assert_string_equal(strbuf_text(&value), rows[i].value);
		assert_int_equal(found.appends, rows[i].appends);
		assert_int_equal(found.is_element, rows[i].is_element);
		assert_int_equal(found.is_array, rows[i].is_array);
		strbuf_release(&name);
		strbuf_release(&value);
	}
}

/* Whatever the bytes: an end is reached, and nothing outside is read. */
static void any_bytes_end(void **state)
{
	static const char alphabet[] = "ab$ {}()[]'\"`\\\n;&|<>#=-:@1\t~*\xff";
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[24];
		struct shell_lexer lexer = { .text = text };
		struct shell_token token;
		size_t before = 0;

		for (size_t i = 0; i < sizeof(text); i++) {
			seed = seed * 1103515245u + 12345u;
			text[i] =
				alphabet[(seed >> 16) % (sizeof(alphabet) - 1)];
		}
		lexer.length = 1 + (seed >> 8) % sizeof(text);
		while (shell_next(&lexer, &token) != SHELL_END &&
		       token.kind != SHELL_ERROR) {
			struct shell_parts parts;
			struct shell_part part;

			assert_true(token.span.start >= before);
			assert_true(token.span.end > token.span.start);
			assert_true(token.span.end <= lexer.length);
			before = token.span.start;
			shell_parts_begin(&parts, text, token.span, false);
			while (shell_part_next(&parts, &part) !=
			       SHELL_PART_END) {
				assert_true(part.start >= token.span.start);
				assert_true(part.end >= part.start);
				assert_true(part.end <= token.span.end);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_are_cut),
		cmocka_unit_test(posix_has_no_and_redirection),
		cmocka_unit_test(nul_is_an_error),
		cmocka_unit_test(depth_has_an_end),
		cmocka_unit_test(lines_are_counted),
		cmocka_unit_test(what_was_met_is_told),
		cmocka_unit_test(parts_are_cut),
		cmocka_unit_test(assignments_are_read),
		cmocka_unit_test(any_bytes_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
