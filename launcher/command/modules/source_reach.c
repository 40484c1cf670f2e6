/* The part of a module that is used by who imports it. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/modules/source_reach.h"

#include "base/span.h"
#include "launcher/command/files/pytext.h"

#include <stdlib.h>
#include <string.h>

/* Functions and classes of one module. */
#define BLOCKS_MAX 512

/* A function or a class at the beginning of a line, with its decorators; what
 * is made by one, by its name; or a flag of absl, which the import itself
 * declares.
 */
struct reach_block {
	struct span name; /* comes first, to sort by it; of a flag: empty */
	struct span text;
	bool is_reached, is_read;
};

struct reach {
	struct reach_block blocks[BLOCKS_MAX]; /* by their names */
	size_t count;
	struct span names[IMPORT_NAMES_MAX]; /* of the import, sorted */
	size_t name_count;
};

static int compare_spans(struct span a, struct span b)
{
	size_t length = a.length < b.length ? a.length : b.length;
	int order = memcmp(a.at, b.at, length);

	return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int reach_compare_words(const void *a, const void *b)
{
	return compare_spans(*(const struct span *)a, *(const struct span *)b);
}

/* The name behind "def " or "class " at the beginning of a line. */
static struct span block_name(const char *line, const char *end)
{
	static const char *const words[] = { "def ", "class ", "async def " };
	struct span name = { NULL, 0 };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t length = strlen(words[i]);

		if ((size_t)(end - line) <= length ||
		    memcmp(line, words[i], length) != 0)
			continue;
		name.at = line + length;
		while (name.at + name.length < end &&
		       pytext_is_word(name.at[name.length]))
			name.length++;
	}
	return name;
}

/* Behind the strings that begin in this line: what stands at the beginning of a
 * line of theirs ends no block. */
static const char *reach_next_line(const char *at, const char *end)
{
	struct pytext cursor = { .at = at, .end = end, .line = 1 };
	struct span text;

	while ((cursor.at += strcspn(cursor.at, "\n#\"'")) < end) {
		if (*cursor.at == '\n')
			return cursor.at + 1;
		if (*cursor.at == '#')
			pytext_skip_comment(&cursor);
		else if (pytext_is_quote(*cursor.at))
			pytext_string(&cursor, &text.at, &text.length);
		else
			break; /* a NUL byte */
	}
	return end;
}

/* "Config" of a["b"] = Config(, "f.g" of f.g(; of no bytes: no call. */
static struct span called_name(const char *line, const char *end)
{
	const char *stop = memchr(line, '\n', (size_t)(end - line));
	const char *equals =
		memmem(line, (size_t)((stop ? stop : end) - line), " = ", 3);
	struct span name = { equals ? equals + 3 : line, 0 };

	while (span_end(name) < end &&
	       (pytext_is_word(*span_end(name)) || *span_end(name) == '.'))
		name.length++;
	if (span_end(name) == end || *span_end(name) != '(')
		name.length = 0;
	return name;
}

/* Of the block that begins here; a flag has none. */
static struct span reach_block_name(const char *line, const char *end,
				    bool *is_flag)
{
	struct span called = called_name(line, end);
	struct span name = { line, 0 };

	*is_flag = memmem(called.at, called.length, "DEFINE_", 7);
	if (!*is_flag)
		name = block_name(line, end);
	return !*is_flag && !name.length && called.at > line ? called : name;
}

static void blocks_find(struct reach *reach, const char *text, const char *end)
{
	const char *start = NULL; /* of the decorators above */
	struct reach_block *open = NULL;

	for (const char *line = text; line < end;
	     line = reach_next_line(line, end)) {
		struct span name;
		bool is_flag;

		if (strchr(" \t\r\n#)", *line))
			continue;
		name = reach_block_name(line, end, &is_flag);
		if (open)
			open->text.length = (size_t)(line - open->text.at);
		open = NULL;
		start = start || *line != '@' ? start : line;
		if (*line == '@')
			continue;
		if ((name.length || is_flag) && reach->count < BLOCKS_MAX) {
			open = &reach->blocks[reach->count++];
			*open = (struct reach_block){ .name = name,
						      .is_reached = is_flag };
			open->text = span_from(start ? start : line, end);
		}
		start = NULL;
	}
	qsort(reach->blocks, reach->count, sizeof(*reach->blocks),
	      reach_compare_words);
}

/* All blocks of that name. */
static void reach_name(struct reach *reach, struct span name)
{
	size_t low = 0, high = reach->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_spans(reach->blocks[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < reach->count &&
	       compare_spans(reach->blocks[low].name, name) == 0;
	     low++)
		reach->blocks[low].is_reached = true;
}

/* "*", which comes before all words, is any. */
static bool is_imported(const struct reach *reach, struct span word)
{
	return reach->name_count &&
	       (*reach->names[0].at == '*' ||
		bsearch(&word, reach->names, reach->name_count,
			sizeof(*reach->names), reach_compare_words));
}

typedef void reach_word(struct reach *reach, struct span owner,
			struct span word);

/* owner: "a" of "a.word", else empty. */
static void words_visit(struct reach *reach, const char *at, const char *end,
			reach_word *visit)
{
	struct pytext cursor = { .at = at, .end = end, .line = 1 };
	struct span word = { NULL, 0 }, text;

	while (cursor.at < end) {
		struct span owner = word;

		if (*cursor.at == '#') {
			pytext_skip_comment(&cursor);
		} else if (pytext_is_quote(*cursor.at)) {
			pytext_string(&cursor, &text.at, &text.length);
		} else if (pytext_is_word_start(*cursor.at)) {
			pytext_word(&cursor, &word.at, &word.length);
			if (word.at == at || word.at[-1] != '.')
				visit(reach, (struct span){ NULL, 0 }, word);
			else if (owner.length && span_end(owner) + 1 == word.at)
				visit(reach, owner, word);
		} else {
			pytext_step(&cursor);
		}
	}
}

/* A reach_word of the user's text. */
static void reach_of_user(struct reach *reach, struct span owner,
			  struct span word)
{
	if (is_imported(reach, owner.length ? owner : word))
		reach_name(reach, word);
}

/* Of the module's own. */
static void reach_of_module(struct reach *reach, struct span owner,
			    struct span word)
{
	if (!owner.length)
		reach_name(reach, word);
}

/* False: every block that is reached was read. */
static bool reach_further(struct reach *reach)
{
	bool is_further = false;

	for (size_t i = 0; i < reach->count; i++) {
		struct reach_block *block = &reach->blocks[i];

		if (!block->is_reached || block->is_read)
			continue;
		block->is_read = is_further = true;
		words_visit(reach, block->text.at, span_end(block->text),
			    reach_of_module);
	}
	return is_further;
}

static int reach_compare_places(const void *a, const void *b)
{
	const char *first = ((const struct reach_block *)a)->text.at;
	const char *second = ((const struct reach_block *)b)->text.at;

	return (first > second) - (first < second);
}

static void add_empty_lines(struct strbuf *out, const char *at, const char *end)
{
	for (; at < end; at++)
		if (*at == '\n')
			strbuf_adds(out, "\n");
}

bool source_reach(struct strbuf *out, const char *module, const char *user,
		  const struct source_import *import)
{
	const char *end = module + strnlen(module, SOURCE_BYTES_MAX);
	const char *user_end = user + strnlen(user, SOURCE_BYTES_MAX);
	struct reach reach = { .count = 0 };
	const char *at = module;

	blocks_find(&reach, module, end);
	reach.name_count = source_import_names(import, reach.names);
	qsort(reach.names, reach.name_count, sizeof(*reach.names),
	      reach_compare_words);
	words_visit(&reach, user, user_end, reach_of_user);
	while (reach_further(&reach))
		;
	qsort(reach.blocks, reach.count, sizeof(*reach.blocks),
	      reach_compare_places);
	for (size_t i = 0; i < reach.count; i++) {
		const struct reach_block *block = &reach.blocks[i];

		if (!block->is_reached)
			continue;
		add_empty_lines(out, at, block->text.at);
		strbuf_add(out, block->text.at, block->text.length);
		at = span_end(block->text);
	}
	return at > module;
}
