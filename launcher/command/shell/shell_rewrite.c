/* Writes changes of a flat command back into the shell text it came from. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_command.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/shellquote.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What becomes of one word of the flat command. */
struct change {
	const char *text; /* NULL: dropped */
	bool is_changed;
};

/* A new word before an argument, or at a byte of the text; NO_INDEX: none. */
struct insert {
	const char *text;
	size_t at;
	enum { IN_ARGUMENTS, BEFORE_WORD, BEHIND_WORD } place;
};

struct fold {
	const struct shell_expansion *expansion;
	const struct strlist *given;
	struct change *changes; /* one for each word of the flat command */
	struct insert *inserts;
	size_t insert_count;
	struct strbuf text; /* the new shell text, up to done */
	size_t done;
};

static const struct word *rewrite_word_at(const struct fold *fold, size_t index)
{
	return index < fold->expansion->argv.count
		       ? &fold->expansion->words[index]
		       : NULL;
}

/* It stands in the text or script, if only as $1. */
static bool is_in_text(const struct word *word)
{
	return word && word->end > 0 &&
	       (word->origin == WORD_SHELL_TEXT ||
		(word->origin == WORD_ARGUMENT && word->is_numbered));
}

/* One of "$@". */
static bool is_passed_on(const struct word *word)
{
	return word && word->end > 0 && word->origin == WORD_ARGUMENT &&
	       !word->is_numbered;
}

/* A new word between two arguments; false: it goes into the text. */
static bool find_argument(const struct fold *fold, size_t index, size_t *at)
{
	const struct shell_expansion *expansion = fold->expansion;
	const struct word *left =
		index ? rewrite_word_at(fold, index - 1) : NULL;
	const struct word *right = rewrite_word_at(fold, index);
	bool is_head = right && right->end == 0;

	if (right && (is_head || (is_passed_on(right) && !is_passed_on(left))))
		*at = right->argument;
	else if (left && is_passed_on(left))
		*at = left->argument + 1;
	else if (expansion->script)
		*at = fold->given->count;
	else
		return false;
	/* A script that takes no more arguments. */
	if (!is_head && expansion->script && expansion->append_at == NO_INDEX)
		*at = NO_INDEX;
	return true;
}

/* Where a new word goes that stands before that one of the flat command. */
static void find_place(const struct fold *fold, size_t index,
		       struct insert *insert)
{
	const struct word *left =
		index ? rewrite_word_at(fold, index - 1) : NULL;
	const struct word *right = rewrite_word_at(fold, index);
	bool is_first = index <= fold->expansion->inner || !is_in_text(left);

	assert(index <= fold->expansion->argv.count);
	insert->place = IN_ARGUMENTS;
	if (find_argument(fold, index, &insert->at))
		return;
	insert->place =
		is_first && is_in_text(right) ? BEFORE_WORD : BEHIND_WORD;
	insert->at = NO_INDEX;
	if (right && insert->place == BEFORE_WORD)
		insert->at = right->start;
	else if (left && is_in_text(left))
		insert->at = left->end;
}

/* The new words from first on stand before that one of the flat command. */
static size_t place_inserts(struct fold *fold, size_t first, size_t index)
{
	for (; first < fold->insert_count; first++)
		find_place(fold, index, &fold->inserts[first]);
	return first;
}

static void read_words(struct fold *fold, const struct new_word *words,
		       size_t count)
{
	const struct shell_expansion *expansion = fold->expansion;
	size_t placed = 0;

	for (size_t i = 0; i < count; i++) {
		size_t from = words[i].from;

		if (from >= expansion->argv.count) {
			fold->inserts[fold->insert_count++].text =
				words[i].text;
			continue;
		}
		assert(words[i].text);
		fold->changes[from] = (struct change){
			.text = words[i].text,
			.is_changed = strcmp(words[i].text,
					     expansion->argv.items[from]) != 0
		};
		placed = place_inserts(fold, placed, from);
	}
	(void)place_inserts(fold, placed, expansion->argv.count);
}

/* What keeps a word a word where it would be read as another thing. */
static void add_quoted(struct strbuf *out, const char *text, char next)
{
	char *quoted = shell_quote(text);

	/* 4>file is about a descriptor; =name is another thing to zsh. */
	if (strcmp(quoted, text) == 0 &&
	    (next == '<' || next == '>' || *text == '='))
		strbuf_addf(out, "'%s'", text);
	else
		strbuf_adds(out, quoted);
	free(quoted);
}

static const char *shell_text(const struct fold *fold)
{
	return fold->given->items[fold->expansion->text];
}

static void copy_up_to(struct fold *fold, size_t at)
{
	if (at <= fold->done)
		return;
	assert(at <= strlen(shell_text(fold)));
	strbuf_add(&fold->text, shell_text(fold) + fold->done, at - fold->done);
	fold->done = at;
}

/* How many there are; last: the place of the last one. */
static size_t count_inserts(const struct fold *fold, int place, size_t at,
			    size_t *last)
{
	size_t count = 0;

	for (size_t i = 0; i < fold->insert_count; i++) {
		if ((int)fold->inserts[i].place != place ||
		    fold->inserts[i].at != at)
			continue;
		*last = i;
		count++;
	}
	return count;
}

static void add_inserts(struct fold *fold, int place, size_t at)
{
	size_t last = 0;
	size_t left = count_inserts(fold, place, at, &last);

	for (size_t i = 0; left && i <= last; i++) {
		const struct insert *insert = &fold->inserts[i];
		char next = ' ';

		if ((int)insert->place != place || insert->at != at)
			continue;
		if (place == BEHIND_WORD)
			strbuf_addch(&fold->text, ' ');
		if (place == BEHIND_WORD && i == last)
			next = shell_text(fold)[fold->done];
		add_quoted(&fold->text, insert->text, next);
		if (place == BEFORE_WORD)
			strbuf_addch(&fold->text, ' ');
	}
}

/* Is the byte there behind a backslash that counts? */
static bool rewrite_is_escaped(const char *text, size_t at)
{
	size_t count = 0;

	while (count < at && text[at - 1 - count] == '\\')
		count++;
	return count % 2 == 1;
}

/* Where the blanks before a word begin, and newlines that do not count. */
static size_t blanks_before(const struct fold *fold, size_t end)
{
	const char *text = shell_text(fold);
	size_t start = end;

	assert(end <= strlen(fold->given->items[fold->expansion->text]));
	while (start > fold->done) {
		char c = text[start - 1];

		if (c == ' ' || c == '\t')
			start--;
		else if (c == '\n' && start - 1 > fold->done &&
			 text[start - 2] == '\\')
			start -= 2;
		else
			break;
	}
	assert(start >= fold->done || start == end);
	/* An escaped blank ends the word before, be it a file after >. */
	return start < end && rewrite_is_escaped(text, start) ? start + 1
							      : start;
}

/* NAME='some value', for 'NAME=some value' is a program. */
static void rewrite_add_word(struct fold *fold, size_t index, char next)
{
	const char *text = fold->changes[index].text;
	const char *value =
		index < fold->expansion->inner ? strchr(text, '=') : NULL;

	if (!value) {
		add_quoted(&fold->text, text, next);
		return;
	}
	strbuf_add(&fold->text, text, (size_t)(++value - text));
	if (*value)
		add_quoted(&fold->text, value, ' ');
}

/* The words from the same bytes of the text, all said anew. */
static void replace_group(struct fold *fold, const size_t *group, size_t count)
{
	const struct word *word = &fold->expansion->words[group[0]];
	char next = shell_text(fold)[word->end];
	size_t kept = 0;
	size_t last;

	assert(count >= 1 && word->end >= word->start);
	for (size_t i = 0; i < count; i++)
		kept += fold->changes[group[i]].text ? 1 : 0;
	kept += count_inserts(fold, BEFORE_WORD, word->start, &last);
	copy_up_to(fold, kept ? word->start : blanks_before(fold, word->start));
	add_inserts(fold, BEFORE_WORD, word->start);
	kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (!fold->changes[group[i]].text)
			continue;
		if (kept++)
			strbuf_addch(&fold->text, ' ');
		rewrite_add_word(fold, group[i], next);
	}
	assert(fold->done <= word->end);
	fold->done = word->end;
	/* What stood apart stays apart: a word, and >file behind it. */
	if (!kept && (next == '<' || next == '>'))
		strbuf_addch(&fold->text, ' ');
}

static void fold_group(struct fold *fold, const size_t *group, size_t count)
{
	const struct word *word = &fold->expansion->words[group[0]];
	bool is_changed = false;

	for (size_t i = 0; i < count; i++)
		is_changed = is_changed ||
			     (fold->expansion->words[group[i]].origin ==
				      WORD_SHELL_TEXT &&
			      fold->changes[group[i]].is_changed);
	if (is_changed) {
		replace_group(fold, group, count);
	} else {
		copy_up_to(fold, word->start);
		add_inserts(fold, BEFORE_WORD, word->start);
		copy_up_to(fold, word->end);
	}
	add_inserts(fold, BEHIND_WORD, word->end);
}

static int compare_places(const void *a, const void *b, void *words)
{
	const size_t *one = a;
	const size_t *other = b;
	size_t at = ((const struct word *)words)[*one].start;
	size_t other_at = ((const struct word *)words)[*other].start;

	if (at == other_at)
		return *one < *other ? -1 : 1;
	return at < other_at ? -1 : 1;
}

/* Exported variables come in another order than their lines. */
static char *fold_text(struct fold *fold)
{
	const struct shell_expansion *expansion = fold->expansion;
	size_t *order = xcalloc(expansion->argv.count, sizeof(*order));
	size_t count = 0;

	for (size_t i = 0; i < expansion->argv.count; i++)
		if (expansion->words[i].end > 0)
			order[count++] = i;
	assert(count <= expansion->argv.count);
	qsort_r(order, count, sizeof(*order), compare_places, expansion->words);
	for (size_t i = 0, end; i < count; i = end) {
		size_t start = expansion->words[order[i]].start;

		for (end = i + 1; end < count; end++)
			if (expansion->words[order[end]].start != start)
				break;
		fold_group(fold, order + i, end - i);
	}
	copy_up_to(fold, strlen(shell_text(fold)));
	free(order);
	return strbuf_detach(&fold->text);
}

/* An assignment is not dropped, nor $1: what is behind it would be $1. */
static void keep_what_is_needed(struct fold *fold)
{
	const struct shell_expansion *expansion = fold->expansion;

	for (size_t i = 0; i < expansion->argv.count; i++) {
		const struct word *word = rewrite_word_at(fold, i);
		bool is_needed = word->origin == WORD_ARGUMENT
					 ? word->is_numbered
					 : i < expansion->inner;

		if (is_needed && !fold->changes[i].text)
			fold->changes[i] = (struct change){
				.text = expansion->argv.items[i]
			};
	}
}

/* Of --bs=$1 only what is the argument's. */
static const char *argument_text(const struct fold *fold, size_t index)
{
	const struct change *change = &fold->changes[index];
	const struct word *word = &fold->expansion->words[index];
	const char *old = fold->given->items[word->argument];

	if (!change->is_changed || !change->text)
		return change->is_changed ? NULL : old;
	return strncmp(change->text, fold->expansion->argv.items[index],
		       word->variable_offset) == 0
		       ? change->text + word->variable_offset
		       : old;
}

static void rewrite_add_arguments(const struct fold *fold, size_t at,
				  struct strlist *out)
{
	for (size_t i = 0; i < fold->insert_count; i++)
		if (fold->inserts[i].place == IN_ARGUMENTS &&
		    fold->inserts[i].at == at)
			strlist_add(out, fold->inserts[i].text);
}

static void write_arguments(struct fold *fold, struct strlist *out)
{
	const struct shell_expansion *expansion = fold->expansion;
	size_t count = fold->given->count;
	size_t *of = xcalloc(count, sizeof(*of));

	/* From 1, so that 0 is none. */
	for (size_t i = 0; i < expansion->argv.count; i++)
		if (expansion->words[i].origin == WORD_ARGUMENT)
			of[expansion->words[i].argument] = i + 1;
	for (size_t i = 0; i < count; i++) {
		const char *text = fold->given->items[i];

		rewrite_add_arguments(fold, i, out);
		if (of[i])
			text = argument_text(fold, of[i] - 1);
		if (i == expansion->text)
			strlist_take(out, fold_text(fold));
		else if (text)
			strlist_add(out, text);
	}
	rewrite_add_arguments(fold, count, out);
	free(of);
}

void shell_rewrite_fold(const struct shell_expansion *expansion,
			const struct strlist *given,
			const struct new_word *words, size_t count,
			struct strlist *out)
{
	struct fold fold = { .expansion = expansion, .given = given };

	if (expansion->argv.count == 0) {
		for (size_t i = 0; i < count; i++)
			strlist_add(out, words[i].text);
		return;
	}
	fold.changes = xcalloc(expansion->argv.count, sizeof(*fold.changes));
	for (size_t i = 0; i < expansion->argv.count; i++)
		fold.changes[i].is_changed = true;
	fold.inserts = xcalloc(count + 1, sizeof(*fold.inserts));
	read_words(&fold, words, count);
	keep_what_is_needed(&fold);
	write_arguments(&fold, out);
	strbuf_release(&fold.text);
	free(fold.inserts);
	free(fold.changes);
}
