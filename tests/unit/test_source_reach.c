/* Which functions and classes of a module its user reaches. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "base/alloc.h"
#include "launcher/command/modules/source_reach.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const char module[] = "import argparse\n"
			     "def a():\n"
			     "    b()\n"
			     "# c\n"
			     "def b():\n"
			     "    x.c()\n"
			     "@deco\n"
			     "class C(D):\n"
			     "    pass\n"
			     "class D: pass\n"
			     "c = 8\n"
			     "def c(): pass\n"
			     "e['f'] = F(\n"
			     "  g=8)\n"
			     "class F: pass\n"
			     "h = i.F()\n";

static const struct row {
	const char *name, *user, *reached;
} rows[] = {
	{ "a function, and what it names", "from m import a",
	  "\ndef a():\n    b()\n# c\ndef b():\n    x.c()\n" },
	{ "a class, its decorator and its base", "from m import (\n  z, C)\n",
	  "\n\n\n\n\n\n@deco\nclass C(D):\n    pass\nclass D: pass\n" },
	{ "of a module by its other name", "import m as n\nn.c()",
	  "\n\n\n\n\n\n\n\n\n\n\ndef c(): pass\n" },
	{ "all, as far as it is named", "from m import *\nD()",
	  "\n\n\n\n\n\n\n\n\nclass D: pass\n" },
	{ "a class, and what is made of it", "from m import F",
	  "\n\n\n\n\n\n\n\n\n\n\n\ne['f'] = F(\n  g=8)\nclass F: pass\n" },
	{ "of what came back of it", "from m import e\ne().c()", NULL },
	{ "named in a comment and in a text", "import m\n# m.c()\n'm.c'",
	  NULL },
};

static void rows_hold(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct source_import imports[SOURCE_IMPORTS_MAX];
		struct strbuf out = STRBUF_INIT;
		bool is_reached;

		assert_int_equal(source_imports(rows[i].user, imports), 1);
		is_reached = source_reach(&out, module, rows[i].user, imports);
		if (is_reached != (rows[i].reached != NULL) ||
		    strcmp(strbuf_text(&out),
			   rows[i].reached ? rows[i].reached : "") != 0)
			fail_msg("%s: \"%s\"", rows[i].name, strbuf_text(&out));
		strbuf_release(&out);
	}
}

/* Else its text, and all that is read behind it, would begin inside a string.
 */
static void a_line_of_a_string_ends_no_function(void **state)
{
	static const char card[] = "def a():\n"
				   "    x = f\"\"\"it's\n"
				   "# a title\n"
				   "class of text\n"
				   "\"\"\"\n"
				   "    b(x) # it's \"\"\"\n"
				   "y = 8\n";
	struct source_import imports[SOURCE_IMPORTS_MAX];
	struct strbuf out = STRBUF_INIT;

	(void)state;
	(void)source_imports("from m import a", imports);
	assert_true(source_reach(&out, card, "from m import a\na()", imports));
	assert_int_equal(out.length, strlen(card) - strlen("y = 8\n"));
	strbuf_release(&out);
}

static void a_flag_of_absl_is_reached_by_the_import(void **state)
{
	static const char flags[] = "def b():\n    pass\n"
				    "flags.DEFINE_integer(\n"
				    "    \"batch\", 8, \"x\",\n)\n"
				    "f = flags.DEFINE_bool(\"y\", 1, \"\")\n"
				    "g = x.flags.z(8)\n";
	struct source_import imports[SOURCE_IMPORTS_MAX];
	struct strbuf out = STRBUF_INIT;

	(void)state;
	(void)source_imports("import m", imports);
	assert_true(source_reach(&out, flags, "import m\n", imports));
	assert_string_equal(strbuf_text(&out),
			    "\n\nflags.DEFINE_integer(\n"
			    "    \"batch\", 8, \"x\",\n)\n"
			    "f = flags.DEFINE_bool(\"y\", 1, \"\")\n");
	strbuf_release(&out);
}

/* Each function names the next one, and the user names all. */
static void a_long_module_is_read_in_time(void **state)
{
	struct strbuf text = STRBUF_INIT, user = STRBUF_INIT;
	struct strbuf out = STRBUF_INIT;
	struct source_import imports[SOURCE_IMPORTS_MAX];
	clock_t before = clock();

	(void)state;
	strbuf_adds(&user, "from m import *\n");
	for (int i = 0; i < 10000; i++) {
		strbuf_addf(&text, "def f%d(): f%d()\n", i, i + 1);
		strbuf_addf(&user, "f%d\n", i);
	}
	(void)source_imports(strbuf_text(&user), imports);
	assert_true(source_reach(&out, strbuf_text(&text), strbuf_text(&user),
				 imports));
	assert_true(clock() - before < CLOCKS_PER_SEC);
	strbuf_release(&text);
	strbuf_release(&user);
	strbuf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_hold),
		cmocka_unit_test(a_line_of_a_string_ends_no_function),
		cmocka_unit_test(a_flag_of_absl_is_reached_by_the_import),
		cmocka_unit_test(a_long_module_is_read_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
