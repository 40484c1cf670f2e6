/* What is offered for the word at the cursor of a line. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/options/options_complete.h"

#include "base/strlist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* A blank at the end stands for an empty word at the cursor. */
static const struct {
	const char *line;
	const char *first; /* the first line of the answer */
	enum completion_names names;
	const char *has;   /* a line of it, up to its tab; NULL: no matter */
	const char *lacks; /* the same */
} rows[] = {
	{ "", "words", COMPLETION_NO_NAMES, "report", "no-such-word" },
	{ "t", "words", COMPLETION_NO_NAMES, "tune", "--" },
	{ "python", "command 0", COMPLETION_NO_NAMES, NULL, "tune" },
	{ "./show", "command 0", COMPLETION_NO_NAMES, NULL, NULL },
	{ "python train.py --ba", "command 0", COMPLETION_NO_NAMES, NULL,
	  NULL },
	{ "report ", "words", COMPLETION_RECORDS, NULL, "--" },
	{ "nightly ", "files", COMPLETION_NO_NAMES, NULL, NULL },
	{ "-- tune", "command 1", COMPLETION_NO_NAMES, NULL, NULL },
	{ "-q tune --max-micro 8 -- x ", "command 5", COMPLETION_NO_NAMES, NULL,
	  NULL },
	{ "-", "words", COMPLETION_NO_NAMES, "-q", "tune" },
	{ "--", "words", COMPLETION_NO_NAMES, "--device", "--layers" },
	{ "tune --d", "words", COMPLETION_NO_NAMES, "--dry-run",
	  "--decoder-sequence" },
	{ "estimate --d", "words", COMPLETION_NO_NAMES, "--decoder-sequence",
	  NULL },
	{ "--device ", "words", COMPLETION_NO_NAMES, "cuda", "cuda:N" },
	{ "--device ", "words", COMPLETION_NO_NAMES,
	  "phantom:", "phantom:NAME[xN]" },
	{ "--device=", "words", COMPLETION_NO_NAMES, "cuda", "--device" },
	{ "--device=cuda:0 ", "words", COMPLETION_NO_NAMES, "tune", "cuda" },
	{ "--device -- x", "command 2", COMPLETION_NO_NAMES, NULL, NULL },
	{ "--max-micro ", "words", COMPLETION_NO_NAMES, NULL, "tune" },
	{ "--max-micro=", "words", COMPLETION_NO_NAMES, NULL, "tune" },
	{ "--grow=", "words", COMPLETION_NO_NAMES, NULL, "keep" },
	{ "--grow ", "words", COMPLETION_NO_NAMES, "tune", "keep" },
	{ "--strategy ", "words", COMPLETION_NO_NAMES, "guided", "tune" },
	{ "--no-such ", "words", COMPLETION_NO_NAMES, "tune", NULL },
	{ "--no-such 5 ", "words", COMPLETION_NO_NAMES, "tune", NULL },
	{ "--json ", "files", COMPLETION_NO_NAMES, NULL, NULL },
	{ "--json=a/", "files", COMPLETION_NO_NAMES, NULL, NULL },
	{ "--scratch ", "folders", COMPLETION_NO_NAMES, NULL, NULL },
	{ "--preset ", "words", COMPLETION_PRESETS, NULL, "tune" },
	{ "presets ", "words", COMPLETION_PRESETS, NULL, "--" },
	{ "presets hf ", "words", COMPLETION_NO_NAMES, NULL, "--" },
	{ "show ", "words", COMPLETION_RECORDS, NULL, "--" },
	{ "show a ", "words", COMPLETION_NO_NAMES, NULL, "--" },
	{ "export ", "words", COMPLETION_NO_NAMES, "json", "--" },
	{ "export json ", "words", COMPLETION_RECORDS, NULL, "json" },
	{ "import ", "files", COMPLETION_NO_NAMES, NULL, NULL },
	{ "tune ", "words", COMPLETION_NO_NAMES, "--", "--device" },
	{ "tune x ", "words", COMPLETION_NO_NAMES, NULL, "--" },
	{ "devices --watch ", "words", COMPLETION_NO_NAMES, "--", NULL },
	{ "devices --watch 5 ", "words", COMPLETION_NO_NAMES, "--", NULL },
	{ "devices --watch -- ", "command 3", COMPLETION_NO_NAMES, NULL, NULL },
};

static void split_line(struct strlist *words, const char *line)
{
	struct strbuf word = STRBUF_INIT;

	for (;; line++) {
		if (*line && *line != ' ') {
			strbuf_addch(&word, *line);
			continue;
		}
		strlist_add(words, strbuf_text(&word));
		strbuf_reset(&word);
		if (!*line)
			break;
	}
	strbuf_release(&word);
}

/* Is there a line that is word, alone or before a tab? */
static bool has_line(const char *answer, const char *word)
{
	size_t length = strlen(word);

	while ((answer = strchr(answer, '\n'))) {
		answer++;
		if (strncmp(answer, word, length) == 0 &&
		    strchr("\n\t", answer[length]))
			return true;
	}
	return false;
}

static void each_place_has_its_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct strlist words = STRLIST_INIT;
		struct strbuf out = STRBUF_INIT;
		enum completion_names names;
		const char *answer;

		split_line(&words, rows[i].line);
		names = options_complete(&words, &out);
		answer = strbuf_text(&out);
		if (strncmp(answer, rows[i].first, strlen(rows[i].first)) !=
			    0 ||
		    answer[strlen(rows[i].first)] != '\n' ||
		    names != rows[i].names ||
		    (rows[i].has && !has_line(answer, rows[i].has)) ||
		    (rows[i].lacks && has_line(answer, rows[i].lacks)))
			fail_msg("'%s': %d, %s", rows[i].line, (int)names,
				 answer);
		strbuf_release(&out);
		strlist_release(&words);
	}
}

static void no_word_has_no_answer(void **state)
{
	const struct strlist none = STRLIST_INIT;
	struct strbuf out = STRBUF_INIT;

	(void)state;
	assert_int_equal(options_complete(&none, &out), COMPLETION_NO_NAMES);
	assert_int_equal(out.length, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_place_has_its_words),
		cmocka_unit_test(no_word_has_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
