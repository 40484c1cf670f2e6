/* Each signature knows its own lines, and none knows an innocent one. */
/* SPDX-License-Identifier: MIT */
/* USES configs base */
#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/files/builtin.h"
#include "configs/files/ini.h"
#include "configs/signatures/literals.h"
#include "configs/signatures/pattern.h"
#include "configs/signatures/signature.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

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

static const char *name_of(const struct signature *signature)
{
	return signature ? signature->name : "none";
}

struct walk {
	const struct signatures *set;
	const char *stem;
	enum signature_class class; /* of the section; NONE: of matching ones */
	size_t examples;
};

/* Those that are asked for by name. */
static enum signature_class picked_class(const char *word)
{
	static const char *const words[] = {
		[SIGNATURE_LAUNCHER] = "launcher",
		[SIGNATURE_NOISE] = "noise",
		[SIGNATURE_WRAPPER] = "wrapper",
		[SIGNATURE_MUTTERED] = "muttered",
		[SIGNATURE_CONSEQUENCE] = "consequence",
		[SIGNATURE_SAID] = "said",
		[SIGNATURE_ASIDE] = "aside",
		[SIGNATURE_REFUSED] = "refused",
	};

	for (int i = SIGNATURE_LAUNCHER; i < SIGNATURE_NOT; i++)
		if (strcmp(words[i], word) == 0)
			return (enum signature_class)i;
	return SIGNATURE_NONE;
}

static const struct signature *found_in(const struct walk *walk,
					const char *line)
{
	struct span text = { line, strlen(line) };
	struct signature_found found = { 0 };
	const struct signature *matched =
		signatures_match(walk->set, line, text.length, &found);

	return walk->class == SIGNATURE_NONE
		       ? matched
		       : signatures_pick(walk->set, &found, walk->class, text);
}

static int check_example(void *context, const struct ini_entry *entry,
			 struct error *err)
{
	struct walk *walk = context;
	const struct signature *found;
	char *name;

	(void)err;
	if (strcmp(entry->key, "class") == 0)
		walk->class = picked_class(entry->value);
	if (strcmp(entry->key, "example") != 0)
		return 0;
	name = xasprintf("%s/%s", walk->stem, entry->section);
	found = found_in(walk, entry->value);
	if (strcmp(name_of(found), name) != 0)
		fail_msg("line %u of %s is taken by %s", entry->line, name,
			 name_of(found));
	if (found->class == SIGNATURE_CAUSE ||
	    found->class == SIGNATURE_NO_BATCH ||
	    found->class == SIGNATURE_TOO_BIG || found->class == SIGNATURE_SHM)
		assert_non_null(found->hint);
	free(name);
	walk->examples++;
	return 0;
}

static void examples_are_their_own(void **state)
{
	static const char folder[] = "configs/signatures/";
	struct walk walk = { .set = *state };
	size_t files = 0;

	for (const struct builtin_file *file = builtin_files; file->path;
	     file++) {
		const char *base = file->path + strlen(folder);
		char *stem;

		if (strncmp(file->path, folder, strlen(folder)) != 0)
			continue;
		stem = xstrndup(base, strlen(base) - strlen(".ini"));
		walk.stem = stem;
		assert_int_equal(ini_read(file->path, file->data, file->size,
					  check_example, &walk, NULL),
				 0);
		free(stem);
		files++;
	}
	assert_true(files >= 5);
	assert_true(walk.examples >= 100);
}

static void innocent_lines_are_left_alone(void **state)
{
	struct strbuf text = STRBUF_INIT;
	size_t count = 0;

	assert_int_equal(textfile_read(TEST_SOURCE_DIR
				       "/tests/data/innocent.log",
				       (size_t)1024 * 1024, &text, NULL),
			 0);
	for (char *line = strtok(text.data, "\n"); line;
	     line = strtok(NULL, "\n")) {
		const struct signature *found =
			signatures_match(*state, line, strlen(line), NULL);

		if (found)
			fail_msg("%s takes: %s", found->name, line);
		count++;
	}
	assert_true(count >= 80);
	strbuf_release(&text);
}

static const struct {
	const char *name;
	const char *line;
} messages[] = {
	{ "pytorch/out-of-memory",
	  "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried "
	  "to allocate 20.00 MiB. GPU 0 has a total capacity of 8.00 "
	  "GiB of which 2.35 GiB is free. Including non-PyTorch "
	  "memory, "
	  "this process has 5.65 GiB memory in use. Of the allocated "
	  "memory 4.90 GiB is allocated by PyTorch, and 312.52 MiB is "
	  "reserved by PyTorch but unallocated." },
	{ "pytorch/garbage-size",
	  "RuntimeError: CUDA out of memory. Tried to allocate more "
	  "than 1EB memory." },
	{ "pytorch/shm-file",
	  "unable to write to file </torch_7_8_0>: No space left on "
	  "device (28)" },
	{ "causes/no-space", "cp: No space left on device" },
	{ "tensorflow/not-a-failure",
	  "W tensorflow/core/common_runtime/bfc_allocator.cc:290] "
	  "Allocator (GPU_0_bfc) ran out of memory trying to allocate "
	  "2.20GiB with freed_by_count=0. The caller indicates that "
	  "this is not a failure, but this may mean that there could "
	  "be "
	  "performance gains if more memory were available." },
	{ "tensorflow/tensor-on-gpu",
	  "tensorflow.python.framework.errors_impl."
	  "ResourceExhaustedError: OOM when allocating tensor with "
	  "shape[256,512,28,28] and type float on /job:localhost/"
	  "replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc "
	  "[Op:Conv2D]" },
	{ "tensorflow/pool-retry",
	  "failed to allocate 2.00GiB (2147483648 bytes) from device: "
	  "CUDA_ERROR_OUT_OF_MEMORY: out of memory" },
	{ "jax/driver",
	  "RESOURCE_EXHAUSTED: failed to allocate 2.00GiB (2147483648 "
	  "bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of "
	  "memory" },
	{ "cuda/rmm",
	  "MemoryError: std::bad_alloc: out_of_memory: CUDA error at: "
	  "/x.hpp" },
	{ "host/bad-alloc", "MemoryErrors: std::bad_alloc" },
	{ "others/pycuda",
	  "pycuda._driver.MemoryError: cuMemAlloc failed: out of "
	  "memory" },
	{ "killed/worker",
	  "RuntimeError: DataLoader worker (pid 77) is killed by "
	  "signal: Killed. " },
	{ "none", "RuntimeError: DataLoader worker (pid 77) is killed by "
		  "signal: Terminated. " },
	{ "none", "torch.cuda.OutOfMemoryError" },
	{ "data/batch-larger-than-data",
	  "ValueError: Batch size must not be larger than the data set" },
	{ "none", "ValueError: the batch is larger than the pipeline takes" },
	{ "none", "batch 3: loss larger than before" },
	{ "data/no-next-batch", "[rank1]: StopIteration" },
	{ "none", "raise StopIteration" },
	{ "none", "NoStopIteration" },
	{ "data/division-by-zero",
	  "ZeroDivisionError: float division by zero" },
	{ "data/loop-never-ran",
	  "UnboundLocalError: local variable 'loss' referenced before "
	  "assignment" },
	{ "none", "exitcode  : -6 (pid: 4242)" },
	{ "none", "OSError: x.so: cannot open shared object file" },
	{ "none", "" },
	{ "none", "CUD" },
};

/* Longer than a line of an INI file, or told apart by a small difference. */
static void whole_messages_are_classed(void **state)
{
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++) {
		const struct signature *found =
			signatures_match(*state, messages[i].line,
					 strlen(messages[i].line), NULL);

		if (strcmp(name_of(found), messages[i].name) != 0)
			fail_msg("%s is taken by %s", messages[i].line,
				 name_of(found));
	}
}

/* The words of tests/data/oom_corpus.txt for what a line is found to be. */
static const char *corpus_class(const struct signature *found)
{
	static const char *const names[] = {
		[SIGNATURE_NONE] = "none",
		[SIGNATURE_NOT] = "not",
		[SIGNATURE_RMM] = "gpu",
		[SIGNATURE_HOST] = "host",
		[SIGNATURE_SHM] = "shm",
		[SIGNATURE_GPU] = "gpu",
		[SIGNATURE_AMBIGUOUS] = "ambiguous",
		[SIGNATURE_KILLED] = "killed",
		[SIGNATURE_TOO_BIG] = "too-big",
		[SIGNATURE_NO_BATCH] = "no-batch",
		[SIGNATURE_CAUSE] = "cause",
	};

	return names[found ? found->class : SIGNATURE_NONE];
}

/* 1 when the line is taken for something else than it is. */
static size_t check_corpus_line(const struct signatures *set, char *line)
{
	char *software = strchr(line, '\t');
	char *text = software ? strchr(software + 1, '\t') : NULL;
	const struct signature *found;

	if (!text) {
		print_error("no line of the corpus: %s\n", line);
		return 1;
	}
	*software = '\0';
	*text++ = '\0';
	found = signatures_match(set, text, strlen(text), NULL);
	if (strcmp(corpus_class(found), line) == 0)
		return 0;
	print_error("%s, not %s: %s takes: %s\n", corpus_class(found), line,
		    name_of(found), text);
	return 1;
}

/* What real software printed. Where a line of it fails, the signatures are
 * wrong, not the line. */
static void the_corpus_is_classed_without_an_error(void **state)
{
	struct strbuf text = STRBUF_INIT;
	size_t count = 0;
	size_t wrong = 0;
	char *rest;

	assert_int_equal(textfile_read(TEST_SOURCE_DIR
				       "/tests/data/oom_corpus.txt",
				       (size_t)1024 * 1024, &text, NULL),
			 0);
	rest = text.data;
	while (rest && *rest) {
		char *line = strsep(&rest, "\n");

		if (*line == '#' || *line == '\0')
			continue;
		wrong += check_corpus_line(*state, line);
		count++;
	}
	strbuf_release(&text);
	assert_int_equal(wrong, 0);
	assert_true(count >= 150);
}

/* Text into a line that is no string. */
static void put(char *line, const char *text)
{
	for (size_t i = 0; text[i]; i++)
		line[i] = text[i];
}

static void odd_bytes_are_bytes(void **state)
{
	static const char text[] = "\0\xff\xfe\0MemoryError\0: \xc3";
	static const char half[] = "Memory\0Error";
	char *exact = xmalloc(11);

	assert_string_equal(
		name_of(signatures_match(*state, text, sizeof(text) - 1, NULL)),
		"none");
	assert_string_equal(name_of(signatures_match(*state, text, 15, NULL)),
			    "host/memory-error");
	assert_null(signatures_match(*state, half, sizeof(half) - 1, NULL));
	/* Nothing behind the line is read. */
	put(exact, "MemoryError");
	assert_string_equal(name_of(signatures_match(*state, exact, 11, NULL)),
			    "host/memory-error");
	assert_null(signatures_match(*state, exact, 10, NULL));
	free(exact);
}

/* Wherever it stands in a line of 1 MiB, over every border of a window. */
static void long_lines_are_searched(void **state)
{
	static const char text[] = " OSError: [Errno 12] Cannot allocate "
				   "memory ";
	size_t length = (size_t)1024 * 1024;
	char *line = xmalloc(length);
	size_t count = strlen(text);

	memset(line, 'x', length);
	assert_null(signatures_match(*state, line, length, NULL));
	for (size_t at = 0; at + count <= length;
	     at += at < 10000 ? 37 : 104729) {
		put(line + at, text);
		assert_string_equal(
			name_of(signatures_match(*state, line, length, NULL)),
			"host/errno-12");
		memset(line + at, 'x', count);
	}
	put(line + length - count, text);
	assert_string_equal(
		name_of(signatures_match(*state, line, length, NULL)),
		"host/errno-12");
	/* Of two in one line the first class wins, wherever it stands. */
	put(line, "Disk quota exceeded");
	assert_string_equal(
		name_of(signatures_match(*state, line, length, NULL)),
		"host/errno-12");
	/* $ is the end of the line, not of a window. */
	memset(line, 'x', length);
	put(line + 4096 - 12, " MemoryError");
	assert_null(signatures_match(*state, line, length, NULL));
	put(line + length - 12, " MemoryError");
	assert_string_equal(
		name_of(signatures_match(*state, line, length, NULL)),
		"host/memory-error");
	free(line);
}

static char *make_folder(void)
{
	char *folder = xstrdup("/tmp/autofit-signature-XXXXXX");

	assert_non_null(mkdtemp(folder));
	return folder;
}

/* Load with one file of the user; its text and folder go away again. */
static int load_with(struct signatures **set, const char *name,
		     const char *text, struct error *err)
{
	char *folder = make_folder();
	char *path = xasprintf("%s/%s", folder, name);
	int result;

	assert_int_equal(textfile_replace(path, 0600, text, strlen(text), NULL),
			 0);
	result = signatures_load(set, folder, err);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	free(path);
	free(folder);
	return result;
}

#define GOOD                                                                   \
	"[mine]\nclass = gpu\ncontains = frobnication failed\n"                \
	"pattern = frobnication failed: [0-9]+ bytes\n"                        \
	"example = frobnication failed: 12 bytes\nhint = frob less,\n  "       \
	"often\n"

static void user_files_extend(void **state)
{
	static const char line[] = "frobnication failed: 7 bytes";
	struct signatures *set;
	const struct signature *found;

	(void)state;
	assert_int_equal(load_with(&set, "site.ini", GOOD, NULL), 0);
	found = signatures_match(set, line, strlen(line), NULL);
	assert_string_equal(name_of(found), "site/mine");
	assert_int_equal(found->class, SIGNATURE_GPU);
	assert_string_equal(found->hint, "frob less, often");
	assert_string_equal(
		name_of(signatures_match(set, "Disk quota exceeded", 19, NULL)),
		"causes/quota");
	signatures_free(set);
	/* A file of another kind is no business of ours. */
	assert_int_equal(load_with(&set, "site.txt", "nonsense", NULL), 0);
	assert_null(signatures_match(set, line, strlen(line), NULL));
	signatures_free(set);
	assert_int_equal(signatures_load(&set, "/nonexistent", NULL), 0);
	signatures_free(set);
}

static void user_files_replace_one_section(void **state)
{
	struct signatures *set;

	(void)state;
	assert_int_equal(load_with(&set, "causes.ini",
				   "[quota]\nclass = not\n"
				   "contains = quota of frogs\n"
				   "example = a quota of frogs\n",
				   NULL),
			 0);
	assert_null(signatures_match(set, "Disk quota exceeded", 19, NULL));
	assert_string_equal(
		name_of(signatures_match(set, "the quota of frogs", 18, NULL)),
		"causes/quota");
	assert_string_equal(name_of(signatures_match(
				    set, "No space left on device", 23, NULL)),
			    "causes/no-space");
	signatures_free(set);
}

#define REST "contains = abcdefgh\nexample = abcdefgh\n"

static const struct {
	const char *name;
	const char *text;
	const char *place;
	const char *what;
} broken[] = {
	{ "class missing", "[a]\n" REST,
	  "/x.ini:2: x/a: ", "class is missing" },
	{ "class unknown", "[a]\nclass = cpu\n" REST,
	  "/x.ini:2: ", "no_batch or cause" },
	{ "class twice", "[a]\nclass = gpu\nclass = gpu\n" REST,
	  "/x.ini:3: ", "class is given twice" },
	{ "contains missing",
	  "[a]\nclass = gpu\npattern = abcd\nexample = abcd\n",
	  "/x.ini:2: x/a: ", "contains is missing" },
	{ "contains empty", "[a]\nclass = gpu\ncontains =\n",
	  "/x.ini:3: ", "contains is empty" },
	{ "contains short", "[a]\nclass = gpu\ncontains = abc\nexample = abc\n",
	  "", "4 to 1000 bytes" },
	{ "example missing", "[a]\nclass = gpu\ncontains = abcd\n",
	  "/x.ini:2: x/a: ", "example is missing" },
	{ "example without the literal",
	  "[a]\nclass = gpu\ncontains = abcd\nexample = abc\n",
	  "/x.ini:2: x/a: ", "no \"contains\" is in its example" },
	{ "example not matched",
	  "[a]\nclass = gpu\npattern = abcdefgh[0-9]\n" REST,
	  "/x.ini:2: x/a: ", "does not match its example" },
	{ "second example not matched",
	  "[a]\nclass = gpu\npattern = abcdefgh$\n" REST "  abcdefghi\n",
	  "/x.ini:2: x/a: ", "abcdefghi" },
	{ "pattern without the literal",
	  "[a]\nclass = gpu\npattern = [a]bcdefgh\n" REST,
	  "/x.ini:2: x/a: ", "can match without" },
	{ "one alternative without",
	  "[a]\nclass = gpu\npattern = abcdefgh|b\n" REST,
	  "/x.ini:2: x/a: ", "can match without" },
	{ "pattern broken", "[a]\nclass = gpu\npattern = abcdefgh(\n" REST,
	  "/x.ini:2: x/a: ", "at byte 10" },
	{ "pattern twice", "[a]\nclass = gpu\npattern = abcdefgh\n  ij\n" REST,
	  "/x.ini:4: ", "one line" },
	{ "unknown key", "[a]\nclass = gpu\ncolour = red\n",
	  "/x.ini:3: ", "unknown key \"colour\"" },
	{ "no section", "class = gpu\n", "/x.ini:1: ", "first [section]" },
	{ "section twice",
	  "[a]\nclass = gpu\n" REST "[b]\nclass = gpu\n" REST
	  "[a]\nclass = gpu\n",
	  "/x.ini:10: ", "[a] is there twice" },
	{ "no INI", "[a\n", "/x.ini:1: ", "" },
	{ "after a good one", GOOD "[a]\nb\n", "/x.ini:9: ", "" },
};

static void broken_files_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		struct signatures *set = NULL;
		struct error err = ERROR_INIT;
		int result = load_with(&set, "x.ini", broken[i].text, &err);

		if (result >= 0 || set)
			fail_msg("%s: was loaded", broken[i].name);
		if (!strstr(err.message, broken[i].place) ||
		    !strstr(err.message, broken[i].what))
			fail_msg("%s: %s", broken[i].name, err.message);
		assert_int_equal(err.code, result);
	}
}

static void patterns_need_their_literals(void **state)
{
	static const struct {
		const char *pattern;
		const char *literal;
		bool needs;
	} rows[] = {
		{ "abcd", "abcd", true },
		{ "abcd", "abce", false },
		{ "x|abcd", "abcd", false },
		{ "abcd1|2abcd", "abcd", true },
		{ "(a|b)abcd", "abcd", true },
		{ "(abcd)", "abcd", false },
		{ "(abcd)?", "abcd", false },
		{ "(x|(y|z))abcd[)|]", "abcd", true },
		{ "[]|]abcd", "abcd", true },
		{ "[^]|]abcd", "abcd", true },
		{ "[\\]|]abcd", "abcd", true },
		{ "\\(abcd\\)", "(abcd)", true },
		{ "a\\.bcd", "a.bcd", true },
		{ "a.bcd", "a.bcd", false },
		{ "abcd?", "abcd", false },
		{ "abcd*", "abcd", false },
		{ "abcd{0,3}", "abcd", false },
		{ "abcd+", "abcd", true },
		{ "abc+d", "abcd", false },
		{ "abcd+?e", "abcd", true },
		{ "ab\\dcd", "abdcd", false },
		{ "^abcd$", "abcd", true },
		{ "(?i)abcd", "abcd", false },
		{ "x(?i:y)abcd", "abcd", false },
		{ "(?:x|y)abcd", "abcd", true },
		{ "(?<name>x)abcd", "abcd", true },
		{ "(?<!x)abcd", "abcd", true },
		{ "\\(?abcd", "abcd", true },
		{ "\\Qabcd\\E", "abcd", false },
		{ "", "abcd", false },
		{ "abcd|", "abcd", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strlist literals = STRLIST_INIT;

		strlist_add(&literals, rows[i].literal);
		if (pattern_needs(rows[i].pattern, &literals) != rows[i].needs)
			fail_msg("%s with %s", rows[i].pattern,
				 rows[i].literal);
		strlist_release(&literals);
	}
}

/* Without limits each would run for longer than the universe is old. */
static void runaway_patterns_are_stopped(void **state)
{
	static const char *const patterns[] = {
		"literal (a+)+$",    "literal (a|a)*b",
		"literal (a|aa)+c",  "literal (.*)*(.*)*(.*)*x",
		"literal ((a*)*)*b", "literal (a?){40}a{40}b",
	};
	struct strbuf line = STRBUF_INIT;

	(void)state;
	strbuf_adds(&line, "literal ");
	while (line.length < 30000)
		strbuf_addch(&line, 'a');
	strbuf_addch(&line, '!');
	/* The test ends by this signal when one is not stopped. */
	(void)alarm(600);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		struct signatures *set;
		char *text = xasprintf("[a]\nclass = gpu\ncontains = literal\n"
				       "pattern = %s|literal only\n"
				       "example = literal only\n",
				       patterns[i]);

		assert_int_equal(load_with(&set, "x.ini", text, NULL), 0);
		assert_null(
			signatures_match(set, line.data, line.length, NULL));
		/* It works on the next line as before. */
		assert_non_null(
			signatures_match(set, "literal only", 12, NULL));
		signatures_free(set);
		free(text);
	}
	(void)alarm(0);
	strbuf_release(&line);
}

/*
 * The first alternative needs 2^n tries before the second is asked, which
 * matches: n = 17 is over the limit here, and far below that of PCRE2.
 */
static void limits_are_counted(void **state)
{
	static const struct {
		size_t n;
		bool matches;
	} rows[] = { { 4, true }, { 8, true }, { 17, false }, { 20, false } };
	struct signatures *set;

	(void)state;
	assert_int_equal(load_with(&set, "x.ini",
				   "[a]\nclass = gpu\ncontains = literal\n"
				   "pattern = literal ((a+)+c|a*!)\n"
				   "example = literal aa!\n",
				   NULL),
			 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strbuf line = STRBUF_INIT;

		strbuf_adds(&line, "literal ");
		while (line.length < strlen("literal ") + rows[i].n)
			strbuf_addch(&line, 'a');
		strbuf_addch(&line, '!');
		assert_int_equal(signatures_match(set, line.data, line.length,
						  NULL) != NULL,
				 rows[i].matches);
		strbuf_release(&line);
	}
	signatures_free(set);
}

/* Lines full of literals and of nearly matching text. */
static void hostile_lines_are_bounded(void **state)
{
	static const char *const pieces[] = {
		"NCCL WARN Failed to CUDA mallo 'out of memory'",
		"OOM when allocating tensor by allocator cp",
		"cuCtxCreate RESOURCE_EXHAUSTED: Resource exhausted: ",
		"DataLoader worker (pid(s) 1, is killed by signal: Killed",
		"out of memory. Tried to allocate ",
		"MemoryErrorMemoryError",
	};

	(void)alarm(600);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		struct strbuf line = STRBUF_INIT;

		while (line.length < (size_t)1024 * 1024)
			strbuf_adds(&line, pieces[i]);
		assert_null(
			signatures_match(*state, line.data, line.length, NULL));
		strbuf_release(&line);
	}
	(void)alarm(0);
}

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245U + 12345U;
	return *seed >> 16;
}

/* A set of the words; each has its place in the list for an owner. */
static int make_literals(struct literals **set, const struct strlist *words,
			 struct error *err)
{
	struct literal *items =
		xcalloc(words->count + 1, sizeof(struct literal));
	int result;

	for (size_t i = 0; i < words->count; i++)
		items[i] = (struct literal){ words->items[i],
					     i % LITERAL_OWNERS_MAX };
	result = literals_make(set, items, words->count, err);
	free(items);
	return result;
}

/* literals_find against memmem on a text of its own size; how many are in. */
static size_t compare_with_memmem(const struct strlist *words, const char *text,
				  size_t length)
{
	struct literals_found found = { 0 };
	struct literals *set;
	char *exact = xmalloc(length);
	size_t hits = 0;
	bool any;

	memcpy(exact, text, length);
	assert_int_equal(make_literals(&set, words, NULL), 0);
	any = literals_find(set, exact, length, &found);
	for (size_t i = 0; i < words->count; i++) {
		bool there = memmem(exact, length, words->items[i],
				    strlen(words->items[i])) != NULL;

		hits += there;
		assert_int_equal(literals_found_has(&found, i), there);
	}
	assert_int_equal(any, hits > 0);
	literals_free(set);
	free(exact);
	return hits;
}

/* Sets whose shortest word makes each of the strides. */
static void literals_are_found_everywhere(void **state)
{
	static const char *const sets[][3] = {
		{ "abca", "bcab", "aaaaaaa" },
		{ "abcab", "bbbbb", "cabca" },
		{ "abcabc", "cccccc", "bacbac" },
		{ "abcabca", "aabbccaa", "cbacbacba" },
		{ "abacabadabacaba", "bbbbaaaa", "cacacacaca" },
	};
	unsigned seed = 99;
	size_t hits = 0;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		const char *const *words = sets[round % 5];
		struct strlist list = STRLIST_INIT;
		char text[64];
		size_t length = 1 + next_random(&seed) % sizeof(text);

		for (size_t i = 0; i < length; i++)
			text[i] = (char)('a' + next_random(&seed) % 3);
		/* Some texts hold one for sure, at any place. */
		if (round % 2 && length > 15)
			put(text + next_random(&seed) % (length - 14),
			    words[0]);
		strlist_add_all(&list, words, 3);
		hits += compare_with_memmem(&list, text, length);
		strlist_release(&list);
	}
	assert_true(hits > 5000);
}

static void literals_have_limits(void **state)
{
	struct strlist list = STRLIST_INIT;
	struct literals_found found = { 0 };
	struct literals *set;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(make_literals(&set, &list, NULL), 0);
	assert_false(literals_find(set, "abcdefgh", 8, &found));
	literals_free(set);
	for (int i = 0; i < LITERALS_MAX; i++)
		strlist_addf(&list, "literal number %d", i);
	assert_int_equal(make_literals(&set, &list, NULL), 0);
	assert_true(literals_find(set, "a literal number 2047!", 22, &found));
	assert_true(literals_found_has(&found, 2047 % LITERAL_OWNERS_MAX));
	assert_true(literals_found_has(&found, 204));
	assert_false(literals_found_has(&found, 203));
	/* What is found is added to what was found before. */
	assert_true(literals_find(set, "literal number 203", 18, &found));
	assert_true(literals_found_has(&found, 203));
	assert_true(literals_found_has(&found, 204));
	literals_free(set);
	strlist_add(&list, "one more");
	assert_int_equal(make_literals(&set, &list, &err), -E2BIG);
	assert_null(set);
	strlist_release(&list);
	strlist_add(&list, "abc");
	assert_int_equal(make_literals(&set, &list, &err), -EINVAL);
	strlist_release(&list);
}

/* Two literals of one owner: either of them finds it. */
static void literals_share_an_owner(void **state)
{
	static const struct literal items[] = { { "out of memory", 7 },
						{ "no memory left", 7 },
						{ "memory left over", 8 } };
	struct literals_found found = { 0 };
	struct literals *set;

	(void)state;
	assert_int_equal(literals_make(&set, items, 3, NULL), 0);
	assert_true(literals_find(set, "is no memory left over", 22, &found));
	assert_true(literals_found_has(&found, 7));
	assert_true(literals_found_has(&found, 8));
	literals_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_are_their_own),
		cmocka_unit_test(innocent_lines_are_left_alone),
		cmocka_unit_test(whole_messages_are_classed),
		cmocka_unit_test(the_corpus_is_classed_without_an_error),
		cmocka_unit_test(odd_bytes_are_bytes),
		cmocka_unit_test(long_lines_are_searched),
		cmocka_unit_test(limits_are_counted),
		cmocka_unit_test(hostile_lines_are_bounded),
		cmocka_unit_test(user_files_extend),
		cmocka_unit_test(user_files_replace_one_section),
		cmocka_unit_test(broken_files_are_told),
		cmocka_unit_test(patterns_need_their_literals),
		cmocka_unit_test(runaway_patterns_are_stopped),
		cmocka_unit_test(literals_are_found_everywhere),
		cmocka_unit_test(literals_have_limits),
		cmocka_unit_test(literals_share_an_owner),
	};

	return cmocka_run_group_tests(tests, load_builtins, free_builtins);
}
