/* The first error of a command, found in what it printed. */
/* SPDX-License-Identifier: MIT */
/* USES probes configs base */
#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/signatures/signature.h"
#include "probes/output/failure.h"
#include "probes/output/lines.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define CORPUS TEST_SOURCE_DIR "/tests/data/failures"
/* What is shown at most: frames, exception and its message, rank, cause. */
#define SHOWN_LINES_MAX                                                        \
	(FAILURE_FRAME_LINES + FAILURE_TAIL_LINES + FAILURE_MESSAGE_LINES)

static int load_builtins(void **state)
{
	struct signatures *set;

	if (signatures_load(&set, NULL, NULL) < 0)
		return -1;
	*state = set;
	return 0;
}

static int free_builtins(void **state)
{
	signatures_free(*state);
	return 0;
}

/* A log as it is read, and the first known cause of its lines. */
struct reading {
	struct failure failure;
	const struct signatures *signatures;
	const struct signature *cause;
};

static const struct signature *cause_of(const struct signatures *set,
					const char *line, size_t length)
{
	const struct signature *found =
		signatures_match(set, line, length, NULL);

	return found && found->class == SIGNATURE_CAUSE ? found : NULL;
}

static void on_line(void *context, const char *line, size_t length)
{
	struct reading *reading = context;

	failure_line(&reading->failure, line, length);
	if (!reading->cause && reading->signatures)
		reading->cause = cause_of(reading->signatures, line, length);
}

static struct reading *read_log(const char *log, size_t length,
				const struct signatures *set)
{
	struct reading *reading = xcalloc(1, sizeof(*reading));
	struct lines lines = LINES_INIT;

	reading->signatures = set;
	lines_feed(&lines, log, length, on_line, reading);
	lines_finish(&lines, on_line, reading);
	lines_release(&lines);
	return reading;
}

/* The cause of what is shown; of the whole log where that is uncertain. */
static const struct signature *shown_cause(const struct reading *reading,
					   const char *shown)
{
	const struct signature *found = NULL;

	for (; *shown && !found; shown += strcspn(shown, "\n") + 1)
		found = cause_of(reading->signatures, shown,
				 strcspn(shown, "\n"));
	if (found || failure_is_certain(&reading->failure))
		return found;
	return reading->cause;
}

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
	  "[rank1]:   File \"a.py\", line 1, in f\n"
	  "[rank1]: ValueError: first\n"
	  "[rank0]: Traceback (most recent call last):\n"
	  "[rank0]:   File \"a.py\", line 2, in f\n"
	  "[rank0]: RuntimeError: second\n",
	  "rank 1:\n  File \"a.py\", line 1, in f\nValueError: first\n" },
	{ "the peer of another rank is not the first",
	  "[rank0]: Traceback (most recent call last):\n"
	  "[rank0]:   File \"a.py\", line 2, in f\n"
	  "[rank0]: RuntimeError: [gloo/transport/tcp/pair.cc:1] closed\n"
	  "[rank1]: Traceback (most recent call last):\n"
	  "[rank1]:   File \"a.py\", line 1, in f\n"
	  "[rank1]: ValueError: second\n",
	  "rank 1:\n  File \"a.py\", line 1, in f\nValueError: second\n" },
	{ "no traceback: the last lines",
	  "usage: train.py [-h]\n"
	  "train.py: error: unrecognized arguments: --bs\n",
	  "usage: train.py [-h]\n"
	  "train.py: error: unrecognized arguments: --bs\n" },
	{ "a last word is shown that is not among the last lines",
	  "t.py: error: bad\n1\n2\n3\n4\n5\n6\n7\n8\n9\n",
	  "2\n3\n4\n5\n6\n7\n8\n9\nt.py: error: bad\n" },
	{ "a mutter that is not among them is not the end",
	  "ERROR: no cache\n1\n2\n3\n4\n5\n6\n7\n8\n9\n",
	  "ERROR: no cache\n2\n3\n4\n5\n6\n7\n8\n9\n" },
	{ "what a text of usage is printed for",
	  "t: no option --lr\nusage: t [options]\noptions:\n  -a\n\t-b\n",
	  "usage: t [options]\noptions:\n  -a\n\t-b\nt: no option --lr\n" },
	{ "what a long one is printed for",
	  "t: no option --lr\nUsage of t:\n  1\n  2\n  3\n  4\n  5\n  6\n"
	  "  7\n  8\n",
	  "  1\n  2\n  3\n  4\n  5\n  6\n  7\n  8\nt: no option --lr\n" },
	{ "an error behind a text of usage",
	  "loading\nUsage: t [OPTIONS]\n  -a\nError: No such option: --lr\n",
	  "loading\nUsage: t [OPTIONS]\n  -a\nError: No such option: --lr\n" },
	{ "a text of usage that is not the end",
	  "loading\nusage: see the manual\nrunning\ncannot go on\n",
	  "loading\nusage: see the manual\nrunning\ncannot go on\n" },
	{ "deep: the last frames",
	  "Traceback (most recent call last):\n"
	  "    1\n    2\n    3\n    4\n    5\n    6\n    7\n    8\n"
	  "KeyError: 'x'\n",
	  "    3\n    4\n    5\n    6\n    7\n    8\nKeyError: 'x'\n" },
	{ "marks are not worth a line",
	  "Traceback (most recent call last):\n"
	  "  File \"a.py\", line 1, in f\n    f(x)\n    ~^^^\nKeyError: 'x'\n",
	  "  File \"a.py\", line 1, in f\n    f(x)\nKeyError: 'x'\n" },
	{ "cut off in a traceback",
	  "Traceback (most recent call last):\n  File \"a.py\", line 1\n",
	  "Traceback (most recent call last):\n  File \"a.py\", line 1\n" },
	{ "its first line alone", "Traceback (most recent call last):\n", "" },
	{ "an exception without a message",
	  "Traceback (most recent call last):\n"
	  "  File \"a.py\", line 1, in f\nAssertionError\n",
	  "  File \"a.py\", line 1, in f\nAssertionError\n" },
	{ "a chain of three: the first and the last",
	  "Traceback (most recent call last):\n"
	  "  File \"a.py\", line 1, in f\nKeyError: 'a'\n"
	  "During handling of the above exception, another exception "
	  "occurred:\n"
	  "Traceback (most recent call last):\n"
	  "  File \"b.py\", line 1, in f\nValueError: b\n"
	  "The above exception was the direct cause of the following "
	  "exception:\n"
	  "Traceback (most recent call last):\n"
	  "  File \"c.py\", line 1, in f\nRuntimeError: c\n",
	  "  File \"a.py\", line 1, in f\nKeyError: 'a'\n"
	  "which led to: RuntimeError: c\n" },
	{ "two that have nothing to do with each other",
	  "Traceback (most recent call last):\n"
	  "  File \"a.py\", line 1, in f\nKeyError: 'a'\n"
	  "Traceback (most recent call last):\n"
	  "  File \"b.py\", line 1, in f\nValueError: b\n",
	  "  File \"a.py\", line 1, in f\nKeyError: 'a'\n" },
	{ "no name of an exception",
	  "Traceback (most recent call last):\n"
	  "  File \"a.py\", line 1, in f\n"
	  "loss: 3\ntrain.py: 7\n3.5\n/usr/x: no\nvalue error\n"
	  "OSError: x\n",
	  "  File \"a.py\", line 1, in f\nOSError: x\n" },
	{ "a name that may be one, and then the traceback goes on",
	  "Traceback (most recent call last):\n"
	  "  File \"a.py\", line 1, in f\n"
	  "Loss: 3\n  File \"b.py\", line 2, in g\nKeyError: 'x'\n",
	  "  File \"a.py\", line 1, in f\n  File \"b.py\", line 2, in g\n"
	  "KeyError: 'x'\n" },
	{ "a name that is one",
	  "Traceback (most recent call last):\n"
	  "  File \"a.py\", line 1, in f\nNoData: x\n1\n2\n3\n4\n5\n"
	  "OSError: x\n",
	  "  File \"a.py\", line 1, in f\nNoData: x\n" },
	{ "what a launcher tells of a rank that said nothing",
	  "step 1\n"
	  "Traceback (most recent call last):\n"
	  "  File \"a.py\", line 1, in f\n"
	  "RuntimeError: [gloo/transport/tcp/pair.cc:1] closed\n"
	  "srun: error: n1: task 3: Killed\n",
	  "step 1\nrank 3: Killed\n"
	  "which led to: RuntimeError: [gloo/transport/tcp/pair.cc:1] "
	  "closed\n" },
	{ "what a launcher tells: the end that is not Python's own",
	  "srun: error: n1: task 0: Exited with exit code 1\n"
	  "srun: error: n1: task 3: Killed\n"
	  "srun: error: n1: task 4: Bus error\n",
	  "rank 3: Killed\n" },
	{ "a name that may be one, and then it is cut off",
	  "Traceback (most recent call last):\n"
	  "  File \"a.py\", line 1, in f\n"
	  "Loss: 3\n  File \"b.py\", line 2, in g\n",
	  "Traceback (most recent call last):\n"
	  "  File \"a.py\", line 1, in f\n  File \"b.py\", line 2, in g\n" },
	{ "other words before a traceback, no prefix",
	  "Loading... Traceback (most recent call last):\n"
	  "  File \"a.py\", line 1, in f\nNoData: x\n",
	  "  File \"a.py\", line 1, in f\nNoData: x\n" },
	{ "a prefix of a launcher that nobody knows",
	  "w1> Traceback (most recent call last):\n"
	  "w2> hello\n"
	  "w1>   File \"a.py\", line 1, in f\nw1> NoData: x\n",
	  "  File \"a.py\", line 1, in f\nNoData: x\n" },
	{ "such a prefix, seen twice, and another's traceback within",
	  "w1> Traceback (most recent call last):\n"
	  "w1>   File \"a.py\", line 1, in f\n"
	  "  File \"b.py\", line 1, in g\n"
	  "w1> OSError: x\n",
	  "  File \"a.py\", line 1, in f\nOSError: x\n" },
	{ "a rank after a group",
	  "  + Exception Group Traceback (most recent call last):\n"
	  "  |   File \"a.py\", line 1, in f\n"
	  "  | ExceptionGroup: two (1 sub-exception)\n"
	  "  +-+---------------- 1 ----------------\n"
	  "    | KeyboardInterrupt\n"
	  "    +------------------------------------\n"
	  "[rank1]: Traceback (most recent call last):\n"
	  "[rank1]:   File \"b.py\", line 1, in f\n"
	  "[rank1]: ValueError: b\n",
	  "rank 1:\n  File \"b.py\", line 1, in f\nValueError: b\n" },
	{ "a message that a box has broken",
	  "╭─ Traceback (most recent call last) ─╮\n"
	  "│ /home/a/run.py:61 in main           │\n"
	  "╰─────────────────────────────────────╯\n"
	  "ValueError: no column label in the\ndata\nbye\n",
	  "  /home/a/run.py:61 in main\n"
	  "ValueError: no column label in the\ndata\n" },
	{ "control bytes", "a\033[31mb\n", "a?[31mb\n" },
	{ "nothing", "", "" },
};

static void the_first_error_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct failure *failure = xcalloc(1, sizeof(*failure));
		struct strbuf text = STRBUF_INIT;
		const char *line = rows[i].output;

		for (; *line; line = strchr(line, '\n') + 1)
			failure_line(failure, line, strcspn(line, "\n"));
		failure_text(failure, &text);
		if (strcmp(strbuf_text(&text), rows[i].expected) != 0)
			fail_msg("%s: got\n%s", rows[i].name,
				 strbuf_text(&text));
		strbuf_release(&text);
		free(failure);
	}
}

#define TRACE                                                                  \
	"Traceback (most recent call last):\n"                                 \
	"  File \"a.py\", line 1, in f\n"
#define OF_RANK_1 TRACE "    f(x)\nValueError: one\n"
#define OF_RANK_0 TRACE "RuntimeError: Connection closed by peer\n"
#define BOTH_AT_ONCE                                                           \
	"Traceback (most recent call last):\n" TRACE                           \
	"ValueError: one\nRuntimeError: two\n"

/* Of one or two processes, in the order of time; the output beside it. */
static const struct {
	const char *name, *output;
	struct {
		const char *text;
		int rank;
		bool is_printed;
	} hooked[2];
	const char *expected;
	bool is_certain;
} hook_rows[] = {
	{ "two ranks mixed: the hook has the frames",
	  BOTH_AT_ONCE,
	  { { OF_RANK_1, 1, true } },
	  "rank 1:\n  File \"a.py\", line 1, in f\n    f(x)\nValueError: one\n",
	  true },
	{ "the first in time of two",
	  BOTH_AT_ONCE,
	  { { TRACE "RuntimeError: two\n", 0, true }, { OF_RANK_1, 1, true } },
	  "rank 0:\n  File \"a.py\", line 1, in f\nRuntimeError: two\n",
	  true },
	{ "a consequence comes first in time",
	  BOTH_AT_ONCE,
	  { { OF_RANK_0, 0, true }, { OF_RANK_1, 1, true } },
	  "rank 1:\n  File \"a.py\", line 1, in f\n    f(x)\nValueError: one\n",
	  true },
	{ "the rank is not known: none is told",
	  OF_RANK_1,
	  { { OF_RANK_1, -1, true } },
	  "  File \"a.py\", line 1, in f\n    f(x)\nValueError: one\n",
	  true },
	{ "the rank stands in the output alone",
	  "[1,2]<stderr>:Traceback (most recent call last):\n"
	  "[1,2]<stderr>:  File \"b.py\", line 1, in f\n"
	  "[1,2]<stderr>:ValueError: one\n",
	  { { OF_RANK_1, -1, true } },
	  "rank 2:\n  File \"a.py\", line 1, in f\n    f(x)\nValueError: one\n",
	  true },
	{ "one that was caught and logged before is not the last",
	  TRACE "KeyError: 'logged'\n" OF_RANK_1,
	  { { OF_RANK_1, -1, true } },
	  "  File \"a.py\", line 1, in f\n    f(x)\nValueError: one\n",
	  true },
	{ "a consequence alone, and an error in the output",
	  "[rank1]: Traceback (most recent call last):\n"
	  "[rank1]:   File \"a.py\", line 1, in f\n[rank1]: OSError: x\n",
	  { { OF_RANK_0, 0, true } },
	  "rank 1:\n  File \"a.py\", line 1, in f\nOSError: x\n",
	  true },
	{ "nothing was printed, and no launcher speaks: it was caught",
	  "step 1\n",
	  { { OF_RANK_1, 1, false } },
	  "step 1\n",
	  false },
	{ "nothing was printed: the launcher blames this rank",
	  "Process 1 exit with status code 1.\n",
	  { { OF_RANK_0, 0, false }, { OF_RANK_1, 1, false } },
	  "rank 1:\n  File \"a.py\", line 1, in f\n    f(x)\nValueError: one\n",
	  true },
	{ "nothing was printed: the launcher tells of a signal",
	  "srun: error: n1: task 1: Killed\n",
	  { { OF_RANK_1, 1, false } },
	  "rank 1: Killed\n",
	  false },
	{ "a chain: the first, and what it led to",
	  "ValueError: b\n",
	  { { TRACE "KeyError: 'a'\n\nDuring handling of the above exception, "
		    "another exception occurred:\n\n" TRACE "ValueError: b\n",
	      3, true } },
	  "rank 3:\n  File \"a.py\", line 1, in f\nKeyError: 'a'\n"
	  "which led to: ValueError: b\n",
	  true },
	{ "an exception with any name, and no line behind it",
	  "",
	  { { TRACE "NoData: x", -1, true } },
	  "  File \"a.py\", line 1, in f\nNoData: x\n",
	  true },
	{ "no traceback at all",
	  "step 1\n",
	  { { "\n\1\n", 0, true } },
	  "step 1\n",
	  false },
};

static void what_hooks_tell_is_preferred(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hook_rows) / sizeof(*hook_rows); i++) {
		struct failure *failure = xcalloc(1, sizeof(*failure));
		struct strbuf text = STRBUF_INIT;
		const char *line = hook_rows[i].output;

		for (; *line; line = strchr(line, '\n') + 1)
			failure_line(failure, line, strcspn(line, "\n"));
		for (size_t j = 0; j < 2 && hook_rows[i].hooked[j].text; j++)
			failure_add_hooked(failure, hook_rows[i].hooked[j].text,
					   hook_rows[i].hooked[j].rank,
					   hook_rows[i].hooked[j].is_printed);
		failure_text(failure, &text);
		if (strcmp(strbuf_text(&text), hook_rows[i].expected) != 0)
			fail_msg("%s: got\n%s", hook_rows[i].name,
				 strbuf_text(&text));
		assert_int_equal(failure_is_certain(failure),
				 hook_rows[i].is_certain);
		strbuf_release(&text);
		free(failure);
	}
}

/* A file of the corpus: what it is, what is expected, the log. */
struct sample {
	const char *rank, *hint, *shown, *log;
	size_t log_length;
};

/* From after "words" up to the end of its line, or of the part it begins. */
static char *take(char **text, const char *words, const char *end)
{
	char *at = *text;
	char *stop;

	if (strncmp(at, words, strlen(words)) != 0)
		fail_msg("no '%s' at: %.40s", words, at);
	at += strlen(words);
	stop = strstr(at, end);
	assert_non_null(stop);
	*stop = '\0';
	*text = stop + strlen(end);
	return at;
}

static struct sample split(struct strbuf *file)
{
	struct sample sample;
	char *text = file->data;

	(void)take(&text, "", "\n");
	sample.rank = take(&text, "rank ", "\n");
	sample.hint = take(&text, "hint ", "\n");
	sample.shown = take(&text, "---- shown\n", "---- log\n");
	sample.log = text;
	sample.log_length = file->length - (size_t)(text - file->data);
	return sample;
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* The rank of a line "rank 3: ..."; -1: it is none. */
static int rank_of_line(const char *line)
{
	char *end = NULL;
	long rank = strncmp(line, "rank ", 5) == 0 ? strtol(line + 5, &end, 10)
						   : -1;

	return end && *end == ':' ? (int)rank : -1;
}

/* Does the text tell this rank? -1: does it tell none? */
static bool names_rank(const char *shown, int rank)
{
	char *spawned = xasprintf(" process %d ", rank);
	bool named = rank >= 0 && strstr(shown, spawned);

	for (; !named && *shown; shown += strcspn(shown, "\n") + 1)
		named = rank_of_line(shown) >= 0 &&
			(rank < 0 || rank_of_line(shown) == rank);
	free(spawned);
	return named == (rank >= 0);
}

/* 1 when something else is read in it than is expected. */
static size_t check_sample(const struct signatures *set, const char *name,
			   const struct sample *sample)
{
	struct reading *reading =
		read_log(sample->log, sample->log_length, set);
	const struct signature *cause;
	struct strbuf shown = STRBUF_INIT;
	bool wrong;

	failure_text(&reading->failure, &shown);
	cause = shown_cause(reading, strbuf_text(&shown));
	wrong = strcmp(strbuf_text(&shown), sample->shown) != 0 ||
		!names_rank(strbuf_text(&shown),
			    (int)strtol(sample->rank, NULL, 10)) ||
		strcmp(cause ? cause->name : "none", sample->hint) != 0 ||
		count_lines(strbuf_text(&shown)) > SHOWN_LINES_MAX;
	if (wrong)
		print_error("%s: hint %s:\n%s", name,
			    cause ? cause->name : "none", strbuf_text(&shown));
	strbuf_release(&shown);
	free(reading);
	return wrong;
}

typedef size_t sample_check(const struct signatures *set, const char *name,
			    const struct sample *sample);

static void each_sample(const struct signatures *set, sample_check *check)
{
	DIR *folder = opendir(CORPUS);
	const struct dirent *entry;
	size_t count = 0;
	size_t wrong = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		struct strbuf file = STRBUF_INIT;
		struct sample sample;
		char *path;

		if (entry->d_name[0] == '.')
			continue;
		path = xasprintf(CORPUS "/%s", entry->d_name);
		assert_int_equal(
			textfile_read(path, (size_t)1024 * 1024, &file, NULL),
			0);
		sample = split(&file);
		wrong += check(set, entry->d_name, &sample);
		count++;
		strbuf_release(&file);
		free(path);
	}
	(void)closedir(folder);
	assert_int_equal(wrong, 0);
	assert_true(count >= 90);
}

static void logs_of_real_tools_are_read(void **state)
{
	each_sample(*state, check_sample);
}

/* A line of a log, and what is shown if it is the last. */
static void on_last_line(void *context, const char *line, size_t length)
{
	struct failure *failure = context;
	struct strbuf text = STRBUF_INIT;

	failure_line(failure, line, length);
	failure_text(failure, &text);
	assert_true(count_lines(strbuf_text(&text)) <= SHOWN_LINES_MAX);
	assert_true(text.length <
		    SHOWN_LINES_MAX * (size_t)(FAILURE_LINE_MAX + 16));
	strbuf_release(&text);
}

static size_t check_cut(const struct signatures *set, const char *name,
			const struct sample *sample)
{
	struct failure *failure = xcalloc(1, sizeof(*failure));
	struct lines lines = LINES_INIT;

	(void)set;
	(void)name;
	lines_feed(&lines, sample->log, sample->log_length, on_last_line,
		   failure);
	lines_finish(&lines, on_last_line, failure);
	lines_release(&lines);
	free(failure);
	return 0;
}

static void a_log_may_end_anywhere(void **state)
{
	each_sample(*state, check_cut);
}

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245U + 12345U;
	return *seed >> 16;
}

/* Two tracebacks, their lines dealt out at random, each in its order. */
static void no_two_tracebacks_are_mixed(void **state)
{
	static const char *const lines[2][6] = {
		{ "Traceback (most recent call last):",
		  "  File \"one.py\", line 1, in f", "    one_f()",
		  "  File \"one.py\", line 2, in g", "    one_g()",
		  "ValueError: one" },
		{ "Traceback (most recent call last):",
		  "  File \"two.py\", line 1, in f", "    two_f()",
		  "  File \"two.py\", line 2, in g", "    two_g()",
		  "KeyError: 'two'" },
	};
	unsigned seed = 7;
	size_t whole = 0;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		struct failure *failure = xcalloc(1, sizeof(*failure));
		struct strbuf text = STRBUF_INIT;
		size_t at[2] = { 0, 0 };
		unsigned turns = 1 + next_random(&seed) % 5;

		while (at[0] < 6 || at[1] < 6) {
			size_t who = next_random(&seed) % (turns + 1) ? 0 : 1;

			if (at[who] == 6)
				who = 1 - who;
			failure_line(failure, lines[who][at[who]],
				     strlen(lines[who][at[who]]));
			at[who]++;
		}
		failure_text(failure, &text);
		if (strstr(strbuf_text(&text), "one") &&
		    strstr(strbuf_text(&text), "two"))
			fail_msg("mixed:\n%s", strbuf_text(&text));
		assert_true(text.length > 0);
		whole += strstr(strbuf_text(&text), "File") != NULL;
		strbuf_release(&text);
		free(failure);
	}
	/* Now and then they do not overlap. */
	assert_true(whole > 0);
	assert_true(whole < 5000);
}

/* More prefixes than are kept, headers without an end, lines without one. */
static void hostile_logs_are_bounded(void **state)
{
	static const char link[] = "During handling of the above exception, "
				   "another exception occurred:";
	static const char *const shapes[] = {
		link,
		"[rank%d]: Traceback (most recent call last):",
		"x%d Traceback (most recent call last):",
		"[rank%d]:   File \"a.py\", line 1, in f",
		"Traceback (most recent call last):",
		"  + Exception Group Traceback (most recent call last):",
		"  +-+---------------- %d ----------------",
		"╭── Traceback (most recent call last) ──╮",
		"│ ❱ %d │",
		"  File \"a.py\", line %d, in f",
		"  traceback : Traceback (most recent call last):",
		"-- Process %d terminated with the following error:",
		"A%d: b",
		"ValueError: %d",
		"srun: error: n: task %d: Killed",
		"  exitcode  : -%d (pid: 1)",
		"[x] [launch.py:1] '--local_rank=%d' exits with return code = ",
		"([((%d pid=",
	};
	struct failure *failure = xcalloc(1, sizeof(*failure));
	struct strbuf line = STRBUF_INIT;
	struct strbuf text = STRBUF_INIT;
	char *filling = xmalloc(LINE_MAX_BYTES);
	unsigned seed = 3;

	(void)state;
	(void)alarm(600);
	for (int i = 0; i < 300000; i++) {
		const char *shape = shapes[next_random(&seed) %
					   (sizeof(shapes) / sizeof(*shapes))];
		const char *hole = strstr(shape, "%d");

		strbuf_reset(&line);
		strbuf_add(&line, shape,
			   hole ? (size_t)(hole - shape) : strlen(shape));
		if (hole)
			strbuf_addf(&line, "%u%s", next_random(&seed),
				    hole + 2);
		failure_line(failure, line.data, line.length);
	}
	memset(filling, '[', LINE_MAX_BYTES);
	for (int i = 0; i < 20; i++)
		failure_line(failure, filling, LINE_MAX_BYTES);
	(void)alarm(0);
	failure_text(failure, &text);
	assert_true(count_lines(strbuf_text(&text)) <= SHOWN_LINES_MAX);
	free(filling);
	strbuf_release(&line);
	strbuf_release(&text);
	free(failure);
}

/* Bytes of no text, each line of its own size: nothing behind it is read. */
static void any_bytes_are_read(void **state)
{
	static const char alphabet[] = "[(0:)] <>|+-=^~%rank\"\xe2\x94\x82\x95"
				       "\xb0TracebkFileEo,.'_\t\1";
	struct failure *failure = xcalloc(1, sizeof(*failure));
	unsigned seed = 11;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct strbuf text = STRBUF_INIT;
		size_t length = 1 + next_random(&seed) % 40;
		char *line = xmalloc(length);

		for (size_t j = 0; j < length; j++)
			line[j] =
				alphabet[next_random(&seed) % sizeof(alphabet)];
		failure_line(failure, line, length);
		free(line);
		if (i % 100 == 0)
			failure_text(failure, &text);
		strbuf_release(&text);
	}
	free(failure);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_error_is_found),
		cmocka_unit_test(what_hooks_tell_is_preferred),
		cmocka_unit_test(logs_of_real_tools_are_read),
		cmocka_unit_test(a_log_may_end_anywhere),
		cmocka_unit_test(no_two_tracebacks_are_mixed),
		cmocka_unit_test(hostile_logs_are_bounded),
		cmocka_unit_test(any_bytes_are_read),
	};

	return cmocka_run_group_tests(tests, load_builtins, free_builtins);
}
