/* Jobs that start together, and how many of them run at once. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/nightly/night_groups.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define JOBS 12
#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* A letter for each job of the list: what it asks Slurm for. Capitals do not
 * wait. The takes are jobs in turn, "/" and how many run at once. */
static const struct group_case {
	const char *jobs;
	size_t room, together_max;
	const char *takes;
} cases[] = {
	{ "", 4, 9, "" },
	{ "aaaa", 32, 9, "0 1 2 3 /4" },
	{ "aaaa", 2, 9, "0 1 2 3 /2" },
	{ "aaaa", 0, 9, "" },
	/* By one, as here or where arrays are refused. */
	{ "aaaa", 2, 1, "0 /1 1 /1" },
	{ "aaaaa", 32, 2, "0 1 /2 2 3 /2 4 /1" },
	/* Groups share; what one does not need is the others'. */
	{ "abab", 32, 9, "0 2 /2 1 3 /2" },
	{ "abbbbb", 4, 9, "0 /1 1 2 3 4 5 /3" },
	{ "aaabbb", 4, 9, "0 1 2 /2 3 4 5 /2" },
	{ "aaabbbc", 3, 9, "0 1 2 /1 3 4 5 /1 6 /1" },
	/* More groups than room: the last one waits. */
	{ "aabbc", 2, 9, "0 1 /1 2 3 /1" },
	{ "AaBa", 9, 9, "1 3 /2" },
	{ "AAA", 9, 9, "" },
};

static void list_of(struct jobs *jobs, const char *letters)
{
	*jobs = (struct jobs){ .count = strlen(letters) };
	jobs->items = xcalloc(JOBS, sizeof(*jobs->items));
	for (size_t i = 0; i < jobs->count; i++)
		jobs->items[i].slurm.minutes = letters[i] | 0x20;
}

static void take_all(struct night_groups *groups, size_t room,
		     size_t together_max, char *out, size_t size)
{
	size_t items[JOBS], count, at_once, used = 0;

	*out = '\0';
	while ((count = night_groups_take(groups, room - used, together_max,
					  items, &at_once))) {
		for (size_t i = 0; i < count; i++)
			(void)snprintf(out + strlen(out), size - strlen(out),
				       "%s%zu", *out ? " " : "", items[i]);
		(void)snprintf(out + strlen(out), size - strlen(out), " /%zu",
			       at_once);
		used += at_once;
	}
}

static void taken_together(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct group_case *row = &cases[i];
		struct night_groups groups;
		struct jobs jobs;
		char takes[256];

		list_of(&jobs, row->jobs);
		night_groups_open(&groups, &jobs);
		for (size_t at = 0; at < jobs.count; at++)
			if (row->jobs[at] >= 'a')
				night_groups_add(&groups, at);
		take_all(&groups, row->room, row->together_max, takes,
			 sizeof(takes));
		if (strcmp(takes, row->takes) != 0)
			fail_msg("%s: %s, not %s", row->jobs, takes,
				 row->takes);
		night_groups_release(&groups);
		free(jobs.items);
	}
}

/* What is put back is taken again, in its place. */
static void put_back(void **state)
{
	struct night_groups groups;
	struct jobs jobs;
	char takes[64];

	(void)state;
	list_of(&jobs, "aab");
	night_groups_open(&groups, &jobs);
	for (size_t at = 0; at < jobs.count; at++)
		night_groups_add(&groups, at);
	take_all(&groups, 9, 9, takes, sizeof(takes));
	night_groups_add(&groups, 1);
	night_groups_add(&groups, 0);
	take_all(&groups, 1, 1, takes, sizeof(takes));
	assert_string_equal(takes, "0 /1");
	take_all(&groups, 1, 1, takes, sizeof(takes));
	assert_string_equal(takes, "1 /1");
	night_groups_release(&groups);
	free(jobs.items);
}

static void used(void **state)
{
	const struct night_share shares[] = {
		{ .at_once = 2, .left = 9 },
		{ .at_once = 3, .left = 1 },
		{ .at_once = 5, .left = 0 },
	};

	(void)state;
	assert_int_equal(night_shares_used(shares, COUNT(shares)), 3);
	assert_int_equal(night_shares_used(NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken_together),
		cmocka_unit_test(put_back),
		cmocka_unit_test(used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
