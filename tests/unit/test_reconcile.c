/* The peak from what is seen inside and outside, look by look. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/verdict/reconcile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define LOOKS_MAX 5

/* I: seen inside, O: outside, Q: quiet, B: bypassed, T: told by the library,
 * 2: of two processes. */
struct look {
	const char *what;
	uint64_t tracked, tracked_peak, outside;
};

static const struct {
	const char *name;
	struct look looks[LOOKS_MAX];
	uint64_t peak, overhead;
	enum coverage coverage;
} rows[] = {
	{ "nothing seen", { { NULL, 0, 0, 0 } }, 0, 0, COVERAGE_NONE },
	{ "nothing there yet", { { "IOQ", 0, 0, 0 } }, 0, 0, COVERAGE_NONE },
	{ "nothing there yet, later never quiet",
	  { { "IOQ", 0, 0, 0 }, { "I", 100, 100, 0 } },
	  100,
	  0,
	  COVERAGE_DEVICE_WIDE },
	{ "exact", { { "IOQ", 100, 100, 130 } }, 130, 30, COVERAGE_EXACT },
	{ "a peak between two looks",
	  { { "IOQ", 100, 100, 130 }, { "IOQ", 95, 150, 125 } },
	  180,
	  30,
	  COVERAGE_EXACT },
	{ "the overhead grows",
	  { { "IOQ", 0, 0, 30 },
	    { "IOQ", 100, 100, 140 },
	    { "IOQ", 100, 120, 135 } },
	  160,
	  40,
	  COVERAGE_EXACT },
	{ "a context and no more",
	  { { "IOQ", 0, 0, 30 } },
	  30,
	  30,
	  COVERAGE_EXACT },
	{ "no overhead at all",
	  { { "IOQ", 100, 100, 100 } },
	  100,
	  0,
	  COVERAGE_EXACT },
	{ "not quiet: the difference says nothing",
	  { { "IO", 100, 100, 190 } },
	  190,
	  0,
	  COVERAGE_DEVICE_WIDE },
	{ "not quiet, later quiet",
	  { { "IO", 100, 100, 120 }, { "IOQ", 100, 100, 130 } },
	  130,
	  30,
	  COVERAGE_EXACT },
	{ "only outside",
	  { { "O", 0, 0, 130 }, { "O", 0, 0, 110 } },
	  130,
	  0,
	  COVERAGE_DEVICE_WIDE },
	{ "only inside",
	  { { "I", 90, 100, 0 }, { "IQ", 90, 110, 0 } },
	  110,
	  0,
	  COVERAGE_DEVICE_WIDE },
	{ "less outside than inside is no overhead",
	  { { "IOQ", 100, 100, 60 } },
	  100,
	  0,
	  COVERAGE_DEVICE_WIDE },
	{ "never below what was seen outside",
	  { { "IOQ", 100, 100, 130 }, { "IO", 100, 100, 300 } },
	  300,
	  30,
	  COVERAGE_EXACT },
	{ "freed by a process that ended: outside follows late",
	  { { "IOQ", 100, 100, 130 }, { "IOQ", 20, 100, 130 } },
	  130,
	  30,
	  COVERAGE_EXACT },
	{ "all of it freed: what is outside is on its way back",
	  { { "IOQ", 0, 0, 30 }, { "IOQ", 0, 100, 130 } },
	  130,
	  30,
	  COVERAGE_DEVICE_WIDE },
	{ "a short peak: the last difference far from it",
	  { { "IOQ", 0, 0, 0 },
	    { "IOQ", 40, 100, 50 },
	    { "IOQ", 40, 100, 60 },
	    { "IOQ", 41, 100, 56 } },
	  115,
	  0,
	  COVERAGE_EXACT },
	{ "bypassed from the start",
	  { { "IOQB", 50, 60, 200 } },
	  200,
	  0,
	  COVERAGE_DEVICE_WIDE },
	{ "bypassed later: its bytes were in the difference",
	  { { "IOQ", 50, 50, 200 }, { "IOB", 50, 100, 190 } },
	  200,
	  150,
	  COVERAGE_DEVICE_WIDE },
	{ "bypassed, and once more not",
	  { { "OB", 0, 0, 10 }, { "IOQ", 50, 50, 60 } },
	  60,
	  10,
	  COVERAGE_DEVICE_WIDE },
	{ "the peak inside never falls",
	  { { "I", 0, 100, 0 }, { "I", 0, 70, 0 } },
	  100,
	  0,
	  COVERAGE_DEVICE_WIDE },
	{ "sums that would overflow",
	  { { "IOQ", 0, 0, UINT64_MAX - 5 }, { "I", 0, 100, 0 } },
	  UINT64_MAX - 5,
	  UINT64_MAX - 5,
	  COVERAGE_DEVICE_WIDE },
	{ "what was near a small peak is far from a larger one",
	  { { "IOQ", 10, 10, 40 }, { "IOQ", 40, 200, 120 } },
	  280,
	  30,
	  COVERAGE_EXACT },
	{ "never less than near the small one",
	  { { "IOQ", 10, 10, 40 }, { "IOQ", 40, 200, 50 } },
	  230,
	  30,
	  COVERAGE_EXACT },
	{ "compared before the training began, and never again",
	  { { "IOQ", 0, 0, 30 }, { "IO", 90, 100, 100 } },
	  130,
	  30,
	  COVERAGE_DEVICE_WIDE },
	{ "compared on the way, and never again",
	  { { "IOQ", 50, 50, 80 }, { "IO", 90, 100, 100 } },
	  130,
	  30,
	  COVERAGE_DEVICE_WIDE },
	{ "the library was told of it, and nobody looked from outside",
	  { { "IOT", 50, 50, 80 }, { "IOT", 60, 100, 90 } },
	  130,
	  0,
	  COVERAGE_DEVICE_WIDE },
	{ "told, and seen: what was seen counts",
	  { { "IOT", 50, 50, 150 }, { "IOQ", 100, 100, 120 } },
	  150,
	  20,
	  COVERAGE_EXACT },
	{ "one of two has ended: the other's overhead counts for both",
	  { { "I2", 100, 100, 0 }, { "IOQ", 50, 100, 55 } },
	  110,
	  0,
	  COVERAGE_DEVICE_WIDE },
	{ "far from the peak, and both are there",
	  { { "I2", 100, 100, 0 }, { "IOQ2", 50, 100, 60 } },
	  110,
	  0,
	  COVERAGE_EXACT },
	{ "one has come so far, and the other comes unseen",
	  { { "IOQ", 50, 50, 55 }, { "I2", 100, 100, 0 } },
	  110,
	  5,
	  COVERAGE_DEVICE_WIDE },
	{ "near the peak, and one ends later",
	  { { "IOQ2", 100, 100, 110 }, { "IOQ", 50, 100, 70 } },
	  110,
	  10,
	  COVERAGE_EXACT },
	{ "told, and bypassed",
	  { { "IOTB", 50, 100, 80 } },
	  100,
	  0,
	  COVERAGE_DEVICE_WIDE },
};

static void looks_make_a_peak(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct reconcile reconcile = { .overhead_bytes = 0 };

		for (size_t j = 0; j < LOOKS_MAX && rows[i].looks[j].what;
		     j++) {
			const struct look *look = &rows[i].looks[j];
			const struct reconcile_look seen = {
				.has_tracked = strchr(look->what, 'I') != NULL,
				.has_outside = strchr(look->what, 'O') != NULL,
				.is_quiet = strchr(look->what, 'Q') != NULL,
				.is_bypassed = strchr(look->what, 'B') != NULL,
				.tracked_bytes = look->tracked,
				.tracked_peak_bytes = look->tracked_peak,
				.holders = look->tracked
						   ? 1 + (strchr(look->what,
								 '2') != NULL)
						   : 0,
				.outside_bytes = look->outside,
				.told_overhead_bytes =
					strchr(look->what, 'T')
						? look->outside - look->tracked
						: 0,
			};

			reconcile_note(&reconcile, &seen);
		}
		if (reconcile_peak(&reconcile) != rows[i].peak ||
		    reconcile.overhead_bytes != rows[i].overhead ||
		    reconcile_coverage(&reconcile) != rows[i].coverage)
			fail_msg("%s: peak %llu, overhead %llu, %s",
				 rows[i].name,
				 (unsigned long long)reconcile_peak(&reconcile),
				 (unsigned long long)reconcile.overhead_bytes,
				 coverage_name(reconcile_coverage(&reconcile)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_make_a_peak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
