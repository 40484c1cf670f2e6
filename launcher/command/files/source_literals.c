/* Whole numbers that a Python script itself gives a name to. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_literals.h"

#include "base/name.h"
#include "base/strbuf.h"
#include "launcher/command/files/pytext.h"
#include "launcher/command/text/names.h"

#include <ctype.h>
#include <string.h>

/* Functions and classes inside each other; deeper ones go unnamed. */
#define BLOCKS_MAX 16
/* Brackets inside each other; calls deeper than these go unnamed. */
#define CALLS_MAX 16
/* More digits may be more than 64 bits hold. */
#define DIGITS_MAX 18

/* A "def NAME" or "class NAME", for as long as lines are indented more. */
struct source_block {
	const char *name;
	size_t length, indent;
};

struct source_literals {
	struct pytext cursor;
	const char *beginning;
	source_literal_visit *visit;
	void *context;
	struct source_block blocks[BLOCKS_MAX];
	size_t block_count;
	const char *brackets[CALLS_MAX]; /* those that are open */
	const char *statement;           /* where it begins; NULL: not yet */
	bool is_def;                     /* its brackets hold parameters */
	bool decorates, is_decorated;    /* it is "@bind()"; is below one */
};

/* The last word of what is left of "=": self.val_loader; "": there is none. */
static size_t target_length(const struct source_literals *at)
{
	size_t length = 0;

	while (at->statement + length < at->cursor.end &&
	       (pytext_is_word_start(at->statement[length]) ||
		name_is_digit(at->statement[length]) ||
		at->statement[length] == '.'))
		length++;
	return length;
}

/*
 * The literal is an argument of a call that trains nothing: data.map(f,
 * batch_size=1000), pipeline("sentiment-analysis", batch_size=256). What a
 * decorator hands to a function may be another number than its default.
 */
bool source_literal_is_of_other(const struct source_literal *literal)
{
	static const char *const calls[] = {
		"map",          "filter",      "pipeline",   "encode",
		"predict",      "evaluate",    "generate",   "to_batches",
		"iter_batches", "map_batches", "transcribe", "embed",
		"push_to_hub"
	};
	const struct source_literals *at = literal->place;
	int depth = at->cursor.depth;
	const char *end, *name;

	if (literal->is_parameter && at->is_decorated)
		return true;
	if (depth < 1 || depth > CALLS_MAX)
		return false;
	end = name = at->brackets[depth - 1];
	while (name > at->beginning && pytext_is_word(name[-1]))
		name--;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (*end == '(' &&
		    pytext_word_is(name, (size_t)(end - name), calls[i]))
			return true;
	return false;
}

/* def val_dataloader(self): and no def train_and_evaluate(config): */
bool source_literal_is_aside(const struct source_literal *literal)
{
	const struct source_literals *at = literal->place;
	enum option_class class;

	for (size_t i = 0; i <= at->block_count; i++) {
		bool is_last = i == at->block_count;
		size_t length =
			is_last ? target_length(at) : at->blocks[i].length;
		struct strbuf name = STRBUF_INIT;

		if (length == 0 || length >= NAME_MAX_BYTES)
			continue;
		strbuf_add(&name, is_last ? at->statement : at->blocks[i].name,
			   length);
		strbuf_adds(&name, ".batch_size");
		class = strcasestr(strbuf_text(&name), "train")
				? OPTION_OTHER
				: option_class_of(strbuf_text(&name),
						  name.length);
		strbuf_release(&name);
		if (class == OPTION_DECOY)
			return true;
	}
	return false;
}

/* Digits alone, and nothing behind them that belongs to the value. */
static bool literals_read_plain(struct pytext *cursor, int64_t *value)
{
	bool in_brackets = cursor->depth > 0;
	const char *start = cursor->at;
	int64_t number = 0;

	for (; cursor->at < cursor->end && name_is_digit(*cursor->at);
	     cursor->at++)
		if (cursor->at - start < DIGITS_MAX)
			number = 10 * number + (*cursor->at - '0');
	*value = number;
	if ((*start == '0' && cursor->at - start > 1) ||
	    cursor->at - start > DIGITS_MAX)
		return false;
	pytext_skip_blanks(cursor, in_brackets);
	return cursor->at >= cursor->end ||
	       (*cursor->at &&
		strchr(in_brackets ? ",)]}" : "\r\n#;", *cursor->at));
}

/* {0: 8, 4: 4}, max(1, n): a number in the argument, that is no plain one. */
static bool literals_has_number(struct pytext cursor)
{
	const char *end, *text;
	size_t length;

	for (end = cursor.at, pytext_skip_argument(&cursor); end < cursor.at;) {
		struct pytext word = { .at = end, .end = cursor.at };

		if (pytext_is_quote(*end))
			pytext_string(&word, &text, &length);
		else if (pytext_is_word_start(*end))
			pytext_word(&word, &text, &length);
		else if (name_is_digit(*end) && *end != '0')
			return true;
		else
			word.at++;
		end = word.at;
	}
	return false;
}

/* accum=step % args.accum, an argument: what a division leaves is no size. */
static bool literals_is_rest(struct pytext cursor)
{
	const char *start = cursor.at;

	if (cursor.depth == 0)
		return false;
	pytext_skip_argument(&cursor);
	return memchr(start, '%', (size_t)(cursor.at - start)) != NULL;
}

/*
 * Does a value that begins with no digit say more than a plain number, as an
 * accumulation that is an argument? What is divided is read elsewhere.
 */
static bool literals_says_more(const struct source_literal *literal,
			       const struct pytext *cursor)
{
	struct pytext behind = *cursor;

	if (literal->class != OPTION_ACCUM || cursor->depth == 0)
		return false;
	pytext_skip_argument(&behind);
	return !memchr(cursor->at, '/', (size_t)(behind.at - cursor->at)) &&
	       literals_has_number(*cursor);
}

/* The value begins at the cursor. */
static void offer(const struct source_literals *at, struct pytext cursor,
		  const char *name, size_t length)
{
	struct source_literal literal = { .name = name,
					  .name_length = length,
					  .line = cursor.line,
					  .is_parameter = at->is_def &&
							  cursor.depth == 1,
					  .place = at };
	const char *start = cursor.at;

	if (length >= NAME_MAX_BYTES || cursor.at >= cursor.end)
		return;
	literal.class = option_class_of(name, length);
	if (literals_is_rest(cursor) ||
	    (!name_is_digit(*start) && !literals_says_more(&literal, &cursor)))
		return;
	literal.start = literal.end = (size_t)(start - at->beginning);
	while (start < cursor.end && name_is_digit(*start++))
		literal.end++;
	/* 0.5 ** x counts nothing. */
	if (strncmp(at->beginning + literal.start, "0.", 2) == 0)
		return;
	if (!literals_read_plain(&cursor, &literal.value))
		literal.value = 0;
	else if (literal.value == 0)
		return; /* where a counter begins */
	at->visit(at->context, &literal);
}

/* May a ":" behind this name begin its type? */
static bool may_have_type(const struct source_literals *at, const char *name,
			  size_t length)
{
	if (at->cursor.depth > 0)
		return at->is_def && at->cursor.depth == 1;
	return name == at->statement && !pytext_word_is(name, length, "else") &&
	       !pytext_word_is(name, length, "try") &&
	       !pytext_word_is(name, length, "finally");
}

/* Behind a name that may get a value: "= 32", ": int = 32". */
static void literals_read_value(struct source_literals *at, const char *name,
				size_t length)
{
	struct pytext ahead = at->cursor;

	pytext_skip_blanks(&ahead, ahead.depth > 0);
	if (may_have_type(at, name, length) && ahead.at < ahead.end &&
	    *ahead.at == ':') {
		(void)pytext_skip_type(&ahead);
		at->cursor = ahead; /* a type is no name */
	}
	if (ahead.end - ahead.at < 2 || *ahead.at != '=' || ahead.at[1] == '=')
		return;
	pytext_step(&ahead);
	pytext_skip_blanks(&ahead, ahead.depth > 0);
	offer(at, ahead, name, length);
}

/* Behind a string in brackets: "batch_size": 32. */
static void literals_read_entry(const struct source_literals *at,
				const char *name, size_t length)
{
	struct pytext ahead = at->cursor;

	pytext_skip_blanks(&ahead, true);
	if (ahead.depth == 0 || length == 0 || ahead.at >= ahead.end ||
	    *ahead.at != ':')
		return;
	pytext_step(&ahead);
	pytext_skip_blanks(&ahead, true);
	offer(at, ahead, name, length);
}

/* A statement begins here: blocks that are indented as much are over. */
static void literals_begin(struct source_literals *at)
{
	size_t indent = (size_t)(at->cursor.at - at->cursor.line_start);

	at->statement = at->cursor.at;
	at->is_def = false;
	at->is_decorated = at->decorates;
	at->decorates = *at->statement == '@';
	while (at->block_count > 0 &&
	       at->blocks[at->block_count - 1].indent >= indent)
		at->block_count--;
}

/* Over "def NAME" or "class NAME". */
static void literals_enter(struct source_literals *at)
{
	struct source_block block = {
		.indent = (size_t)(at->statement - at->cursor.line_start)
	};

	at->is_def = true;
	pytext_skip_blanks(&at->cursor, false);
	pytext_word(&at->cursor, &block.name, &block.length);
	if (at->block_count < BLOCKS_MAX)
		at->blocks[at->block_count++] = block;
}

static void literals_read_word(struct source_literals *at)
{
	const char *word;
	size_t length;

	pytext_word(&at->cursor, &word, &length);
	if (at->cursor.depth == 0 && (pytext_word_is(word, length, "def") ||
				      pytext_word_is(word, length, "class")))
		literals_enter(at);
	else
		literals_read_value(at, word, length);
}

static void literals_open(struct source_literals *at)
{
	struct pytext *cursor = &at->cursor;

	if (cursor->depth < CALLS_MAX)
		at->brackets[cursor->depth] = cursor->at;
	cursor->depth++;
}

static void literals_read_mark(struct source_literals *at)
{
	struct pytext *cursor = &at->cursor;
	char c = *cursor->at;

	if (c == '(' || c == '[' || c == '{')
		literals_open(at);
	else if ((c == ')' || c == ']' || c == '}') && cursor->depth > 0)
		cursor->depth--;
	else if (c == '\\' && cursor->at + 1 < cursor->end)
		pytext_step(cursor); /* and the line end behind it */
	else if ((c == '\n' || c == ';') && cursor->depth == 0)
		at->statement = NULL;
	pytext_step(cursor);
}

static void literals_read(struct source_literals *at)
{
	struct pytext *cursor = &at->cursor;
	char c = *cursor->at;
	const char *text;
	size_t length;

	if (c == '#') {
		pytext_skip_comment(cursor);
		return;
	}
	if (!at->statement && !isspace((unsigned char)c))
		literals_begin(at);
	if (pytext_is_quote(c)) {
		pytext_string(cursor, &text, &length);
		literals_read_entry(at, text, length);
	} else if (pytext_is_word_start(c)) {
		literals_read_word(at);
	} else if (name_is_digit(c)) {
		pytext_word(cursor, &text, &length); /* 0x1f, 1e5 */
	} else {
		literals_read_mark(at);
	}
}

void source_literals_visit(const char *text, source_literal_visit *visit,
			   void *context)
{
	struct source_literals at = {
		.cursor = { .at = text,
			    .end = text + strnlen(text, SOURCE_BYTES_MAX),
			    .line_start = text,
			    .line = 1 },
		.beginning = text,
		.visit = visit,
		.context = context,
	};

	while (at.cursor.at < at.cursor.end)
		literals_read(&at);
}
