/* Profiles from files: what is wrong with them is said with its line. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/estimate/profile_tables.h"

#include "configs/profiles/profile.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static void assert_near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.6f instead of %.6f", value, expected);
}

/* A profile that works; lines are added to it, or stand in its place. */
#define SOUND                                                                  \
	"[profile]\ndescription = d\nunit = GB\nunit_bytes = 1e9\n"            \
	"[inputs]\nparams = 1e9\n[rules]\nhalf = params / 2\n"                 \
	"[estimate x]\ntotal = t | half\n"
#define TABLE "[table t]\ntitle = T\ncolumns = a | b\n"

static const struct {
	const char *text, *words;
} wrong_files[] = {
	{ "", "[profile] needs description, unit" },
	{ "[profile]\ndescription = d\nunit = GB\nunit_bytes = 1\n",
	  "there must be an [estimate NAME]" },
	{ "[profile]\nbogus = 1\n", "bad.ini:2: [profile] has no key" },
	{ "[profile]\nunit_bytes = 0\n", "bad.ini:2: unit_bytes = 0" },
	{ "[profile]\nunit_bytes = nan\n", "is no number" },
	{ "[profile]\nunit_bytes = 0x10\n", "is no number" },
	{ "[profile]\nunit_bytes = 1e300\n", "is no number" },
	{ "[profile]\nextends = none\n",
	  "bad.ini:2: no profile is called \"none\"; there are agi2" },
	{ "[profile]\nextends = ../x\n", "no profile is called" },
	{ "[profile]\nextends = agi2\nextends = agi2\n",
	  "bad.ini:3: extends = agi2: a profile extends one" },
	{ "[profile]\nextends = latentwire-code\n",
	  "a profile extends one other" },
	{ "[nothing]\na = 1\n", "bad.ini:2: a profile has no section" },
	{ "[table]\ntitle = T\n", "a name of small letters" },
	{ "[table A/B]\ntitle = T\n", "a name of small letters" },
	{ "[rules x]\na = 1\n", "this section has no name" },
	{ "[inputs]\nA = 1\n", "\"A\" is no name" },
	{ "[inputs]\na = 1\na = 2\n", "bad.ini:3: a stands in line 2 already" },
	{ "[inputs]\na =\n", "a has no value" },
	{ "[inputs]\na = \x1b[2J\n", "not plain ASCII" },
	{ "[inputs]\na = \xc3\xa9\n", "not plain ASCII" },
	{ "[anchors a]\n1 = x\n", "\"x\" is no number" },
	{ "[bands a]\nx = x\nelse = y\n", "\"x\" is no number" },
	{ SOUND "[anchors a]\n2 = 1\n1 = 1\n",
	  "bad.ini:13: not above the line before" },
	{ SOUND "[bands a]\n2 = x\n", "the last line of bands is else" },
	{ SOUND "[table t]\ntitle = T\n",
	  "bad.ini:12: [table t] has no columns" },
	{ SOUND TABLE, "[table t] has no row" },
	{ SOUND TABLE "title = U\nrow = 1 | 2\n",
	  "[table t] has title more than once" },
	{ SOUND TABLE "row = 1\n", "bad.ini:14: the row has another" },
	{ SOUND "[table t]\ntitle = T\ncolumns = 1|2|3|4|5|6|7|8|9\n"
		"row = 1|2|3|4|5|6|7|8|9\n",
	  "more than 8 columns" },
	{ SOUND TABLE "row = 1 | {half\n", "bad.ini:14: {half: } is missing" },
	{ SOUND TABLE "row = 1 | {}\n", "a number, a name or (" },
	{ SOUND TABLE "row = 1 | {nothing}\n",
	  "nothing: there is no such input or rule" },
	{ SOUND TABLE "row = 1 | {1 2}\n", "an operator should stand" },
	{ SOUND TABLE "row = 1 | {1 / 0}\n", "divided by 0" },
	{ SOUND TABLE "row = 1 | {1 < 2}\n", "write <= or >=" },
	{ SOUND TABLE "row = 1 | {(1}\n", ") is missing" },
	{ SOUND TABLE "row = 1 | {max(1}\n", ") is missing" },
	{ SOUND TABLE "row = 1 | {max(1, 2, 3)}\n", "too many arg" },
	{ SOUND TABLE "row = 1 | {max(1)}\n", "no such function" },
	{ SOUND TABLE "row = 1 | {1e99}\n", "a number up to 18" },
	{ SOUND TABLE "row = 1 | {1234567890123456}\n", "1 to 15 digits" },
	{ SOUND TABLE "row = 1 | {((((((((((((((((1))))))))))))))))}\n",
	  "too many parentheses" },
	{ SOUND TABLE "row = 1 | {half@nothing}\n",
	  "there are no bands nothing" },
	{ SOUND TABLE "set = params\nrow = 1 | 2\n", "write NAME=VALUE" },
	{ SOUND TABLE "set = other=1\nrow = 1 | 2\n", "write NAME=VALUE" },
	{ SOUND TABLE "set = params=1+1\nrow = 1 | 2\n",
	  "params = 1+1: write a number" },
	{ SOUND TABLE "set = params=?\nrow = 1 | {half}\n",
	  "params is not known" },
	{ SOUND "[differs d]\ntables = t\nabout = a\nwhy = w\n",
	  "bad.ini:12: there is no [table t]" },
	{ SOUND TABLE "row = 1 | 2\n[differs d]\ntables = t\n"
		      "about = a\nclaimed = 1\nwhy = w\n",
	  "claimed, physics and unit belong together" },
	{ SOUND "[estimate y]\ntotal = t\n", "write label | value" },
	{ SOUND "[estimate y]\ntotal = t | nothing\n",
	  "there is no such input or rule" },
	{ SOUND "[estimate y]\ntotal = t | 1\nverdict = 1\n",
	  "write VALUE@BANDS" },
	/* Rules see only those above them, so that none goes round. */
	{ "[profile]\ndescription = d\nunit = GB\nunit_bytes = 1\n"
	  "[rules]\na = b\nb = a\n[estimate x]\ntotal = t | b\n",
	  "b: a rule stands above its use" },
	{ "[profile]\ndescription = d\nunit = GB\nunit_bytes = 1\n"
	  "[rules]\na = a\n[estimate x]\ntotal = t | a\n",
	  "a: a rule stands above its use" },
};

static void a_file_that_is_wrong(void **state)
{
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, "bad.ini");
	for (size_t i = 0; i < COUNT(wrong_files); i++) {
		struct profile profile;
		struct error err = ERROR_INIT;

		assert_int_equal(scratch_write(path, wrong_files[i].text,
					       strlen(wrong_files[i].text)),
				 0);
		if (profile_open(&profile, "bad", *state, &err) == 0)
			fail_msg("row %zu is taken", i);
		if (!strstr(err.message, wrong_files[i].words))
			fail_msg("row %zu: %s", i, err.message);
		profile_release(&profile);
	}
}

static void a_file_of_ones_own(void **state)
{
	static const char text[] =
		"[profile]\ndescription = ours\nextends = agi2\n"
		"[inputs]\nvocab = 1000\n"
		"[estimate ours]\ntotal = t | params / 1e6\n";
	struct profile_inputs inputs = { .hidden = 384, .layers = 6 };
	struct profile_result result;
	struct profile profile;
	struct error err = ERROR_INIT;
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, "ours.ini");
	assert_int_equal(scratch_write(path, text, strlen(text)), 0);
	if (profile_open(&profile, "ours", *state, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(profile.description, "ours");
	assert_string_equal(profile.unit, "GB");
	assert_non_null(profile_section(&profile, PROFILE_TABLE, "small"));
	assert_int_equal(profile_estimate(&profile, &inputs, &result, &err), 0);
	assert_string_equal(result.method, "ours");
	assert_near(result.low, 11.202048, 1e-9);
	profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_that_is_wrong,
						scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(a_file_of_ones_own,
						scratch_make, scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
