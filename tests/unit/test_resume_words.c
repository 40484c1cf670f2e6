/* {resume:WORDS} at the first start and in a restart. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/text/resume_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct row {
	const char *command[4];
	const char *first[4], *restart[5];
	bool found;
} rows[] = {
	{ { "python", "train.py" },
	  { "python", "train.py" },
	  { "python", "train.py" },
	  false },
	{ { "t", "{resume:--resume a/last.pt}", "-x" },
	  { "t", "-x" },
	  { "t", "--resume", "a/last.pt", "-x" },
	  true },
	/* It finds its checkpoint by itself. */
	{ { "t", "{resume:}" }, { "t" }, { "t" }, true },
	{ { "t", "{resume}" }, { "t" }, { "t" }, true },
	/* Within a text blanks are the text's own. */
	{ { "bash", "-c", "t {resume:--from last} -x" },
	  { "bash", "-c", "t  -x" },
	  { "bash", "-c", "t --from last -x" },
	  true },
	{ { "t", "--load={resume:a}{resume:b}" },
	  { "t", "--load=" },
	  { "t", "--load=ab" },
	  true },
	/* None of ours. */
	{ { "t", "{resume", "{resumed:x}", "{micro:8}" },
	  { "t", "{resume", "{resumed:x}", "{micro:8}" },
	  { "t", "{resume", "{resumed:x}", "{micro:8}" },
	  false },
};

static void fill(struct strlist *list, const char *const *words, size_t max)
{
	for (size_t i = 0; i < max && words[i]; i++)
		strlist_add(list, words[i]);
}

static void check_form(const struct row *row, enum resume_form form,
		       const char *const *words, size_t max)
{
	struct strlist command = STRLIST_INIT;
	struct strlist wanted = STRLIST_INIT;
	struct strlist got = STRLIST_INIT;

	fill(&command, row->command, 4);
	fill(&wanted, words, max);
	assert_int_equal(resume_words(&command, form, &got), row->found);
	assert_true(strlist_equal(&got, &wanted));
	strlist_release(&command);
	strlist_release(&wanted);
	strlist_release(&got);
}

static void words_of_each_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		check_form(&rows[i], RESUME_FIRST_START, rows[i].first, 4);
		check_form(&rows[i], RESUME_RESTART, rows[i].restart, 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_each_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
