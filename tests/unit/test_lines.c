/* Bytes to lines, however the bytes are cut into pieces. */
/* SPDX-License-Identifier: MIT */
/* USES probes base */
#include "base/alloc.h"
#include "base/strbuf.h"
#include "probes/output/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ESC "\x1b"

static void note_line(void *context, const char *line, size_t length)
{
	struct strbuf *seen = context;

	strbuf_add(seen, line, length);
	strbuf_addch(seen, '|');
}

/* The lines of text, fed in pieces of at most step bytes. */
static void collect(struct strbuf *seen, const char *text, size_t length,
		    size_t step)
{
	struct lines lines = LINES_INIT;

	for (size_t at = 0; at < length; at += step) {
		size_t count = length - at < step ? length - at : step;
		/* A copy of its own: reading past it is seen. */
		char *piece = xmalloc(count);

		memcpy(piece, text + at, count);
		lines_feed(&lines, piece, count, note_line, seen);
		free(piece);
	}
	lines_finish(&lines, note_line, seen);
	lines_release(&lines);
}

static const struct {
	const char *name;
	const char *text;
	const char *seen;
} rows[] = {
	{ "nothing", "", "" },
	{ "one line", "one\n", "one|" },
	{ "no end", "one", "one|" },
	{ "both ends", "one\r\ntwo\r\n", "one|two|" },
	{ "bars", "1/3\r2/3\r3/3\n", "1/3|2/3|3/3|" },
	{ "only returns", "a\rb\rc\r", "a|b|c|" },
	{ "empty lines", "\n\n\r\r\na\n\n", "a|" },
	{ "colours", ESC "[31mred" ESC "[0m text\n", "red text|" },
	{ "parameters", ESC "[38;5;196mx" ESC "[?25ly" ESC "[2 qz\n", "xyz|" },
	{ "only colours", ESC "[0m\n" ESC "[K\n", "" },
	{ "title by BEL", ESC "]0;a title\x07y\n", "y|" },
	{ "title by ST", ESC "]8;;http://x\x1b\\link" ESC "]8;;\x1b\\\n",
	  "link|" },
	{ "title never closed", ESC "]0;a title\nnext\n", "next|" },
	{ "title broken by a colour", ESC "]0;a" ESC "[1my\n", "y|" },
	{ "device control string", ESC "Pq#0" ESC "\\y\n", "y|" },
	{ "character set", ESC "(Bx" ESC "[my\n", "xy|" },
	{ "reset", ESC "cx" ESC "7y\n", "xy|" },
	{ "two escapes", ESC ESC "[1mx\n", "x|" },
	{ "escape in a sequence", ESC "[3" ESC "[1mx\n", "x|" },
	{ "escape at the end", "x" ESC "\ny\n", "x|y|" },
	{ "sequence cut by the end", "x" ESC "[3\n1my\n", "x|1my|" },
	{ "sequence cut by a return", "x" ESC "[3\r1my\n", "x|1my|" },
	{ "no final byte", ESC "[3\x01x\n", "\x01x|" },
	{ "byte above ASCII", ESC "[3\xc3\xa4\n", "\xc3\xa4|" },
	{ "title in UTF-8", ESC "]0;\xc3\xa4\x07y\n", "y|" },
	{ "backspaces", "1/3\b\b\b2/3\b\b\b\n", "1/32/3|" },
	{ "backspace in a sequence", ESC "[\b1mx\n", "x|" },
	{ "tabs stay", "a\tb\n", "a\tb|" },
	{ "no UTF-8", "\xff\xfe\n", "\xff\xfe|" },
	{ "colour before a return", ESC "[32m1/2" ESC "[0m\r\n", "1/2|" },
};

static void pieces_make_no_difference(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (size_t step = 1; step < 12; step++) {
			struct strbuf seen = STRBUF_INIT;

			collect(&seen, rows[i].text, strlen(rows[i].text),
				step);
			if (strcmp(strbuf_text(&seen), rows[i].seen) != 0)
				fail_msg("%s, pieces of %zu: %s", rows[i].name,
					 step, strbuf_text(&seen));
			strbuf_release(&seen);
		}
}

static void nul_bytes_stay(void **state)
{
	static const char text[] = "a\0b\nc" ESC "[1m\0\n";

	(void)state;
	for (size_t step = 1; step < 8; step++) {
		struct strbuf seen = STRBUF_INIT;

		collect(&seen, text, sizeof(text) - 1, step);
		assert_int_equal(seen.length, 7);
		assert_memory_equal(seen.data, "a\0b|c\0|", 7);
		strbuf_release(&seen);
	}
}

static void long_lines_are_cut(void **state)
{
	static const struct {
		const char *name;
		const char *before; /* the long part */
		size_t length;      /* of the line as it comes */
		size_t step, kept;
	} cases[] = {
		{ "at the limit", "", LINE_MAX_BYTES, 65536, LINE_MAX_BYTES },
		{ "over it, in pieces", "", LINE_MAX_BYTES + 1, 65536,
		  LINE_MAX_BYTES },
		{ "over it, at once", "", 3 * LINE_MAX_BYTES,
		  4 * LINE_MAX_BYTES, LINE_MAX_BYTES },
		{ "over it, stripped", ESC "[1m", 3 * LINE_MAX_BYTES, 65536,
		  LINE_MAX_BYTES },
		{ "over it, stripped at once", ESC "[1m", 3 * LINE_MAX_BYTES,
		  4 * LINE_MAX_BYTES, LINE_MAX_BYTES },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct strbuf text = STRBUF_INIT;
		struct strbuf seen = STRBUF_INIT;
		char *filling = xmalloc(cases[i].length);

		memset(filling, 'x', cases[i].length);
		strbuf_adds(&text, cases[i].before);
		strbuf_add(&text, filling, cases[i].length);
		strbuf_adds(&text, "\nnext\n");
		collect(&seen, text.data, text.length, cases[i].step);
		if (seen.length != cases[i].kept + strlen("|next|") ||
		    strcmp(seen.data + cases[i].kept, "|next|") != 0)
			fail_msg("%s: %zu bytes", cases[i].name, seen.length);
		strbuf_release(&text);
		strbuf_release(&seen);
		free(filling);
	}
}

static void memory_is_bounded(void **state)
{
	struct lines lines = LINES_INIT;
	struct strbuf seen = STRBUF_INIT;
	char chunk[65536];

	(void)state;
	memset(chunk, 'x', sizeof(chunk));
	for (int i = 0; i < 64; i++)
		lines_feed(&lines, chunk, sizeof(chunk), note_line, &seen);
	assert_int_equal(lines.capacity, LINE_MAX_BYTES);
	assert_int_equal(seen.length, 0);
	lines_release(&lines);
	assert_null(lines.data);
	strbuf_release(&seen);
}

/* Any bytes, any pieces: the same lines, none empty, none with an end in it. */
static void random_bytes_split_alike(void **state)
{
	static const char alphabet[] = "ab\n\r\b\x1b[]0;m\x07\\(\x80";
	unsigned seed = 12345;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct strbuf whole = STRBUF_INIT;
		struct strbuf pieces = STRBUF_INIT;
		char text[200];

		for (size_t i = 0; i < sizeof(text); i++) {
			seed = seed * 1103515245U + 12345U;
			text[i] =
				alphabet[(seed >> 16) % (sizeof(alphabet) - 1)];
		}
		collect(&whole, text, sizeof(text), sizeof(text));
		collect(&pieces, text, sizeof(text), 1 + (seed >> 16) % 9);
		assert_string_equal(strbuf_text(&whole), strbuf_text(&pieces));
		assert_null(strpbrk(strbuf_text(&whole), "\n\r\b\x1b"));
		assert_null(strstr(strbuf_text(&whole), "||"));
		strbuf_release(&whole);
		strbuf_release(&pieces);
	}
}

static const struct {
	const char *name;
	const char *line;
	const char *rest; /* without what the launcher put before it */
	int rank;         /* -1: none is named */
} prefixes[] = {
	{ "torch", "[rank1]: Traceback", "Traceback", 1 },
	{ "torch, a frame", "[rank12]:   File", "  File", 12 },
	{ "torchrun", "[default0]:  File", "  File", 0 },
	{ "torchrun, a role", "[trainer3]:x", "x", 3 },
	{ "torchrun and torch", "[default1]:[rank5]: x", "x", 5 },
	{ "mpirun", "[1,3]<stderr>:    x", "    x", 3 },
	{ "mpirun, the other stream", "[1,0]<stdout>:x", "x", 0 },
	{ "Open MPI 5", "[prterun-n7-9@1,2]<stderr>: x", "x", 2 },
	{ "horovodrun", "[3]<stderr>:x", "x", 3 },
	{ "horovodrun with times", "Sat Nov 21 07:52:14 2026[1]<stderr>:x", "x",
	  1 },
	{ "srun", "3: x", "x", 3 },
	{ "srun, aligned", "  7:   x", "  x", 7 },
	{ "srun, an indent is none", "    7: x", "    7: x", -1 },
	{ "srun and torch", "0: [rank4]: x", "x", 4 },
	{ "determined", "[rank=2] x", "x", 2 },
	{ "Lightning", "[rank: 1] Seed set", "Seed set", 1 },
	{ "Ray", "(RayTrainWorker pid=8, ip=10.0.0.7) x", "x", -1 },
	{ "three of them: two", "[a1]:[a2]:[a3]:x", "[a3]:x", 2 },
	{ "a time", "[2024-01-04 04:33:22,520] x",
	  "[2024-01-04 04:33:22,520] x", -1 },
	{ "a counter", "[12/100] x", "[12/100] x", -1 },
	{ "an epoch", "Epoch: [0][ 10/5] x", "Epoch: [0][ 10/5] x", -1 },
	{ "no colon", "[rank1] x", "[rank1] x", -1 },
	{ "no number", "[rank]: x", "[rank]: x", -1 },
	{ "too large", "[rank1234567]: x", "[rank1234567]: x", -1 },
	{ "never closed", "[rank1", "[rank1", -1 },
	{ "a clock", "12:30:01 x", "12:30:01 x", -1 },
	{ "NCCL", "n1:91:131 [0] NCCL INFO x", "n1:91:131 [0] NCCL INFO x",
	  -1 },
	{ "brackets", "(x) y", "(x) y", -1 },
	{ "nothing", "", "", -1 },
};

static void prefixes_of_launchers_are_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t length = strlen(prefixes[i].line);
		/* A copy of its own: reading past it is seen. */
		char *line = xmalloc(length ? length : 1);
		int rank = -1;
		size_t count;

		memcpy(line, prefixes[i].line, length);
		count = lines_launcher_prefix(line, length, &rank);
		if (strcmp(prefixes[i].line + count, prefixes[i].rest) != 0 ||
		    rank != prefixes[i].rank)
			fail_msg("%s: rank %d, '%s'", prefixes[i].name, rank,
				 prefixes[i].line + count);
		free(line);
	}
}

static void times_of_launchers_are_known(void **state)
{
	static const char with[] = "Sat Nov 21 07:52:14 2026[1]<stderr>:x";
	static const char without[] = "[1]<stderr>:x";
	static const char other[] = "step (1) [1]<stderr>:x";

	(void)state;
	assert_string_equal(with + lines_launcher_time(with, strlen(with)),
			    without);
	assert_int_equal(lines_launcher_time(without, strlen(without)), 0);
	assert_int_equal(lines_launcher_time(other, strlen(other)), 0);
	assert_int_equal(lines_launcher_time(with, 24), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_make_no_difference),
		cmocka_unit_test(nul_bytes_stay),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(random_bytes_split_alike),
		cmocka_unit_test(prefixes_of_launchers_are_known),
		cmocka_unit_test(times_of_launchers_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
