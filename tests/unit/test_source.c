/* Options and constants are found in the text of scripts, and only there. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/files/source.h"
#include "launcher/command/files/source_counts.h"
#include "launcher/command/files/source_literals.h"
#include "launcher/command/files/source_shares.h"

#include "base/strbuf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

struct option_row {
	const char *name;
	const char *text;
	const char *typed;
	const char *found; /* first name of the option; NULL: none */
	enum source_value kind;
	int64_t value;
	unsigned line;
};

static const struct option_row option_rows[] = {
	{ "plain", "p.add_argument('--bs', type=int, default=8)", "--bs",
	  "--bs", SOURCE_INTEGER, 8, 1 },
	{ "double quotes",
	  "p.add_argument(\"-b\", \"--batch-size\", default=4)", "--batch-size",
	  "-b", SOURCE_INTEGER, 4, 1 },
	{ "alias", "p.add_argument('-b', '--batch-size', default=4)", "-b",
	  "-b", SOURCE_INTEGER, 4, 1 },
	{ "other dash", "p.add_argument('--batch-size', default=4)",
	  "--batch_size", "--batch-size", SOURCE_INTEGER, 4, 1 },
	{ "no default", "p.add_argument('--bs', type=int)", "--bs", "--bs",
	  SOURCE_NONE, 0, 1 },
	{ "None", "p.add_argument('--bs', default=None)", "--bs", "--bs",
	  SOURCE_NONE, 0, 1 },
	{ "text", "p.add_argument('--bs', default='16', type=int)", "--bs",
	  "--bs", SOURCE_INTEGER, 16, 1 },
	{ "product", "p.add_argument('--bs', default=5 * 8)", "--bs", "--bs",
	  SOURCE_INTEGER, 40, 1 },
	{ "underscore", "p.add_argument('--bs', default=1_024)", "--bs", "--bs",
	  SOURCE_INTEGER, 1024, 1 },
	{ "expression", "p.add_argument('--bs', default=2 ** 3)", "--bs",
	  "--bs", SOURCE_OTHER, 0, 1 },
	{ "call", "p.add_argument('--bs', default=f(8), type=int)", "--bs",
	  "--bs", SOURCE_OTHER, 0, 1 },
	{ "a whole float", "p.add_argument('--bs', default=8.0)", "--bs",
	  "--bs", SOURCE_WHOLE, 8, 1 },
	{ "float", "p.add_argument('--bs', default=8.05)", "--bs", "--bs",
	  SOURCE_OTHER, 0, 1 },
	{ "too large", "p.add_argument('--bs', default=99999999999999999999)",
	  "--bs", "--bs", SOURCE_OTHER, 0, 1 },
	{ "lines",
	  "import x\n\np.add_argument(\n  '--bs',  # how many\n  default=8,\n"
	  "  help='a (b), c')\n",
	  "--bs", "--bs", SOURCE_INTEGER, 8, 3 },
	{ "after one with brackets",
	  "p.add_argument('--a', choices=['x)', \"y,\"], default=(1, 2))\n"
	  "p.add_argument('--bs', default=8)",
	  "--bs", "--bs", SOURCE_INTEGER, 8, 2 },
	{ "comment", "# p.add_argument('--bs', default=8)", "--bs", NULL,
	  SOURCE_NONE, 0, 0 },
	{ "docstring", "\"\"\"p.add_argument('--bs', default=8)\"\"\"", "--bs",
	  NULL, SOURCE_NONE, 0, 0 },
	{ "escaped quote", "x = 'it\\'s'\np.add_argument('--bs', default=8)",
	  "--bs", "--bs", SOURCE_INTEGER, 8, 2 },
	{ "unclosed quote", "x = 'it\np.add_argument('--bs', default=8)",
	  "--bs", "--bs", SOURCE_INTEGER, 8, 2 },
	{ "longer word", "my_add_argument('--bs', default=8)", "--bs", NULL,
	  SOURCE_NONE, 0, 0 },
	{ "cut off", "p.add_argument('--bs', default=", "--bs", NULL,
	  SOURCE_NONE, 0, 0 },
	{ "positional", "p.add_argument('bs', default=8)", "bs", NULL,
	  SOURCE_NONE, 0, 0 },
	{ "abbreviation",
	  "p.add_argument('--batch-size', default=8)\n"
	  "p.add_argument('--beta')",
	  "--bat", "--batch-size", SOURCE_INTEGER, 8, 1 },
	{ "ambiguous abbreviation",
	  "p.add_argument('--batch-size', default=8)\n"
	  "p.add_argument('--batch-norm')",
	  "--bat", NULL, SOURCE_NONE, 0, 0 },
	{ "exact before abbreviation",
	  "p.add_argument('--batch-size', default=8)\n"
	  "p.add_argument('--batch', default=3)",
	  "--batch", "--batch", SOURCE_INTEGER, 3, 2 },
	{ "one letter is exact", "p.add_argument('--batch-size')", "-b", NULL,
	  SOURCE_NONE, 0, 0 },
	{ "two parsers, one default",
	  "a.add_argument('--bs', default=8)\nb.add_argument('--bs', "
	  "default=8)",
	  "--bs", "--bs", SOURCE_INTEGER, 8, 1 },
	{ "two parsers, two defaults",
	  "a.add_argument('--bs', default=8)\nb.add_argument('--bs', "
	  "default=4)",
	  "--bs", "--bs", SOURCE_OTHER, 8, 1 },
	{ "nothing", NULL, "--bs", NULL, SOURCE_NONE, 0, 0 },
	{ "empty", "", "--bs", NULL, SOURCE_NONE, 0, 0 },
};

static void options_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(option_rows) / sizeof(*option_rows);
	     i++) {
		const struct option_row *row = &option_rows[i];
		const struct source_option *option;
		struct source source;

		source_read(&source, row->text);
		option =
			source_resolve(&source, row->typed, strlen(row->typed));
		if (!option != !row->found ||
		    (option &&
		     (strcmp(option->names.items[0], row->found) != 0 ||
		      option->kind != row->kind || option->line != row->line ||
		      (row->kind == SOURCE_INTEGER &&
		       option->value != row->value))))
			fail_msg("%s: %s, kind %d, value %lld, line %u",
				 row->name,
				 option ? option->names.items[0] : "none",
				 option ? (int)option->kind : 0,
				 option ? (long long)option->value : 0,
				 option ? option->line : 0);
		source_release(&source);
	}
}

static void words_of_an_option_are_kept(void **state)
{
	struct source source;

	(void)state;
	source_read(&source, "p.add_argument('--b', dest='batch_size')\n"
			     "p.add_argument('--resume', action='store_true')\n"
			     "p.add_argument('--x', action='append')\n");
	assert_int_equal(source.option_count, 3);
	assert_string_equal(source.options[0].dest, "batch_size");
	assert_false(source.options[0].is_switch);
	assert_true(source.options[1].is_switch);
	assert_false(source.options[2].is_switch);
	source_release(&source);
}

static void add_often(struct strbuf *out, const char *piece)
{
	while (out->length + strlen(piece) < SOURCE_BYTES_MAX)
		strbuf_adds(out, piece);
}

/* Each line is a way into the same class again, and each way into all others.
 * Nobody would wait for the end of that. */
static void classes_within_themselves_end(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct source source;

	(void)state;
	strbuf_adds(&text, "tyro.cli(A)\n@dataclass\nclass A:\n"
			   "    batch_size: int = 8\n");
	add_often(&text, "    x: A\n");
	source_read(&source, strbuf_text(&text));
	assert_int_equal(source.option_count, 0);
	source_release(&source);
	strbuf_release(&text);
}

/* A line without an end is looked at around each of a few names in it. */
static void uses_in_one_huge_line_end(void **state)
{
	struct strbuf text = STRBUF_INIT;

	(void)state;
	strbuf_adds(&text, "x = (");
	add_often(&text, "accum_steps * ");
	assert_int_equal(source_count_uses(strbuf_text(&text), "accum_steps"),
			 0);
	strbuf_reset(&text);
	strbuf_adds(&text, "x = batch_size * accum_steps + (");
	add_often(&text, "accum_steps * ");
	assert_int_equal(source_count_uses(strbuf_text(&text), "accum_steps"),
			 COUNT_TIMES);
	strbuf_release(&text);
}

/* key=value behind it is a setting of the program. */
static void options_that_take_settings_are_known(void **state)
{
	static const struct {
		const char *keywords;
		bool takes;
	} rows[] = {
		{ "nargs='+'", true },
		{ "nargs=\"*\"", true },
		{ "nargs=argparse.REMAINDER", true },
		{ "action='append'", true },
		{ "nargs='+', action=DictAction", true },
		{ "action=KeyValue, default={}", true },
		{ "multiple=True", true },
		{ "nargs='?'", false },
		{ "nargs=None", false },
		{ "multiple=False", false },
		{ "nargs=2", false },
		{ "nargs=1, type=str", false },
		{ "action='store'", false },
		{ "action='store_true'", false },
		{ "default='nargs=+'", false },
	};
	struct source source;
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		(void)snprintf(text, sizeof(text), "p.add_argument('--x', %s)",
			       rows[i].keywords);
		source_read(&source, text);
		assert_int_equal(source.option_count, 1);
		if (source.options[0].takes_settings != rows[i].takes)
			fail_msg("%s", rows[i].keywords);
		source_release(&source);
	}
}

struct constant_row {
	const char *name;
	const char *text;
	bool global;
	enum source_value kind;
	int64_t value;
	unsigned line; /* 0: there is none */
};

static const struct constant_row constant_rows[] = {
	{ "global", "batch_size = 12 # micro\n", true, SOURCE_INTEGER, 12, 1 },
	{ "product", "\nbatch_size = 5 * 8 # over ranks\n", true,
	  SOURCE_INTEGER, 40, 2 },
	{ "global expression", "batch_size = n // 2\n", true, SOURCE_OTHER, 0,
	  1 },
	{ "annotated", "class A:\n  batch_size: int = 32\n", false,
	  SOURCE_INTEGER, 32, 2 },
	{ "argument", "DataLoader(data, batch_size=32)", false, SOURCE_INTEGER,
	  32, 1 },
	{ "argument on a line of its own", "f(\nbatch_size=32)", false,
	  SOURCE_INTEGER, 32, 2 },
	{ "indented", "def f():\n\tbatch_size = 32\n", false, SOURCE_INTEGER,
	  32, 2 },
	{ "member", "config.batch_size = 32", false, SOURCE_INTEGER, 32, 1 },
	{ "dictionary", "c = {'lr': 2, 'batch_size': 16}", false,
	  SOURCE_INTEGER, 16, 1 },
	{ "comparison", "if batch_size == 32:", false, SOURCE_NONE, 0, 0 },
	{ "from options", "DataLoader(batch_size=args.bs)", false, SOURCE_NONE,
	  0, 0 },
	{ "in a string", "x = 'batch_size = 32'", false, SOURCE_NONE, 0, 0 },
	{ "in a comment", "# batch_size = 32", false, SOURCE_NONE, 0, 0 },
	{ "longer name", "my_batch_size = 32", false, SOURCE_NONE, 0, 0 },
	{ "float", "f(batch_size=32.5)", false, SOURCE_NONE, 0, 0 },
};

static void constants_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(constant_rows) / sizeof(*constant_rows);
	     i++) {
		const struct constant_row *row = &constant_rows[i];
		const struct source_constant *found = NULL;
		struct source source;

		source_read(&source, row->text);
		for (size_t k = 0; k < source.constant_count; k++)
			if (strcmp(source.constants[k].name, "batch_size") == 0)
				found = &source.constants[k];
		if (!found != !row->line ||
		    (found &&
		     (found->global != row->global ||
		      found->kind != row->kind || found->line != row->line ||
		      (row->kind == SOURCE_INTEGER &&
		       found->value != row->value))))
			fail_msg("%s: %s", row->name,
				 found ? "other facts" : "none");
		assert_true((source_global(&source, "batch-size") != NULL) ==
			    row->global);
		source_release(&source);
	}
}

/* 200 KB of anything are read in one go, and nothing past them. */
static void any_text_is_bounded(void **state)
{
	static const char *const pieces[] = { "add_argument(",
					      "'--a',",
					      "\"\"\"",
					      "(",
					      ")",
					      "x=8,",
					      "'",
					      "#\n",
					      "\\",
					      "default=",
					      "[{",
					      "}]",
					      "\n",
					      "\xff\xfe",
					      "**" };
	struct strbuf text = STRBUF_INIT;
	struct source source;
	unsigned seed = 1;

	(void)state;
	while (text.length < 2 * SOURCE_BYTES_MAX) {
		seed = seed * 1103515245U + 12345U;
		strbuf_adds(&text, pieces[(seed >> 16) %
					  (sizeof(pieces) / sizeof(*pieces))]);
	}
	source_read(&source, strbuf_text(&text));
	assert_true(source.option_count <= SOURCE_OPTIONS_MAX);
	assert_true(source.constant_count <= SOURCE_CONSTANTS_MAX);
	source_release(&source);
	strbuf_reset(&text);
	while (text.length < SOURCE_BYTES_MAX)
		strbuf_adds(&text, "pass # to fill the file\n");
	strbuf_adds(&text, "p.add_argument('--bs', default=8)\n");
	source_read(&source, strbuf_text(&text));
	assert_int_equal(source.option_count, 0);
	source_release(&source);
	strbuf_release(&text);
}

struct literal_row {
	const char *name;
	const char *text;
	const char *found; /* each "name=value@line ", "?" beside: aside */
};

static const struct literal_row literal_rows[] = {
	{ "constant", "BATCH_SIZE = 32\n", "BATCH_SIZE=32@1 " },
	{ "typed", "x = 1\nbatch_size: int = 8", "x=1@1 batch_size=8@2 " },
	{ "attribute", "class A:\n    batch_size = 8\n", "batch_size=8@2 " },
	{ "of an object", "self.batch_size=8 # of all\n", "batch_size=8@1 " },
	{ "parameter", "def f(a, batch_size: int = 8):\n    pass\n",
	  "batch_size=8@1 " },
	{ "keyword", "f(a,\n  batch_size\n  = 8)\nx = 1\n",
	  "batch_size=8@3 x=1@4 " },
	{ "entry", "c = {'lr': 1, \"batch_size\" : 8}",
	  "lr=1@1 batch_size=8@1 " },
	{ "after f-string", "f'{a}'; bs = 8", "bs=8@1 " },
	{ "strings", "'''batch_size = 3\n\"'''; x = \"bs = 3\"; bs = 8",
	  "bs=8@2 " },
	{ "comment", "# bs = 3\nbs = 8 # bs = 4", "bs=8@2 " },
	{ "comparison", "if bs == 8: pass\nbs >= 8\nbs <= 8", "" },
	{ "not plain", "bs = 8 * 4\nbs = 8.5\nbs = 08\nbs = 8 if a else 4",
	  "bs=0@1 bs=0@2 bs=0@3 bs=0@4 " },
	{ "unpacked", "a, bs = 8, 4", "bs=0@1 " },
	{ "huge", "bs = 99999999999999999999", "bs=0@1 " },
	{ "computed", "bs = n * 8\nbs = int('8')\nf(bs=bs)", "" },
	{ "other names", "epochs = 8\nval_batch_size = 3",
	  "epochs=8@1 val_batch_size=3@2? " },
	{ "blocks on one line", "try: bs = 8\nelse: n = 4", "bs=8@1 n=4@2 " },
	{ "evaluation", "val = f(batch_size=8)\ntrain = f(batch_size=4)",
	  "batch_size=8@1? batch_size=4@2 " },
	{ "in an evaluation",
	  "def val_loader(self):\n\n  # x\n  return f(batch_size=8)\n"
	  "def train(self):\n  return f(batch_size=4)\n",
	  "batch_size=8@4? batch_size=4@6 " },
	{ "accumulation", "accum_steps = 8", "accum_steps=8@1 " },
	{ "cut off", "f(batch_size=8", "batch_size=8@1 " },
	{ "cut off string", "x = '''bs = 8\n", "" },
	{ "brackets too many", ")))]\nbs = 8", "bs=8@2 " },
	{ "backslash", "x = 1 + \\\n  2\nbs = \\\n  8\nbs = 4\\",
	  "x=0@1 bs=0@5 " },
	{ "end", "bs =", "" },
	{ "nothing", "", "" },
};

static void literal_add(void *context, const struct source_literal *literal)
{
	strbuf_addf(context, "%.*s=%lld@%u%s ", (int)literal->name_length,
		    literal->name, (long long)literal->value, literal->line,
		    source_literal_is_aside(literal) ? "?" : "");
}

static void literals_are_code(void **state)
{
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(literal_rows) / sizeof(*literal_rows);
	     i++) {
		const struct literal_row *row = &literal_rows[i];
		struct strbuf found = STRBUF_INIT;

		source_literals_visit(row->text, literal_add, &found);
		if (strcmp(strbuf_text(&found), row->found) != 0) {
			print_error("%s: %s\n", row->name, strbuf_text(&found));
			wrong++;
		}
		strbuf_release(&found);
	}
	assert_int_equal(wrong, 0);
}

/* What is beyond the first bytes is not looked at; what never ends does. */
static void literals_end_in_huge_texts(void **state)
{
	struct strbuf text = STRBUF_INIT, found = STRBUF_INIT;

	(void)state;
	strbuf_adds(&text, "bs = 8\n");
	while (text.length < SOURCE_BYTES_MAX)
		strbuf_adds(&text, "def f(([{(\n");
	strbuf_adds(&text, "\nbs = 4\n");
	source_literals_visit(strbuf_text(&text), literal_add, &found);
	assert_string_equal(strbuf_text(&found), "bs=8@1 ");
	strbuf_release(&found);
	strbuf_release(&text);
}

/* An accumulation that follows from a number in the script. */
static void nominal_batches_are_found(void **state)
{
	static const struct {
		const char *text;
		int64_t batch; /* 0: none is found */
		bool rounds, is_total;
	} cases[] = {
		{ "nbs = 64  # images\naccumulate = max(round(nbs / batch), 1)",
		  64, true, false },
		{ "  self.accum = max(1, round(64 / self.batch))", 64, true,
		  false },
		{ "accum_steps = 256 // args.batch", 256, false, false },
		{ "accum_steps = int(N / opt.batch)\nN=32\n", 32, false,
		  false },
		{ "accum = max(round(64 / total_batch_size), 1)", 64, true,
		  true },
		{ "accum = 64 / batch", 0, false, false },
		{ "accum = 64 // other", 0, false, false },
		{ "accum = total // batch", 0, false, false },
		{ "N = 64\nN = 32\naccum = N // batch", 0, false, false },
		{ "N = read()\naccum = N // batch", 0, false, false },
		{ "accum = 64 // batch // world", 0, false, false },
		{ "accum = f(64 // batch)", 0, false, false },
		{ "accum = 64 // batch + 1", 0, false, false },
		{ "accum = 99999999999999999999 // batch", 0, false, false },
		{ "accum == 64 // batch", 0, false, false },
		{ "accum = 64 //", 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct source_nominal found;
		bool is_found =
			source_accum_nominal(&found, cases[i].text, "batch");

		if (is_found != (cases[i].batch > 0) ||
		    (is_found && (found.batch != cases[i].batch ||
				  found.rounds != cases[i].rounds ||
				  found.is_total != cases[i].is_total)))
			fail_msg("%s: %lld", cases[i].text,
				 (long long)found.batch);
	}
}

/* Each base is looked for in all of the text, one line that has it again and
 * again: with a walk to the line's beginning that took minutes. */
static void a_class_of_many_bases_is_read_in_time(void **state)
{
	static const char *const words[] = { "B", "BB BBB BBBB ",
					     "class BB class BBB ",
					     "(BB(BBB(A," };
	struct strbuf text = STRBUF_INIT;
	clock_t before = clock();

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct source source;

		strbuf_adds(&text, "import draccus\nclass A(C");
		for (int length = 2; length < 130; length++)
			strbuf_addf(
				&text, ",%.*s", length,
				"BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
				"BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
				"BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
				"B");
		strbuf_adds(&text, "):\n    batch_size: int = 8\n");
		while (text.length < SOURCE_BYTES_MAX - 64)
			strbuf_adds(&text, words[i]);
		source_read(&source, strbuf_text(&text));
		source_release(&source);
		strbuf_reset(&text);
	}
	/* Only a hang is caught. */
	assert_true((clock() - before) / CLOCKS_PER_SEC < 20);
	strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(literals_are_code),
		cmocka_unit_test(literals_end_in_huge_texts),
		cmocka_unit_test(options_are_found),
		cmocka_unit_test(words_of_an_option_are_kept),
		cmocka_unit_test(options_that_take_settings_are_known),
		cmocka_unit_test(classes_within_themselves_end),
		cmocka_unit_test(uses_in_one_huge_line_end),
		cmocka_unit_test(constants_are_found),
		cmocka_unit_test(nominal_batches_are_found),
		cmocka_unit_test(any_text_is_bounded),
		cmocka_unit_test(a_class_of_many_bases_is_read_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
