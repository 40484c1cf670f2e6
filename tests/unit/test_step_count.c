/* Steps by the counters of log lines: never more than were done. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/verdict/step_count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define END INT64_MIN

static const struct {
	const char *name;
	int64_t counters[16];
	int64_t steps;
} rows[] = {
	{ "nothing", { END }, 0 },
	{ "no counter in the line", { -1, -1, END }, 0 },
	{ "a bar at its beginning", { 0, END }, 0 },
	{ "one by one", { 1, 2, 3, 4, END }, 4 },
	{ "from 0", { 0, 1, 2, 3, END }, 3 },
	{ "resumed from a checkpoint", { 5001, 5002, 5003, END }, 3 },
	{ "every tenth", { 10, 20, 30, 40, END }, 22 },
	{ "every tenth, from 0", { 0, 10, 20, 30, END }, 21 },
	{ "one line of each of two ranks", { 1, 1, 2, 2, 3, 3, END }, 3 },
	{ "epoch and step in turn", { 1, 5, 1, 6, 1, 7, END }, 4 },
	{ "a second bar, far behind", { 1, 50, 2, 51, 3, END }, 3 },
	{ "a new epoch", { 1, 2, 3, 1, 2, 3, END }, 5 },
	{ "settings before the first step", { 0, 128, END }, 1 },
	{ "batch size, then steps", { 128, 1, 2, 3, END }, 3 },
	{ "counters out of this world",
	  { 0, INT64_MAX - 1, INT64_MAX, 3, END },
	  2 },
};

static void every_row_is_counted(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct step_count count = { .is_seen = false };

		for (size_t k = 0; rows[i].counters[k] != END; k++)
			step_count_note(&count, rows[i].counters[k]);
		if (count.steps != rows[i].steps)
			fail_msg("%s: %lld steps", rows[i].name,
				 (long long)count.steps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
