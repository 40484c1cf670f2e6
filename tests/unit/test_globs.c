/* Globs of stars alone match as fnmatch says. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/text/names.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char *const patterns[] = {
	"",     "*",    "**",    "a",    "ab",   "a*",     "*a",    "*a*",
	"a*b",  "a*b*", "*b*a",  "a**b", "ab*a", "*ab*ab", "[ab]*", "a?",
	"\\*a", "a*?",  "*.ini", "/a*",  "*/a",  "a*b*c",  "\xc3*", "*\xa9",
};
static const char *const texts[] = {
	"",    "a",     "b",  "ab",    "ba", "aab", "abb",     "abab",
	"aba", "x.ini", ".a", "x/a",   "*a", "/ab", "x/y/a.b", "abcabc",
	"abc", "aXbYc", "ac", "aabbc", "\n", "a b", "ababab",
};

static void as_fnmatch(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		for (size_t j = 0; j < sizeof(texts) / sizeof(*texts); j++)
			assert_int_equal(glob_matches(patterns[i], texts[j]),
					 fnmatch(patterns[i], texts[j], 0) ==
						 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_fnmatch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
