/* Config files: which values they hold, where, and copies with others. */
/* SPDX-License-Identifier: MIT */
/* USES configs */
#include "configs/settings/settings.h"

#include "base/alloc.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define Y SETTINGS_YAML
#define J SETTINGS_JSON
#define T SETTINGS_TOML
#define P SETTINGS_PYTHON
#define A SETTINGS_ARGS

/*
 * The items of a text as "line key=value", with "; " between them. What is no
 * scalar has ~ for =.
 */
static const struct {
	enum settings_format format;
	const char *text, *items;
} read_rows[] = {
	/* YAML: places */
	{ Y, "a: 8\n", "1 a=8" },
	{ Y, "", "" },
	{ Y, "# nothing\n", "" },
	{ Y, "8\n", "1 ~8" },
	{ Y, "train:\n  batch_size: 8 # c\n  lr: 1e-3\n",
	  "2 train.batch_size=8; 3 train.lr=1e-3" },
	{ Y, "a: 'é'\nb: {ü: 9, c: [1, 2]}\n",
	  "1 a=é; 2 b.ü=9; 2 b.c[0]=1; 2 b.c[1]=2" },
	{ Y,
	  "\xef\xbb\xbf"
	  "a: 8\r\nb:\r\n  c: \"9\"\r\n",
	  "1 a=8; 3 b.c=9" },
	{ Y, "- a: 1\n- b: 2\n  c:\n  - 3\n",
	  "1 [0].a=1; 2 [1].b=2; 4 [1].c[0]=3" },
	{ Y, "a: 1\rb: 2\r", "1 a=1; 2 b=2" },
	{ Y, "a: 𝔸𝔹\nb: \"\xe2\x80\xa8\"\nc: 7\n",
	  "1 a=𝔸𝔹; 2 b=\xe2\x80\xa8; 3 c=7" },
	/* YAML: kinds of scalars */
	{ Y, "a: '8'\nb: \"8\"\nc: 1_000\nd: 0x10\ne: 1.5\nf: -1\n",
	  "1 a=8; 2 b=8; 3 c=1_000; 4 d=0x10; 5 e=1.5; 6 f=-1" },
	{ Y, "a: 010\nb: '010'\nc: 0\n", "1 a~010; 2 b=010; 3 c=0" },
	{ Y, "a: null\nb: ~\nc:\nd: ''\ne: \"null\"\n",
	  "1 a=; 2 b=; 3 c~; 4 d~; 5 e=null" },
	{ Y, "a: \"\\x38\"\nb: 'it''s'\nc: \"a\n  b\"\nd: x\n  y\n",
	  "1 a~8; 2 b~it's; 3 c~a b; 5 d~x y" },
	{ Y, "a: |\n  b: 8\nc: >-\n  d\n", "1 a~b: 8\n; 3 c~d" },
	{ Y, "a: ${b}\nb: $HOME\nc: '{{ d }}'\n",
	  "1 a~${b}; 2 b~$HOME; 3 c~{{ d }}" },
	{ Y, "a: !!int 8\nb: !!str \"8\"\nc: !include x\nd: !!python/x 8\n",
	  "1 a=8; 2 b=8; 3 c~x; 4 d~8" },
	/* YAML: anchors, merge keys, odd keys, documents */
	{ Y, "a: &x 8\nb: *x\nc: &y 4\n", "1 a~8; 2 b~*x; 3 c=4" },
	{ Y, "a: &x\n  b: 8\n  c: [1]\nd:\n  <<: *x\n  e: 1\n",
	  "2 a.b~8; 3 a.c[0]~1; 5 d.<<~*x; 6 d.e=1" },
	{ Y, "d:\n  <<: {b: 8}\n  e: 1\n", "2 d.<<.b~8; 3 d.e=1" },
	{ Y, "? [a, b]\n: 8\n? c\n: 9\n", "2 ?~8; 4 c=9" },
	{ Y, "? {a: {b: *x}}\n: {c: 8}\nd: 1\n", "2 ?.c~8; 3 d=1" },
	{ Y, "&x a: &y !!int 8\n*x : 9\n", "1 a=8; 2 *x~9" },
	{ Y, "'': {a: 1}\n'b.c': 2\n3: 4\n", "1 \"\".a=1; 2 b.c=2; 3 3=4" },
	{ Y, "---\na: 8\n...\n", "2 a=8" },
	{ Y, "a: 8\n---\na: 9\n", "1 a~8; 3 a~9" },
	{ Y, "a: 1\na: 2\n", "1 a=1; 2 a=2" },
	{ Y, "a: {b: 1}\na: {b: 2}\n", "1 a.b~1; 2 a.b=2" },
	{ Y, "a: {b: 1}\na: 3\n", "1 a.b~1; 2 a=3" },
	/* JSON */
	/* JSON: comments, which many programs take out themselves */
	{ J,
	  "{ \"a\": 1 // one\n, \"b\": \"x//y\" /* \"c\": 2\n"
	  " */,\"d\\\"//\": 4}//",
	  "1 a=1; 2 b=x//y; 3 d\"//=4" },
	{ J, "{\"a\":8,\"b\":{\"c\":[1,{\"d\":-2}]}}",
	  "1 a=8; 1 b.c[0]=1; 1 b.c[1].d=-2" },
	{ J, "\t{\n\t\t\"a\" : 8,\n\t\t\"b\": \"auto\"\n\t}\t\n\t",
	  "2 a=8; 3 b=auto" },
	{ J, "{\"a\": \"\\u0038\", \"b\": \"\\/\\\"\", \"c\": 4}",
	  "1 a~8; 1 b~/\"; 1 c=4" },
	{ J, "{\"a\": \"\\ud83d\\ude00\", \"b\": \"\\\\ud83d\", \"c\": 4}",
	  "1 a~\xf0\x9f\x98\x80; 1 b~\\ud83d; 1 c=4" },
	{ J, "{\"é\": \"\xe2\x80\xa8\",\n \"b\": 4}",
	  "1 é=\xe2\x80\xa8; 2 b=4" },
	{ J,
	  "{\"a\": 123456789012345678901, \"b\": 8, \"c\": true, \"d\": 1E+2}",
	  "1 a=123456789012345678901; 1 b=8; 1 c=true; 1 d=1E+2" },
	{ J, "{\"a\": null, \"b\": \"\", \"c\": [], \"<<\": {\"d\": 1}}",
	  "1 a=; 1 b~; 1 <<.d=1" },
	{ J, "{\"a\": 1, \"b\": 5, \"a\": 2}", "1 a=1; 1 b=5; 1 a=2" },
	{ J, "{\"a\": {\"x\": 1}, \"a\": {\"x\": 2}}", "1 a.x~1; 1 a.x=2" },
	{ J, "[{\"a.b\": 1, \"a\": {\"b\": 2}}]", "1 [0].a.b~1; 1 [0].a.b=2" },
	{ J, "{\"a\"\n: 1, \"b\" :[ ]}", "2 a=1" },
	{ J, "{\"\\ud83d\\ude00\": 1}", "1 \xf0\x9f\x98\x80=1" },
	{ J, "{\"a\": [[1, {\"\": 2}], {}, 3], \"b\": \"}\\\\\"}",
	  "1 a[0][0]=1; 1 a[0][1].\"\"=2; 1 a[2]=3; 1 b~}\\" },
	{ J, "{\"a\": \"*x\", \"b\": \"&y z\", \"c\": \"!t\", \"d\": 010}",
	  NULL },
	{ J, "{\"a\": \"*x\", \"b\": \"&y\", \"c\": \"? - : ,\"}",
	  "1 a=*x; 1 b=&y; 1 c=? - : ," },
	/* TOML */
	{ T, "a = 8\n[b.c] # x\nd = '8'\ne.f = \"4\"\n",
	  "1 a=8; 3 b.c.d=8; 4 b.c.e.f=4" },
	{ T,
	  "[[d]]\nb = 4\n[[d.s]]\nn = 1\n[[d.s]]\nn = 2\n[d.s.x]\ny = 3\n"
	  "[[d]]\nb = 8\n[[d.s]]\nn = 5\n",
	  "2 d[0].b=4; 4 d[0].s[0].n=1; 6 d[0].s[1].n=2; "
	  "8 d[0].s[1].x.y=3; 10 d[1].b=8; 12 d[1].s[0].n=5" },
	{ T, "t = { batch_size = 4, x.y = [1, 2] }\n",
	  "1 t.batch_size=4; 1 t.x.y[0]=1; 1 t.x.y[1]=2" },
	{ T, "a = [\n 1, # ]\n 2,\n]\nb = 3", "2 a[0]=1; 3 a[1]=2; 5 b=3" },
	{ T, "s = \"\"\"\na = 8\n\"\"\"\"\nr = '''b = 9'''\nc = 1\n",
	  "1 s~\na = 8\n\"; 4 r~b = 9; 5 c=1" },
	{ T, "a = \"\"\"x\"\"\"\"\"\nb = ''''''\nc = 8",
	  "1 a~x\"\"; 2 b~; 3 c=8" },
	{ T, "a = 1_000\nb = 0x1F\nc = +1.5e-3\nd = inf\ne = false\n",
	  "1 a=1_000; 2 b=0x1F; 3 c=+1.5e-3; 4 d=inf; 5 e=false" },
	{ T, "a = 1979-05-27 07:32:00Z # x\nb = 07:32:00\n",
	  "1 a~1979-05-27 07:32:00Z; 2 b~07:32:00" },
	{ T, "\"a b\".'c#' = \"x # y\"\nd = 'C:\\n'\ne = \"\\u0038\"\n",
	  "1 a b.c#=x # y; 2 d~C:\\n; 3 e~\\u0038" },
	{ T,
	  "\xef\xbb\xbf"
	  "a=8\r\n\r\n# b = 9\r\nc=10",
	  "1 a=8; 4 c=10" },
	/* Python */
	{ P, "batch_size = 8 # x = 1\nlr: float = 1e-3\nx: int\n",
	  "1 batch_size=8; 2 lr=1e-3" },
	{ P,
	  "a = dict(\n    b=2, c=dict(type='X', d=[dict(e=3), {'f': -4}]),\n"
	  "    g=(5, 6,))\n",
	  "2 a.b=2; 2 a.c.type=X; 2 a.c.d[0].e=3; 2 a.c.d[1].f=-4; "
	  "3 a.g[0]=5; 3 a.g[1]=6" },
	{ P, "bs = 2\na = dict(batch_size=bs, n=4)\n",
	  "1 bs=2; 2 a.batch_size~bs; 2 a.n=4" },
	{ P,
	  "a = 5 * 8\nb = (8)\nc = f(8)\nd = 8 if x else 4\ne = -x\nf = - 8\n",
	  "1 a=40; 2 b~(8); 3 c~f(8); 4 d~8 if x else 4; 5 e~-x; 6 f~- 8" },
	{ P, "a = '8'\nb = r'8'\nc = '8' '9'\nd = '''8'''\ne = '\\x38'\n",
	  "1 a=8; 2 b~8; 3 c~'8' '9'; 4 d~8; 5 e~\\x38" },
	{ P, "'''\na = 8\n'''\nb = \"\"\"a = 9 # \"\"\"\nc = f\"{a = 3}\"\n",
	  "4 b~a = 9 # ; 5 c~{a = 3}" },
	{ P, "a = \\\n  8\nb = 1; c = 2\nd = [\n\n3]\n",
	  "2 a=8; 3 b=1; 3 c=2; 6 d[0]=3" },
	{ P, "a = 8\nif x:\n    a = 4\nelse: b = 5\n", "1 a=8; 3 a~4; 4 b~5" },
	{ P, "def f(a=8):\n    b = 9\n    return dict(c=1)\n\nd = 1\n",
	  "2 b~9; 5 d=1" },
	{ P, "for i in range(3): a = i\n", "1 a~i" },
	{ P,
	  "class C(D):\n  'b'\n\n  b = 8\n# c\n  c: int = 9 # d\n"
	  "  if x:\n    b = 7\n  def f(self):\n    self.d = 1\n  e = {'f': 2}\n"
	  "g = 3\n",
	  "4 C.b=8; 6 C.c=9; 8 b~7; 10 self.d~1; 11 C.e.f=2; 12 g=3" },
	{ P, "class C:\n  class D:\n    b = 8\n  c = 1\nclass E: f = 2\n",
	  "3 b~8; 4 C.c=1; 5 f~2" },
	{ P, "if x:\n  class C:\n    b = 8\nclass D: pass\n  c = 1\n",
	  "3 b~8; 5 D.c=1" },
	{ P, "class C:\n  b = 8\nsetattr(C, 'b', 9)\n", "2 C.b~8" },
	{ P, "a = b = 8\nc, d = 1, 2\ne = 3, 4\n",
	  "1 a~8; 1 b~8; 2 c~1, 2; 2 d~1, 2; 3 e~3, 4" },
	{ P, "a = 8\na *= 2\n", "1 a=8; 2 a~a *= 2" },
	{ P, "a = dict(b=1)\na.update(b=2)\n", "1 a.b~1" },
	{ P, "a = dict(b=1)\na = c\n", "1 a.b~1; 2 a~c" },
	{ P, "a = dict(b=1)\na = dict(b=2)\n", "1 a.b~1; 2 a.b=2" },
	{ P, "a = dict(b=1)\na.c = 3\na['d'][0].e = 4\na[x] = 5\n",
	  "1 a.b~1; 2 a.c~3; 3 a.d[0].e~4" },
	{ P, "cfg.train.bs = 8\ncfg.train.lr = 1\n",
	  "1 cfg.train.bs=8; 2 cfg.train.lr=1" },
	{ P, "a = {'b': 1, **c, 'd': 2, e: 3}\n", "1 a.b~1; 1 a.d~2" },
	{ P, "a = dict(b, **c, d=2)\n", "1 a.d=2" },
	{ P, "a = [dict(b=1) for _ in x]\nb = dict(c=1) | d\n",
	  "1 a[0]~dict(b=1) for _ in x; 2 b~dict(c=1) | d" },
	{ P, "a = dict(k=lambda x, bs=8, y=9: x, z=1)\n",
	  "1 a.k~lambda x, bs=8, y=9: x, z=1" },
	{ P, "a = 8\nfrom x import *\nb = 9\n", "1 a~8; 3 b=9" },
	{ P, "a = 8\nfrom y import a as c, d\ndel a\n",
	  "1 a=8; 2 a~from y import a as c, d; 2 c~from y import a as c, d; "
	  "2 d~from y import a as c, d; 3 a~del a" },
	{ P, "a = 8\nexec(open('x').read())\nb = 9\n", "1 a~8; 3 b=9" },
	{ P, "a = None\nb = True\nc = 0x10\nd = 1_000\ne = ()\n",
	  "1 a=; 2 b=True; 3 c=0x10; 4 d=1_000" },
	{ P, "a = 8 == 9\nb == 8\nassert c == 8, 'x'\nprint(d)\n",
	  "1 a~8 == 9" },
	{ P,
	  "\xef\xbb\xbf"
	  "a = 8\r\nb = dict(\r\n c=9)\r\n",
	  "1 a=8; 3 b.c=9" },
	{ P, "a = b =\nx = ;\n", "1 a~; 1 b~" },
	/* Arguments */
	{ A, "--a 8 --b=9\n-c 7\t--d.e -1",
	  "1 --a=8; 1 --b=9; 2 -c=7; 2 --d.e=-1" },
	{ A, "x --fp16 --a 8 --m p q --s \"8\" --e= -- --z 1",
	  "1 --fp16~true; 1 --a=8; 1 --m~p; 1 --s~\"8\"; 1 --e~" },
	{ A, "--a -.5 --b - --c\xc2\xa0 8 --d 8\xc2\xa0",
	  "1 --a=-.5; 1 --b=-; 1 --c\xc2\xa0=8; 1 --d~8\xc2\xa0" },
	{ A, "--a 8 --a $BS", "1 --a=8; 1 --a~$BS" },
};

/* A copy of just these bytes: one read too many is seen by the sanitizer. */
static char *exact(const char *text, size_t length)
{
	char *copy = xmalloc(length);

	if (length)
		memcpy(copy, text, length);
	return copy;
}

static char *describe(const struct settings *settings)
{
	struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < settings->count; i++) {
		const struct setting *setting = &settings->items[i];

		strbuf_addf(&out, "%s%u %s%c%s", i ? "; " : "", setting->line,
			    setting->key, setting->is_scalar ? '=' : '~',
			    setting->value);
	}
	return strbuf_detach(&out);
}

static void values_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(read_rows); i++) {
		size_t length = strlen(read_rows[i].text);
		char *text = exact(read_rows[i].text, length);
		struct settings settings;
		char *items;
		int result = settings_read(&settings, read_rows[i].format, "f",
					   text, length, NULL);

		if (!read_rows[i].items) {
			assert_int_equal(result, -EINVAL);
		} else {
			items = describe(&settings);
			assert_string_equal(items, read_rows[i].items);
			assert_int_equal(result, 0);
			free(items);
		}
		settings_release(&settings);
		free(text);
	}
}

static const struct {
	enum settings_format format;
	const char *text, *message;
} wrong_rows[] = {
	{ Y, "a: 8\n\tb: 9\n",
	  "f:2: found a tab character that violates indentation" },
	{ Y, "a: [1,\nb: {\n", "f:3: did not find expected node content" },
	{ Y, "é: 1\nb: \"\n", "f:3: found unexpected end of stream" },
	{ Y, "é: 1\nb: \x01\n", "f:2: control characters" },
	{ Y, "é: 1\nb: \xff\n", "f:2: invalid leading UTF-8" },
	{ Y, "a: \"\\0\"\n\"x\\0y\": 1\n", "f:2: there is a NUL byte" },
	{ J, "{\"a\": 1, // b\n \"c\": }", "f:2: not JSON" },
	{ J, "{\"a\": 1, /* b\n\"c\": 2}", "f:2: not JSON" },
	{ J, "{\"a\": 1, /*/ \"c\": 2}", "f:1: not JSON" },
	{ J, "{\"a\": 1,}", "f:1: not JSON" },
	{ J, "{\"a\": 1}\n{\"b\": 2}", "f:2: not JSON: end of file" },
	{ J, "{'a': 1}", "f:1: not JSON" },
	{ J, "", "f:1: not JSON" },
	{ J, "8", "f:1: not JSON" },
	{ J, "{\"a\": NaN}", "f:1: not JSON: invalid token" },
	{ J, "{\"a\": \x1b[31m}", "f:1: not JSON: invalid token" },
	{ J, "{\"a\": \"\\ud83d\"}", "f:1: not JSON" },
	{ T, "a = 8\nb\n", "f:2: a = is expected here" },
	{ T, "a = 8 b = 9\n", "f:1: a value is expected here" },
	{ T, "a = '8' b = 9\n", "f:1: the end of the line" },
	{ T, "a = eight\n", "f:1: a value is expected here" },
	{ T, "a = 01\n", "f:1: a value is expected here" },
	{ T, "a = 1__0\n", "f:1: a value is expected here" },
	{ T, "a = \"x\nb = 8\"\n", "f:1: a string does not end on its line" },
	{ T, "\na = '''x\n", "f:2: a string has no end" },
	{ T, "[a\nb = 1\n", "f:1: a table's name does not end here" },
	{ T, "a = [1 2]\n", "f:1: a value is expected here" },
	{ T, "a = {b = 1\n", "f:2: a , is expected here" },
	{ T, "é = 1\n", "f:1: a key is expected here" },
	{ P, "a = 'x\nb = 8\n", "f:1: a string does not end on" },
	{ P, "a = 8\nb = dict(c=1\n", "f:2: a bracket is not closed" },
	{ P, "a = 8)\n", "f:1: this bracket was not opened" },
	{ P, "a = [8)\n", "f:1: this is not the bracket that is open" },
	{ P, "a = f\"{b[\"c\"]}\"\n", "f:1: quotes in the braces" },
	{ P, "a = \"\"\"\n", "f:1: a string has no end" },
};

static void wrong_texts_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wrong_rows); i++) {
		struct error err = ERROR_INIT;
		struct settings settings;

		assert_int_equal(settings_read(&settings, wrong_rows[i].format,
					       "f", wrong_rows[i].text,
					       strlen(wrong_rows[i].text),
					       &err),
				 -EINVAL);
		/* Nothing of the text itself is in a message. */
		assert_null(strstr(err.message, " near "));
		if (strncmp(err.message, wrong_rows[i].message,
			    strlen(wrong_rows[i].message)) != 0)
			assert_string_equal(err.message, wrong_rows[i].message);
		settings_release(&settings);
	}
}

static void nul_bytes_are_refused(void **state)
{
	(void)state;
	for (enum settings_format format = Y; format <= A; format++) {
		struct error err = ERROR_INIT;
		struct settings settings;

		assert_int_equal(
			settings_read(&settings, format, "f", "\n\0a", 3, &err),
			-EINVAL);
		assert_string_equal(err.message,
				    "f:2: there is a NUL byte in it");
		settings_release(&settings);
	}
}

#define FOUND_MAX 8

/* Without the changed text it is refused; without a name, already when read. */
struct change_row {
	enum settings_format format;
	const char *text, *name, *value, *changed;
};

static const struct change_row change_rows[] = {
	{ Y, "é: 1\nbs: 8 # ü\nz: 1\n", "bs", "16",
	  "é: 1\nbs: 16 # ü\nz: 1\n" },
	{ Y,
	  "\xef\xbb\xbf"
	  "bs:   \"8\"\r\nz: 1",
	  "bs", "16",
	  "\xef\xbb\xbf"
	  "bs:   \"16\"\r\nz: 1" },
	{ Y, "bs: '8'", "bs", "16", "bs: '16'" },
	{ Y, "a: {bs: 8,b: &x !!int 4}", "bs", "128",
	  "a: {bs: 128,b: &x !!int 4}" },
	{ Y, "a: &x !!int   8\n", "a", "4", "a: &x !!int   4\n" },
	{ Y, "steps: null\n", "steps", "-1", "steps: -1\n" },
	{ Y, "bs: 8\na:\n- bs: 8\n- {bs: 2}\n", "bs", "16",
	  "bs: 16\na:\n- bs: 16\n- {bs: 16}\n" },
	{ Y, "bs: &x 8\nc: *x\n", "bs", "16", NULL },
	{ Y, "bs:\n", "bs", "16", NULL },
	{ Y, "bs: ${x}\n", "bs", "16", NULL },
	{ Y, "bs: 8\n", "bs", "0x10", NULL },
	{ Y, "bs: 8\n", "bs", "16 # x", NULL },
	{ Y, "bs: 8\n", "bs", "", NULL },
	{ Y, "bs: 8\n", "bs", "010", NULL },
	{ Y, "bs: 8\n", "bs", "-0", NULL },
	{ Y, "bs: 8\n", "bs", "1234567890123456789", NULL },
	{ J, "{\"bs\": 8 // of all\n /* \"bs\": 1 */}", "bs", "16",
	  "{\"bs\": 16 // of all\n /* \"bs\": 1 */}" },
	{ J, "{\"bs\":8, \"x\" : [ 1.0,\t\"a\" ]}\n", "bs", "16",
	  "{\"bs\":16, \"x\" : [ 1.0,\t\"a\" ]}\n" },
	{ J, "{\"a\":\n{\"bs\":null},\"bs\":\"128\",\n\"c\":[{},1,{\"bs\":2}]}",
	  "bs", "16",
	  "{\"a\":\n{\"bs\":16},\"bs\":\"16\",\n\"c\":[{},1,{\"bs\":16}]}" },
	{ J, "{\"a\":{\"bs\":\"auto\"},\"b\":1e400000}", NULL, NULL, NULL },
	{ J, "{\"a\":{\"bs\":\"auto\"}}", "a.bs", "16",
	  "{\"a\":{\"bs\":\"16\"}}" },
	{ J, "{\"bs\": 99999999999999999999, \"c\": 1}", "c", "16",
	  "{\"bs\": 99999999999999999999, \"c\": 16}" },
	/* Of two the last counts, so the first is no way to change it. */
	{ J, "{\"bs\":8,\"bs\":4}", "bs", "16", "{\"bs\":16,\"bs\":16}" },
	{ J, "{\"a\":{\"bs\":1},\"a\":{\"c\":2}}", "bs", "16", NULL },
	{ T, "# bs = 8\n[[d]]\nbs = 8 # y\n[[d]]\nbs=\"4\"\n", "d.bs", "16",
	  "# bs = 8\n[[d]]\nbs = 16 # y\n[[d]]\nbs=\"16\"\n" },
	{ T, "[[d]]\nbs = 8\n[[d]]\nbs=4\n", "d[1].bs", "16",
	  "[[d]]\nbs = 8\n[[d]]\nbs=16\n" },
	{ T, "bs = 1_000\n", "bs", "16", "bs = 16\n" },
	{ T, "bs = 1979-05-27\n", "bs", "16", NULL },
	{ P, "s = 'bs=8'\na = dict(bs=8, c=dict(bs = -8))\n", "bs", "16",
	  "s = 'bs=8'\na = dict(bs=16, c=dict(bs = 16))\n" },
	{ P, "bs = '8'\r\nx = 1", "bs", "16", "bs = '16'\r\nx = 1" },
	{ P, "bs = 8\nif x: bs = 9\n", "bs", "16", NULL },
	{ P, "bs = 4 * 2  # a\n", "bs", "16", "bs = 16  # a\n" },
	{ P, "bs = 4 * n\n", "bs", "16", NULL },
	{ A, "--bs 8\n--c=4  --d", "bs", "16", "--bs 16\n--c=4  --d" },
	{ A, "--bs 8\n--c=4  --d", "--c", "1", "--bs 8\n--c=1  --d" },
	{ A, "--bs \"8\"", "bs", "16", NULL },
};

/* Edits of the settings that the row's name means, all to its value. */
static int change(struct strbuf *out, const struct settings *settings,
		  const struct change_row *row, struct settings *after,
		  struct error *err)
{
	const struct setting *found[FOUND_MAX];
	struct settings_edit edits[FOUND_MAX];
	size_t count = settings_find_all(settings, row->name, found, FOUND_MAX);

	assert_in_range(count, 1, FOUND_MAX);
	/* Their order is of no account. */
	for (size_t i = 0; i < count; i++)
		edits[count - 1 - i] =
			(struct settings_edit){ found[i], row->value };
	return settings_change(out, settings, row->text, strlen(row->text),
			       edits, count, after, err);
}

/* What a change says its text holds is what a reader finds there. */
static void assert_holds(const struct settings *after, const char *text)
{
	struct settings read;

	assert_int_equal(settings_read(&read, after->format, "f", text,
				       strlen(text), NULL),
			 0);
	assert_int_equal(after->count, read.count);
	assert_non_null(after->items);
	for (size_t i = 0; after->items && i < read.count; i++) {
		const struct setting *one = &after->items[i];
		const struct setting *other = &read.items[i];

		assert_string_equal(one->key, other->key);
		assert_string_equal(one->value, other->value);
		assert_int_equal(one->start, other->start);
		assert_int_equal(one->end, other->end);
		assert_int_equal(one->line, other->line);
		assert_int_equal(one->is_scalar, other->is_scalar);
	}
	settings_release(&read);
}

static void values_are_changed(void **state)
{
	static const char before[] = "before:";

	(void)state;
	for (size_t i = 0; i < COUNT(change_rows); i++) {
		const struct change_row *row = &change_rows[i];
		struct strbuf out = STRBUF_INIT;
		struct error err = ERROR_INIT;
		struct settings settings, after = { .count = 0 };
		int result;

		result = settings_read(&settings, row->format, "f", row->text,
				       strlen(row->text), &err);
		strbuf_adds(&out, before);
		if (row->name) {
			assert_int_equal(result, 0);
			result = change(&out, &settings, row, &after, &err);
		}
		if (row->changed)
			assert_holds(&after, row->changed);
		assert_string_equal(strbuf_text(&out) + strlen(before),
				    row->changed ? row->changed : "");
		assert_int_equal(result, row->changed ? 0 : -EINVAL);
		assert_int_equal(err.message[0] == '\0', result == 0);
		settings_release(&after);
		strbuf_release(&out);
		settings_release(&settings);
	}
}

/* A text that is not the one that was read gives no copy. */
static void other_texts_are_refused(void **state)
{
	static const struct {
		enum settings_format format;
		const char *text, *other;
	} rows[] = {
		{ Y, "bs: 8\nc: 1\n", "bs: 8\nc: 2\n" },
		{ Y, "bs: 8\nc: 1\n", "bs: 8" },
		{ Y, "bs: 8\nc: 1\n", "b" },
		{ Y, "bs: 8\nc: 1\n", "bs: '8'\nc: 1\n" },
		{ Y, "bs: 8\nc: 1\n", "as: 8\nc: 1\n" },
		{ Y, "bs: 8\nc: 1\n", "bs: 8\n\nc: 1\n" },
		{ J, "{\"bs\": 8, \"c\": 1}", "{\"bs\": 8, \"c\": 2}" },
		{ J, "{\"bs\": 8, \"c\": 1}", "{\"bs\": 8, \"d\": 1}" },
		{ J, "{\"bs\": 8, \"c\": 1}", "{\"bs\": 8}" },
		{ J, "{\"bs\": 8}", "{\"bs\": 8, \"c\": 1}" },
		{ J, "{\"bs\": 8, \"c\": 1}", "{\"bs\": 8, \"c\":  1}" },
		{ J, "{\"bs\": 8, \"c\": []}", "{\"bs\": 8 \"c\": []}" },
		{ T, "bs = 8\n", "bs = '8\n" },
		{ P, "bs = 8\nc = 2\n", "bs = 8\nc = x\n" },
		{ A, "--bs 8", "--as 8" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct change_row row = {
			.text = rows[i].other,
			.name = "bs",
			.value = "16",
		};
		struct strbuf out = STRBUF_INIT;
		struct settings settings;

		assert_int_equal(settings_read(&settings, rows[i].format, "f",
					       rows[i].text,
					       strlen(rows[i].text), NULL),
				 0);
		assert_int_equal(change(&out, &settings, &row, NULL, NULL),
				 -EINVAL);
		assert_int_equal(out.length, 0);
		strbuf_release(&out);
		settings_release(&settings);
	}
}

/* One place cannot have two values; of two with one key each has its own. */
static void two_edits_of_one_place(void **state)
{
	static const char text[] = "{\"a\": 1, \"b\": 2, \"a\": 3}";
	struct strbuf out = STRBUF_INIT;
	struct settings settings, after;
	const struct setting *found[2];
	struct settings_edit edits[2];

	(void)state;
	assert_int_equal(
		settings_read(&settings, J, "f", text, strlen(text), NULL), 0);
	edits[0] = (struct settings_edit){ &settings.items[1], "8" };
	edits[1] = (struct settings_edit){ &settings.items[1], "9" };
	assert_int_equal(settings_change(&out, &settings, text, strlen(text),
					 edits, 2, NULL, NULL),
			 -EINVAL);
	/* jansson does not see the first of two. */
	edits[0].setting = &settings.items[0];
	assert_int_equal(settings_change(&out, &settings, text, strlen(text),
					 edits, 1, NULL, NULL),
			 -EINVAL);
	edits[0].setting = &settings.items[2];
	assert_int_equal(settings_change(&out, &settings, text, strlen(text),
					 edits, 2, &after, NULL),
			 0);
	/* What the new text holds need not be read once more. */
	assert_int_equal(after.count, settings.count);
	assert_int_equal(settings_find_all(&after, "a", found, 2), 2);
	assert_string_equal(found[0]->value, "1");
	assert_string_equal(found[1]->value, "8");
	assert_int_equal(settings_find_all(&after, "b", found, 1), 1);
	assert_string_equal(found[0]->value, "9");
	settings_release(&after);
	assert_string_equal(strbuf_text(&out),
			    "{\"a\": 1, \"b\": 9, \"a\": 8}");
	strbuf_reset(&out);
	assert_int_equal(settings_change(&out, &settings, text, strlen(text),
					 edits, 0, NULL, NULL),
			 0);
	assert_string_equal(strbuf_text(&out), text);
	strbuf_release(&out);
	settings_release(&settings);
}

static void names_are_found(void **state)
{
	static const char text[] =
		"batch_size: 1\ntrain:\n  batch-size: 2\n  per: {bs: 3}\n"
		"datasets:\n- batch_size: 4\n- {batch_size: 5, x: [6, 7]}\n"
		"train.flat: 8\n";
	static const struct {
		const char *name, *values;
	} rows[] = {
		{ "batch_size", "1245" },
		{ "batch-size", "1245" },
		{ "--batch-size", "1245" },
		{ "train.batch_size", "2" },
		{ "datasets.batch_size", "45" },
		{ "datasets[1].batch_size", "5" },
		{ "bs", "3" },
		{ "per.bs", "" },
		{ "train.per.bs", "3" },
		{ "x", "67" },
		{ "x[1]", "7" },
		{ "datasets.x", "67" },
		{ "datasets[1].x", "" },
		{ "datasets[1].x[0]", "6" },
		{ "flat", "8" },
		{ "train.flat", "8" },
		{ "size", "" },
		{ "Batch_Size", "" },
		{ "datasets", "" },
		{ "", "" },
		{ "--", "" },
	};
	struct settings settings;

	(void)state;
	assert_int_equal(
		settings_read(&settings, Y, "f", text, strlen(text), NULL), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct setting *found[FOUND_MAX], *first[1];
		struct strbuf values = STRBUF_INIT;
		size_t count = settings_find_all(&settings, rows[i].name, found,
						 FOUND_MAX);

		for (size_t j = 0; j < count; j++)
			strbuf_adds(&values, found[j]->value);
		assert_string_equal(strbuf_text(&values), rows[i].values);
		assert_int_equal(
			settings_find_all(&settings, rows[i].name, first, 1),
			count);
		assert_int_equal(
			settings_find_all(&settings, rows[i].name, NULL, 0),
			count);
		strbuf_release(&values);
	}
	settings_release(&settings);
}

static void formats_are_told_apart(void **state)
{
	static const struct {
		const char *path;
		int format; /* -1: none */
	} rows[] = {
		{ "a.yaml", Y },     { "x/a.yml", Y },  { "a.YAML", Y },
		{ "ds.json", J },    { "a.b.toml", T }, { "c.py", P },
		{ "run.args", A },   { "a.jsonl", -1 }, { "yaml", -1 },
		{ "x.yaml/y", -1 },  { "", -1 },        { ".yaml", -1 },
		{ "dir/.yaml", -1 }, { "a.ini", -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		enum settings_format format = Y;

		assert_int_equal(settings_format_of(rows[i].path, &format),
				 rows[i].format >= 0);
		if (rows[i].format >= 0)
			assert_int_equal(format, rows[i].format);
	}
}

static void references_are_seen(void **state)
{
	static const struct {
		enum settings_format format;
		const char *text;
		bool has;
	} rows[] = {
		{ Y, "a: 8\nfile: data/x.json\n", true },
		{ Y, "base: base.yaml\n", true },
		{ Y, "file: /data/x.json\nurl: http://a/b.yaml\n", false },
		{ Y, "file: data/x.txt\n", false },
		{ Y, "_BASE_: x.yml\n", true },
		{ P, "_base_ = ['x.py']\n", true },
		{ Y, "a: !include x\n", true },
		{ Y, "a: !INCLUDE x\n", true },
		{ Y, "defaults:\n- model: x\n", true },
		{ Y, "a:\n  defaults: [x]\nmy_defaults: 1\n", false },
		{ Y, "a: ./x\n", true },
		{ J, "{\"a\": \"../x\"}", true },
		{ Y, "a: ${b}\n", true },
		{ P, "from .base import x\n", true },
		{ P, "from base import x\n", false },
		{ P, "with read_base():\n    pass\n", true },
		{ P, "a = '{{ fileDirname }}/x'\n", true },
		{ P, "a = __file__\n", true },
		{ T, "a = 8\n", false },
		{ A, "--a _bas", false },
		{ A, "", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t length = strlen(rows[i].text);
		char *text = exact(rows[i].text, length);
		struct settings settings;

		assert_int_equal(settings_read(&settings, rows[i].format, "f",
					       text, length, NULL),
				 0);
		assert_int_equal(
			settings_has_references(&settings, text, length),
			rows[i].has);
		settings_release(&settings);
		free(text);
	}
}

/* Whatever is read: items in order, and a change changes its bytes only. */
static void check_invariants(enum settings_format format, const char *text,
			     size_t length)
{
	struct settings settings;
	size_t last = 0;
	int result = settings_read(&settings, format, "f", text, length, NULL);

	for (size_t i = 0; result == 0 && i < settings.count; i++) {
		const struct setting *setting = &settings.items[i];
		struct settings_edit edit = { setting, "123456" };
		struct strbuf out = STRBUF_INIT;

		assert_true(setting->start >= last && setting->line > 0);
		assert_true(setting->start <= setting->end &&
			    setting->end <= length);
		last = setting->start;
		if (settings_change(&out, &settings, text, length, &edit, 1,
				    NULL, NULL) == 0) {
			size_t rest = length - setting->end;

			assert_true(setting->is_scalar);
			assert_memory_equal(out.data, text, setting->start);
			assert_memory_equal(out.data + out.length - rest,
					    text + setting->end, rest);
		} else {
			/* What jansson does not see is refused only there. */
			assert_true(!setting->is_scalar || format == J);
		}
		strbuf_release(&out);
	}
	settings_release(&settings);
}

/* Every text above cut off anywhere, and with each byte left out or another. */
static void broken_texts_do_no_harm(void **state)
{
	static const char bytes[] = "\"'[]{}():,=#\\\n\r -&*<.8e\xc3";

	(void)state;
	for (size_t i = 0; i < COUNT(read_rows); i++) {
		enum settings_format format = read_rows[i].format;
		const char *text = read_rows[i].text;
		size_t length = strlen(text);

		for (size_t j = 0; j < length; j++) {
			char *cut = exact(text, j);
			char *less = exact(text, length - 1);
			char *other = exact(text, length);

			memcpy(less + j, text + j + 1, length - j - 1);
			other[j] = bytes[(i + j) % (sizeof(bytes) - 1)];
			check_invariants(format, cut, j);
			check_invariants(format, less, length - 1);
			check_invariants(format, other, length);
			free(cut);
			free(less);
			free(other);
		}
	}
}

/* A megabyte that is hard for someone; none may take long. */
static void hostile_texts_take_no_time(void **state)
{
	static const char *const pieces[] = {
		"[",
		"{",
		"(",
		"\"",
		"[]",
		"- ",
		"? ",
		"a: ",
		"a.",
		"a=",
		"a;",
		"a,",
		"\\",
		"\n",
		"\t",
		"'''",
		"%TAG !a! x\n",
		"- &a [*a]\n",
		"*a: &a\n",
		"[[a]]\n[[a.b]]\n",
		"x.y()\n",
		"=lambda a,",
		"f'{'",
		"-(",
		"--a b ",
		"\xc3\xa9",
		"dict(a=",
		"a={b={",
		"import a,",
		"{\"a\":",
		"\"\\ud83d\\ude00\",",
	};
	char *text = xmalloc(SETTINGS_BYTES_MAX);

	(void)state;
	for (size_t i = 0; i < COUNT(pieces); i++) {
		size_t width = strlen(pieces[i]);

		for (size_t at = 0; at < SETTINGS_BYTES_MAX; at++)
			text[at] = pieces[i][at % width];
		for (enum settings_format format = Y; format <= A; format++) {
			clock_t start = clock();
			struct settings settings;

			(void)settings_read(&settings, format, "f", text,
					    SETTINGS_BYTES_MAX, NULL);
			(void)settings_has_references(&settings, text,
						      SETTINGS_BYTES_MAX);
			settings_release(&settings);
			assert_true((clock() - start) / CLOCKS_PER_SEC < 10);
		}
	}
	free(text);
}

/* Appends count lines of it, the @ in each is its number. */
static void fill(struct strbuf *out, const char *format, size_t count)
{
	const char *hole = strchr(format, '@');

	for (size_t i = 0; i < count; i++) {
		strbuf_add(out, format, (size_t)(hole - format));
		strbuf_addf(out, "%zu", i);
		strbuf_adds(out, hole + 1);
	}
}

#define TOO_MANY(line) "f:" line ": it has too many values for a config"

static void limits_are_kept(void **state)
{
	static const struct {
		enum settings_format format;
		const char *line; /* the @ is its number */
		size_t count;
		const char *message; /* NULL: it is read */
	} rows[] = {
		{ Y, "k@: 1\n", SETTINGS_VALUES_MAX, NULL },
		{ Y, "k@: 1\n", SETTINGS_VALUES_MAX + 1, TOO_MANY("6145") },
		{ Y, "k@: [1]\n", SETTINGS_VALUES_MAX / 2, NULL },
		{ Y, "k@: [1]\n", SETTINGS_VALUES_MAX / 2 + 1,
		  TOO_MANY("3073") },
		{ T, "k@ = 1\n", SETTINGS_VALUES_MAX, NULL },
		{ T, "k@ = 1\n", SETTINGS_VALUES_MAX + 1, TOO_MANY("6145") },
		{ P, "k@ = 1\n", SETTINGS_VALUES_MAX, NULL },
		{ P, "k@ = 1\n", SETTINGS_VALUES_MAX + 1, TOO_MANY("6145") },
		{ A, "--k@ 1\n", SETTINGS_VALUES_MAX, NULL },
		{ A, "--k@ 1\n", SETTINGS_VALUES_MAX + 1, TOO_MANY("6145") },
		{ J, "\"k@\": 1,\n", SETTINGS_JSON_VALUES_MAX - 1, NULL },
		{ J, "\"k@\": 1,\n", SETTINGS_JSON_VALUES_MAX,
		  TOO_MANY("3073") },
		{ J, "\"k@\": {},\n", SETTINGS_JSON_VALUES_MAX,
		  TOO_MANY("3073") },
		{ Y, "%TAG !a! @\n", 101, "f:101: it has too many directives" },
		{ T, "[[k@]]\n", 1001,
		  "f:1001: it has too many arrays of tables" },
		{ A, "--a b@ #######################################\n", 40000,
		  "f:1: it is too large for a config" },
		{ P, "k@ = ", 60000, "f:1: its keys are too long" },
	};
	struct strbuf text = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool is_chain = !strchr(rows[i].line, '\n');
		struct error err = ERROR_INIT;
		struct settings settings;
		const struct setting *found;
		char last[32];
		int result;

		strbuf_reset(&text);
		strbuf_adds(&text, rows[i].format == J ? "{" : "");
		fill(&text, rows[i].line, rows[i].count);
		strbuf_adds(&text, rows[i].format == J ? "\"end\": 1}" : "");
		for (size_t j = 0; is_chain && j < 400000; j++)
			strbuf_addch(&text, 'x');
		result = settings_read(&settings, rows[i].format, "f",
				       text.data, text.length, &err);
		(void)snprintf(last, sizeof(last), "k%zu", rows[i].count - 1);
		assert_int_equal(result, rows[i].message ? -EINVAL : 0);
		if (rows[i].message)
			assert_non_null(strstr(err.message, rows[i].message));
		else
			assert_int_equal(
				settings_find_all(&settings, last, &found, 1),
				1);
		settings_release(&settings);
	}
	strbuf_release(&text);
}

static void depth_is_limited(void **state)
{
	static const struct {
		enum settings_format format;
		const char *before, *open, *inside, *close;
	} rows[] = {
		{ Y, "", "[", "1", "]" },
		{ Y, "", "- ", "1", "" },
		{ Y, "", "{a: ", "1", "}" },
		{ Y, "? ", "[", "1", "]" },
		{ J, "", "[", "1", "]" },
		{ J, "", "{\"a\":", "1", "}" },
		{ T, "a = ", "[", "1", "]" },
		{ T, "a = ", "{a = ", "1", "}" },
		{ P, "a = ", "[", "1", "]" },
		{ P, "a = ", "(", "1", ")" },
		{ P, "a = ", "dict(a=", "1", ")" },
		{ P, "", "f(", "1", ")" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (size_t depth = SETTINGS_DEPTH_MAX - 1;
		     depth <= SETTINGS_DEPTH_MAX + 1; depth++) {
			struct strbuf text = STRBUF_INIT;
			struct error err = ERROR_INIT;
			struct settings settings;
			/* The mapping that "? " is in. */
			size_t own = rows[i].before[0] == '?';
			int result;

			strbuf_adds(&text, rows[i].before);
			for (size_t j = 0; j < depth; j++)
				strbuf_adds(&text, rows[i].open);
			strbuf_adds(&text, rows[i].inside);
			for (size_t j = 0; j < depth; j++)
				strbuf_adds(&text, rows[i].close);
			result = settings_read(&settings, rows[i].format, "f",
					       text.data, text.length, &err);
			assert_int_equal(result,
					 depth + own <= SETTINGS_DEPTH_MAX
						 ? 0
						 : -EINVAL);
			if (result < 0)
				assert_string_equal(err.message,
						    "f:1: it is nested too "
						    "deep");
			settings_release(&settings);
			strbuf_release(&text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(wrong_texts_are_named),
		cmocka_unit_test(nul_bytes_are_refused),
		cmocka_unit_test(values_are_changed),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(two_edits_of_one_place),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(formats_are_told_apart),
		cmocka_unit_test(references_are_seen),
		cmocka_unit_test(broken_texts_do_no_harm),
		cmocka_unit_test(hostile_texts_take_no_time),
		cmocka_unit_test(limits_are_kept),
		cmocka_unit_test(depth_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
