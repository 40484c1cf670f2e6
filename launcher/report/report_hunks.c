/* Two lists of words as what is dropped and added, place by place. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/report_hunks.h"

#include "launcher/command/text/shellquote.h"
#include "launcher/command/text/text.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_WORD_MAX 200
/* Words behind a difference in which the lists are looked for to meet again:
 * what is added to a command at one place is less. */
#define APART_MAX 64

static void add_word(struct strbuf *out, const char *word)
{
	char *quoted = shell_quote(word);
	size_t cut = text_cut(quoted, SHOWN_WORD_MAX);
	bool is_long = quoted[cut] != '\0';

	quoted[cut] = '\0';
	strbuf_addch(out, ' ');
	text_add_safe(out, quoted, false);
	if (is_long)
		strbuf_adds(out, "...");
	free(quoted);
}

void report_hunks_add_word(struct strbuf *out, char sign, const char *word)
{
	strbuf_addf(out, "    %c", sign);
	add_word(out, word);
	strbuf_addch(out, '\n');
}

/* Words from first to end of a list, behind their option, or nothing. */
static void add_side(struct strbuf *out, char sign, const struct strlist *list,
		     size_t first, size_t end)
{
	const char *option = first > 0 ? list->items[first - 1] : "";

	if (first == end)
		return;
	strbuf_addf(out, "    %c", sign);
	if (*option == '-' && !strchr(option, '=') &&
	    *list->items[first] != '-')
		add_word(out, option);
	for (size_t i = first; i < end; i++)
		add_word(out, list->items[i]);
	strbuf_addch(out, '\n');
}

/* The nearest pair of equal words from *b and *a on, or both ends. */
static void meet_again(const struct strlist *before,
		       const struct strlist *after, size_t *b, size_t *a)
{
	for (size_t apart = 1; apart <= APART_MAX; apart++) {
		for (size_t added = 0; added <= apart; added++) {
			size_t i = *b + (apart - added);
			size_t j = *a + added;

			if (i < before->count && j < after->count &&
			    strcmp(before->items[i], after->items[j]) == 0) {
				*b = i;
				*a = j;
				return;
			}
		}
	}
	*b = before->count;
	*a = after->count;
}

void report_hunks_add(struct strbuf *out, const struct strlist *before,
		      const struct strlist *after)
{
	size_t b = 0, a = 0;

	while (b < before->count || a < after->count) {
		size_t first_b = b, first_a = a;

		if (b < before->count && a < after->count &&
		    strcmp(before->items[b], after->items[a]) == 0) {
			b++;
			a++;
			continue;
		}
		meet_again(before, after, &b, &a);
		add_side(out, '-', before, first_b, b);
		add_side(out, '+', after, first_a, a);
	}
}
