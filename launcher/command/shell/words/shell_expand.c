/* Turns a word of shell text into the words a command gets. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/words/shell_expand.h"

#include "base/alloc.h"
#include "launcher/command/text/arithmetic.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the end of the word came from, where that can be changed. */
static void name_tail(const struct builder *b, struct word *word)
{
	const struct tail *tail = &b->tail;
	const char *text = strbuf_text(&b->text);
	bool is_all = tail->offset == 0 || text[tail->offset - 1] == '=';

	/* 1$ZERO is not what the variable says. */
	if (!is_all && text[tail->offset - 1] >= '0' &&
	    text[tail->offset - 1] <= '9')
		return;
	assert(tail->offset <= b->text.length);
	if (tail->variable) {
		word->variable = xstrdup(tail->variable);
		word->variable_offset = tail->offset;
	} else if (is_all && !b->is_opaque) {
		word->variable_offset = tail->offset;
		word->origin = WORD_ARGUMENT;
		word->argument = tail->argument;
		word->is_numbered = tail->is_numbered;
	}
}

/* Bytes of the word stand in the text itself. */
static void note_piece(struct builder *b, const struct shell_piece *piece)
{
	if (b->piece_count < PIECES_MAX)
		b->pieces[b->piece_count++] = *piece;
}

/* The same, of the end of the word from a byte on. */
static void note_literal(struct builder *b, size_t offset,
			 const struct shell_part *part, bool is_computed)
{
	note_piece(b, &(struct shell_piece){ .offset = offset,
					     .end = b->text.length,
					     .start = part->start,
					     .text_end = part->end,
					     .is_computed = is_computed });
}

/* The last bytes of the word are those of the field between from and to. */
static void note_pieces(struct builder *b, const struct shell_field *field,
			size_t from, size_t to)
{
	size_t offset = b->text.length - (to - from);

	if (b->scope->is_exhausted)
		return;
	for (size_t i = 0; i < field->piece_count; i++) {
		struct shell_piece piece = field->pieces[i];
		size_t before = piece.offset < from ? from - piece.offset : 0;
		size_t behind = piece.end > to ? piece.end - to : 0;

		if (piece.offset >= to || piece.end <= from ||
		    (piece.is_computed && before + behind > 0))
			continue;
		piece.start += before;
		piece.text_end -= behind;
		piece.offset += before + offset - from;
		piece.end -= behind;
		piece.end += offset - from;
		note_piece(b, &piece);
	}
}

static void name_literal(const struct builder *b, struct word *word)
{
	const struct shell_piece *literal;

	if (b->is_opaque || b->piece_count == 0)
		return;
	literal = &b->pieces[b->piece_count - 1];
	if (literal->end != b->text.length)
		return;
	word->literal_offset = literal->offset;
	word->literal_start = literal->start;
	word->literal_end = literal->text_end;
	word->is_computed = literal->is_computed;
}

void builder_flush(struct builder *b)
{
	const struct tail *tail = &b->tail;
	struct word word = { .origin = b->scope->origin,
			     .argument = b->scope->text_argument,
			     .start = b->word.start,
			     .end = b->word.end,
			     .line = b->word.line,
			     .is_opaque = b->is_opaque };

	if (b->begun && tail->is_set && tail->end == b->text.length)
		name_tail(b, &word);
	if (b->begun)
		name_literal(b, &word);
	if (b->out->count == SHELL_WORDS_MAX)
		b->scope->is_exhausted = true;
	if (b->begun) {
		shell_fields_add(b->out, strbuf_detach(&b->text), &word);
		shell_fields_add_pieces(b->out, b->pieces, b->piece_count, 0);
	} else {
		strbuf_reset(&b->text);
	}
	b->begun = false;
	b->is_opaque = false;
	b->brace = 0;
	b->tail = (struct tail){ .is_set = false };
	b->piece_count = 0;
}

static void expand_append(struct builder *b, const char *bytes, size_t length)
{
	b->scope->bytes += length + 1;
	if (b->scope->bytes > SHELL_BYTES_MAX) {
		b->scope->is_exhausted = true;
		return;
	}
	if (length) {
		strbuf_add(&b->text, bytes, length);
		b->begun = true;
		/* It is joined to the last of them. */
		b->ends_in_arguments = false;
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Past $( ) and ` `, which are no text and whose blanks end no word; a $ alone
 * is one byte. */
static size_t skip_unknown(const char *bytes, size_t length, size_t at)
{
	struct shell_lexer lexer = { .text = bytes,
				     .length = length,
				     .at = at };
	bool is_skipped = bytes[at] == '`' ? shell_skip_backquote(&lexer)
					   : shell_skip_dollar(&lexer, false);

	assert(!is_skipped || (lexer.at > at && lexer.at <= length));
	/* What is never closed would be looked at over and over. */
	return is_skipped ? lexer.at : length;
}

/* Blanks end the word; returns whether there were any. field: that the bytes
 * are of; of an opaque one, what $ and ` begin was not known when they were put
 * together. NULL: of the text. */
static bool append_split(struct builder *b, const char *bytes, size_t length,
			 const struct shell_field *field)
{
	bool holds_unknown = field && field->word.is_opaque;
	bool was_split = false;

	for (size_t i = 0; i < length;) {
		size_t end = i;

		while (end < length && !is_blank(bytes[end])) {
			bool is_unknown = holds_unknown && (bytes[end] == '$' ||
							    bytes[end] == '`');

			b->is_opaque = b->is_opaque || is_unknown;
			end = is_unknown ? skip_unknown(bytes, length, end)
					 : end + 1;
		}
		expand_append(b, bytes + i, end - i);
		if (field)
			note_pieces(b, field, i, end);
		if (end < length) {
			builder_flush(b);
			was_split = true;
		}
		for (i = end; i < length && is_blank(bytes[i]);)
			i++;
	}
	return was_split;
}

void builder_add_unknown(struct builder *b, const char *bytes, size_t length)
{
	expand_append(b, bytes, length);
	b->is_opaque = true;
}

void builder_add_opaque(struct builder *b, size_t start, size_t end)
{
	assert(start <= end);
	builder_add_unknown(b, b->scope->lexer->text + start, end - start);
}

/* Unquoted *, ? and [a] may become names of files. */
static bool has_pattern(const char *bytes, size_t length)
{
	bool opens = false;

	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == '*' || bytes[i] == '?' ||
		    (opens && bytes[i] == ']'))
			return true;
		opens = opens || bytes[i] == '[';
	}
	return false;
}

/* {a,b} and {1..3} become several words; {micro} does not. */
static bool has_braces(struct builder *b, const char *bytes, size_t length)
{
	bool found = false;

	for (size_t i = 0; i < length; i++) {
		bool parts =
			bytes[i] == ',' || (bytes[i] == '.' && i + 1 < length &&
					    bytes[i + 1] == '.');

		if (bytes[i] == '{')
			b->brace = b->brace ? b->brace : 1;
		else if (parts && b->brace)
			b->brace = 2;
		if (bytes[i] != '}')
			continue;
		found = found || b->brace == 2;
		b->brace = 0;
	}
	return found;
}

/* ~ and ~/ at the beginning; returns how many bytes it was. */
static size_t add_tilde(struct builder *b, const struct shell_part *part)
{
	const char *text = b->scope->lexer->text + part->start;
	size_t length = part->end - part->start;
	const struct shell_variable *home;

	if (length == 0 || *text != '~' || b->begun || b->depth)
		return 0;
	home = shell_variable(b->scope, "HOME", 4);
	if ((length > 1 ? text[1] == '/' : part->end == b->word.end) &&
	    shell_variable_state(b->scope, home) == SHELL_TEXT) {
		const char *value = home->value.items[0].text;

		expand_append(b, value, strlen(value));
		return 1;
	}
	b->is_opaque = true;
	return 0;
}

static void add_unquoted(struct builder *b, const struct shell_part *part)
{
	size_t done = add_tilde(b, part);
	const char *bytes = b->scope->lexer->text + part->start + done;
	size_t length = part->end - part->start - done;

	assert(part->start + done <= part->end);
	if (b->context == SHELL_VALUE) {
		expand_append(b, bytes, length);
		return;
	}
	/* NAME=~ is another thing in each shell. */
	if (has_pattern(bytes, length) || has_braces(b, bytes, length) ||
	    (length > 1 && memmem(bytes, length, "=~", 2)))
		b->is_opaque = true;
	if (b->depth && !b->scope->is_zsh)
		(void)append_split(b, bytes, length, NULL);
	else
		expand_append(b, bytes, length);
}

void builder_add_value(struct builder *b, const struct shell_field *field,
		       bool is_quoted)
{
	const struct word *word = &field->word;
	size_t length = strlen(field->text);
	size_t offset = b->text.length;
	bool is_whole =
		is_quoted || b->context == SHELL_VALUE || b->scope->is_zsh;

	if (is_quoted)
		b->begun = true;
	if (!is_whole)
		b->is_opaque = b->is_opaque || b->scope->splits_unknown ||
			       has_pattern(field->text, length);
	if (word->is_opaque)
		b->is_opaque = true;
	if (is_whole) {
		expand_append(b, field->text, length);
		note_pieces(b, field, 0, length);
	} else if (append_split(b, field->text, length, field)) {
		return;
	}
	if (!word->variable && word->origin != WORD_ARGUMENT)
		return;
	b->tail = (struct tail){ .is_set = true,
				 .argument = word->argument,
				 .is_numbered = word->is_numbered,
				 .offset = offset + word->variable_offset,
				 .end = b->text.length };
	/* The name in the scope stays where it is. */
	if (word->variable)
		b->tail.variable = shell_variable(b->scope, word->variable,
						  strlen(word->variable))
					   ->name;
}

/* The plain escapes of $'...'; all others make the word opaque. */
static void add_ansi(struct builder *b, const struct shell_part *part)
{
	static const char letters[] = "abefnrtv\\'\"?E";
	static const char bytes[] = "\a\b\033\f\n\r\t\v\\'\"?\033";
	const char *text = b->scope->lexer->text;

	b->begun = true;
	if (b->scope->lexer->is_posix)
		b->is_opaque = true;
	for (size_t i = part->start; i < part->end; i++) {
		const char *letter = NULL;

		if (text[i] == '\\' && i + 1 < part->end)
			letter = strchr(letters, text[i + 1]);
		if (text[i] == '\\' && !letter)
			b->is_opaque = true;
		if (letter) {
			expand_append(b, bytes + (letter - letters), 1);
			i++;
		} else {
			expand_append(b, text + i, 1);
		}
	}
}

/* $#, ${#}, $(( $# - 1 )) */
static bool is_count(const char *bytes, size_t length)
{
	return memmem(bytes, length, "$#", 2) ||
	       memmem(bytes, length, "${#}", 4) ||
	       memmem(bytes, length, "${#@}", 5);
}

static void expand_add_text(struct builder *b, const struct shell_part *part)
{
	size_t offset = b->text.length;
	size_t length = part->end - part->start;

	if (part->is_quoted) {
		expand_append(b, b->scope->lexer->text + part->start, length);
		b->begun = true;
	} else {
		add_unquoted(b, part);
	}
	/* Else it was split, or is no text. */
	if (length && b->text.length == offset + length)
		note_literal(b, offset, part, false);
}

/* What $((B / 2)), $[B / 2], $(expr $B / 2) and `expr $B / 2` compute; false:
 * it is none of these. */
static bool computed_text(const char *text, size_t length, struct strbuf *out)
{
	size_t marks = *text == '`' ? 1 : 2;
	bool is_bracket = length >= 4 && memcmp(text, "$[", 2) == 0;

	if (is_bracket || (length >= 6 && memcmp(text, "$((", 3) == 0 &&
			   memcmp(text + length - 2, "))", 2) == 0)) {
		strbuf_add(out, text + (is_bracket ? 2 : 3),
			   length - (is_bracket ? 3 : 5));
		return true;
	}
	return length > marks &&
	       arithmetic_of_expr(text + marks, length - marks - 1, out);
}

/* False: what it comes to is not known. */
static bool add_computed(struct builder *b, const struct shell_part *part)
{
	struct strbuf computed = STRBUF_INIT;
	size_t offset = b->text.length;
	char digits[24];
	int64_t value;
	bool is_known =
		computed_text(b->scope->lexer->text + part->start,
			      part->end - part->start, &computed) &&
		arithmetic_value(strbuf_text(&computed), computed.length,
				 builder_known_text, b->scope, &value);

	strbuf_release(&computed);
	if (!is_known)
		return false;
	(void)snprintf(digits, sizeof(digits), "%" PRId64, value);
	expand_append(b, digits, strlen(digits));
	note_literal(b, offset, part, true);
	return true;
}

static void add_part(struct builder *b, const struct shell_part *part)
{
	char *known;

	switch (part->kind) {
	case SHELL_PART_TEXT:
		expand_add_text(b, part);
		break;
	case SHELL_PART_ANSI:
		add_ansi(b, part);
		break;
	case SHELL_PART_PARAMETER:
		builder_add_parameter(b, part);
		break;
	case SHELL_PART_OPAQUE:
		/* These cost most to look at. */
		b->scope->bytes += SHELL_BYTES_OPAQUE;
		known = shell_output(b->scope, part->start, part->end);
		if (!known)
			known = builder_list_length(b->scope, part->start,
						    part->end);
		if (known)
			expand_append(b, known, strlen(known));
		else if (b->scope->looks_inside)
			builder_look_inside(b, part->start, part->end);
		else if (!add_computed(b, part))
			builder_add_opaque(b, part->start, part->end);
		free(known);
		if (is_count(b->scope->lexer->text + part->start,
			     part->end - part->start))
			b->scope->arguments_counted = true;
		break;
	case SHELL_PART_END:
		break;
	}
}

void builder_expand_parts(struct builder *b, struct shell_span span,
			  bool is_nested)
{
	struct shell_parts parts;
	struct shell_part part;

	shell_parts_begin(&parts, b->scope->lexer->text, span, is_nested);
	while (!b->scope->is_exhausted &&
	       shell_part_next(&parts, &part) != SHELL_PART_END) {
		b->scope->bytes += SHELL_BYTES_PART;
		add_part(b, &part);
	}
}

void shell_expand(struct shell_scope *scope, struct shell_span word,
		  enum shell_context context, struct shell_fields *out)
{
	struct builder b = {
		.scope = scope, .out = out, .context = context, .word = word
	};
	size_t count = out->count;

	builder_expand_parts(&b, word, false);
	/* A value is there, be it empty; "$@" alone may be nothing. */
	if (context == SHELL_VALUE && out->count == count &&
	    !b.ends_in_arguments)
		b.begun = true;
	builder_flush(&b);
	if (b.has_arguments) {
		out->is_closed |=
			out->append_at != NO_INDEX || !b.ends_in_arguments;
		out->append_at = out->count;
	}
	strbuf_release(&b.text);
}
