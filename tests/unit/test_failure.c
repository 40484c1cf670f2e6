/* The first error of a command, found in what it printed. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/failure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *name;
	const char *output; /* lines */
	const char *expected;
} rows[] = {
	{ "one traceback",
	  "loading\n"
	  "Traceback (most recent call last):\n"
	  "  File \"train.py\", line 3, in <module>\n"
	  "    mian()\n"
	  "NameError: name 'mian' is not defined\n"
	  "bye\n",
	  "  File \"train.py\", line 3, in <module>\n"
	  "    mian()\n"
	  "NameError: name 'mian' is not defined\n" },
	{ "the first of two ranks",
	  "[rank1]: Traceback (most recent call last):\n"
	  "[rank1]:   File \"a.py\", line 1\n"
	  "[rank1]: ValueError: first\n"
	  "[rank0]: Traceback (most recent call last):\n"
	  "[rank0]:   File \"a.py\", line 2\n"
	  "[rank0]: RuntimeError: connection closed\n",
	  "  File \"a.py\", line 1\nValueError: first\n" },
	{ "no traceback: the last lines",
	  "usage: train.py [-h]\n"
	  "train.py: error: unrecognized arguments: --bs\n",
	  "usage: train.py [-h]\n"
	  "train.py: error: unrecognized arguments: --bs\n" },
	{ "deep: the last frames",
	  "Traceback (most recent call last):\n"
	  "  1\n  2\n  3\n  4\n  5\n  6\n  7\n  8\n"
	  "KeyError: 'x'\n",
	  "  3\n  4\n  5\n  6\n  7\n  8\nKeyError: 'x'\n" },
	{ "cut off in a traceback",
	  "Traceback (most recent call last):\n  File \"a.py\"\n",
	  "Traceback (most recent call last):\n  File \"a.py\"\n" },
	{ "control bytes", "a\033[31mb\n", "a?[31mb\n" },
	{ "nothing", "", "" },
};

static void the_first_error_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct failure failure = { .frame_count = 0 };
		struct strbuf text = STRBUF_INIT;
		const char *line = rows[i].output;

		for (; *line; line = strchr(line, '\n') + 1)
			failure_line(&failure, line, strcspn(line, "\n"));
		failure_text(&failure, &text);
		if (strcmp(strbuf_text(&text), rows[i].expected) != 0)
			fail_msg("%s: got\n%s", rows[i].name,
				 strbuf_text(&text));
		strbuf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_error_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
