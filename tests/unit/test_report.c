/* The words the user sees: every outcome, every width, no stray byte. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/report/report.h"

#include "base/alloc.h"
#include "base/textfile.h"
#include "base/units.h"
#include "base/utf8.h"
#include "launcher/command/text/text.h"
#include "launcher/records/show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static const struct report_style plain = { .columns = 80 };

static const struct trial fits_8 = {
	.micro_batch = 8,
	.grad_accum = 2,
	.verdict = VERDICT_FITS,
	.phase = PHASE_TRAIN,
	.rank = -1,
	.peak_bytes = 730 * MIB,
	.step_seconds = 0.4,
	.pass_seconds = 0.2,
};
static const struct trial fits_32 = {
	.micro_batch = 32,
	.grad_accum = 2,
	.verdict = VERDICT_FITS,
	.phase = PHASE_TRAIN,
	.rank = -1,
	.peak_bytes = 1444 * MIB,
	.step_seconds = 0.8,
	.pass_seconds = 0.4,
	.confirmed_steps = 20,
};
static const struct trial over_64 = {
	.micro_batch = 64,
	.grad_accum = 2,
	.verdict = VERDICT_OVER_BUDGET,
	.phase = PHASE_TRAIN,
	.rank = -1,
	.peak_bytes = 1990 * MIB,
	.peak_is_lower_bound = true,
};
static const struct trial oom_48 = {
	.micro_batch = 48,
	.grad_accum = 2,
	.verdict = VERDICT_OOM_DEVICE,
	.phase = PHASE_EVAL,
	.rank = 3,
};

/* A tuned command with all that can be said about it; accum is kept. */
static void fill(struct result *result)
{
	struct record *record = &result->record;

	memset(result, 0, sizeof(*result));
	record->id = xstrdup("train-host-12ab");
	strlist_add(&record->argv, "python");
	strlist_add(&record->argv, "my train.py");
	record->preset = xstrdup("hf");
	record->device_kind = xstrdup("host");
	record->device_count = 1;
	(void)snprintf(record->devices[0].name, sizeof(record->devices[0].name),
		       "host memory");
	record->effective_batch_asked = 128;
	record->batch.micro_batch = 32;
	record->batch.grad_accum = 4;
	record->batch.world_size = 1;
	record->batch.effective_batch = 128;
	record->largest_fit = 32;
	record->smallest_misfit = 44;
	record->misfit_by = xstrdup("prediction");
	record->peak_bytes = 1444 * MIB;
	record->budget_bytes = 2 * GIB;
	record->headroom_bytes = 102 * MIB;
	record->limit_bytes = 2 * GIB - 102 * MIB;
	record->coverage = COVERAGE_EXACT;
	record->steps_source = STEPS_HOOK;
	record->confirmed_steps = 20;
	record->created = 1795150800; /* 2026-11-20 */
	record->autofit_version = xstrdup("0.1.0");
	strlist_add(&record->not_exercised, "evaluation");
	strlist_add(&record->not_exercised, "saving");
	strlist_add(&record->caveats, "the data vary");
	probe_notes_add(&record->probes, &fits_8, NULL, "/l/1.log");
	probe_notes_add(&record->probes, &over_64, "past the limit",
			"/l/2.log");
	probe_notes_add(&record->probes, &oom_48, "OutOfMemoryError",
			"/l/3.log");
	probe_notes_add(&record->probes, &fits_32, NULL, "/l/4.log");
	result->record_path = xstrdup("/r/train.ini");
	result->assumption = xstrdup("effective batch 128 = 8 x 16 x 1 "
				     "(--batch-size taken as per rank)");
	result->flags_text = xstrdup("--batch-size 32 --grad-accum 4");
	result->budget_source = xstrdup("--memory");
	result->has_accumulation = true;
	result->own = (struct batch){ 8, 16, 1, 128 };
	result->seconds = 192;
}

/* Line breaks and the blanks around them as one blank: what is said. */
static void flatten(struct strbuf *out, const char *text)
{
	bool blank = false;

	for (; *text; text++) {
		if (*text == ' ' || *text == '\n') {
			blank = true;
			continue;
		}
		if (blank)
			strbuf_addch(out, ' ');
		blank = false;
		strbuf_addch(out, *text);
	}
}

/* words: pieces parted by '|'; a piece that begins with '!' must not be. */
static void check_words(const char *name, const char *text, const char *words)
{
	struct strbuf flat = STRBUF_INIT;

	flatten(&flat, text);
	while (*words) {
		size_t length = strcspn(words, "|");
		bool absent = *words == '!';
		char *piece = xstrndup(words + absent, length - absent);

		if ((strstr(strbuf_text(&flat), piece) != NULL) == absent)
			fail_msg("%s: \"%s\" is %s in:\n%s", name, piece,
				 absent ? "there" : "not", text);
		free(piece);
		words += length;
		words += *words == '|';
	}
	strbuf_release(&flat);
}

static void change_nothing(struct result *result)
{
	(void)result;
}

static void change_own(struct result *result)
{
	result->own = (struct batch){ 32, 4, 1, 128 };
}

static void change_grow(struct result *result)
{
	result->grow = true;
	result->record.batch.grad_accum = 6;
	result->record.batch.effective_batch = 192;
}

static void change_advice(struct result *result)
{
	result->predicted_micro_batch = 44;
	result->nearest_effective_batch = 132;
}

static const struct trial slow_32 = {
	.micro_batch = 32,
	.grad_accum = 2,
	.verdict = VERDICT_FITS,
	.phase = PHASE_TRAIN,
	.rank = -1,
	.peak_bytes = 1300 * MIB,
	.step_seconds = 2.4,
	.pass_seconds = 1.2,
};

/* The answer ran before, as slowly as the own size is. */
static void change_twice(struct result *result)
{
	result->own = (struct batch){ 8, 16, 1, 128 };
	probe_notes_add(&result->record.probes, &slow_32, NULL, "/l/5.log");
}

static void change_own_over(struct result *result)
{
	struct trial *over = &result->record.probes.items[1].trial;

	result->own = (struct batch){ 64, 2, 1, 128 };
	over->limit_bytes = 1946 * MIB;
}

static void change_weak(struct result *result)
{
	result->record.coverage = COVERAGE_DEVICE_WIDE;
	result->record.steps_source = STEPS_TIME;
	result->record.confirmed_steps = 0;
	result->own = (struct batch){ 16, 8, 1, 128 };
}

static void change_no_flags(struct result *result)
{
	*result->flags_text = '\0';
}

static void change_world(struct result *result)
{
	result->record.batch.world_size = 4;
	result->record.batch.grad_accum = 1;
	result->own = (struct batch){ 8, 4, 4, 128 };
}

static void change_no_answer(struct result *result)
{
	result->record.batch.micro_batch = 0;
	result->message = xstrdup("why");
}

static void change_no_accumulation(struct result *result)
{
	change_no_answer(result);
	result->has_accumulation = false;
	result->record.batch.world_size = 2;
}

static void change_no_fit(struct result *result)
{
	change_no_answer(result);
	result->record.largest_fit = 0;
}

static void change_message(struct result *result)
{
	result->message = xstrdup("KeyError: 'x'\n  File \"a.py\", line 3");
	result->is_not_memory = true;
}

static void change_long_message(struct result *result)
{
	result->message = xstrdup("exit status 1\none\ntwo\nthree\nfour\nfive"
				  "\nsix\nseven\nhint: look\n");
}

/* Wider than the lines that it may have. */
static void change_wide_message(struct result *result)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, "exit status 2\nusage: a.py\na.py: error: refused");
	for (int i = 0; i < 60; i++)
		strbuf_adds(&text, " 'a-choice'");
	strbuf_adds(&text, " 'the-last'\nhint: look\n");
	result->message = strbuf_detach(&text);
}

static void change_limit(struct result *result)
{
	result->message = xstrdup("stopped after 1 probe (--max-probes 1)");
}

static void change_offers(struct result *result)
{
	result->message = xstrdup("two batch sizes; write {micro}");
}

static void change_no_probes(struct result *result)
{
	change_no_answer(result);
	probe_notes_release(&result->record.probes);
}

static void change_emulated(struct result *result)
{
	(void)snprintf(result->record.devices[0].emulated_as,
		       sizeof(result->record.devices[0].emulated_as),
		       "Tesla T4");
	result->starts = "recommended";
}

static void change_emulated_only(struct result *result)
{
	change_emulated(result);
	result->starts = NULL;
}

static const struct {
	const char *name;
	enum outcome outcome;
	void (*change)(struct result *);
	const char *words;
} outcome_rows[] = {
	{ "tuned", OUTCOME_TUNED, change_nothing,
	  "autofit: micro 32 x accum 4 fits|"
	  "kept effective batch 128 = 32 x 4 x 1|"
	  "yours micro 8 x accum 16, peak 730 MiB, 40.0 \xc2\xb1 4.0 "
	  "samples/s best|"
	  "best micro 32 x accum 4, peak 1.41 GiB, 80.0 \xc2\xb1 8.0 "
	  "samples/s (2.00x)|"
	  "peak 1.41 GiB, limit 1.90 GiB = budget 2.00 GiB (--memory) "
	  "- headroom 102 MiB; 502 MiB to spare|"
	  "largest fit 32, smallest misfit 44 (by prediction)|"
	  "memory seen exactly|confirmed over 20 steps|"
	  "not run evaluation, saving|caveat the data vary|"
	  "recorded /r/train.ini|"
	  "saving caveat|use: --batch-size 32 --grad-accum 4 4 probes in "
	  "3 min 12 s \xc2\xb7 logs in /l|"
	  "!learning rate|!--grow|!--effective-batch" },
	{ "own sizes", OUTCOME_TUNED, change_own,
	  "your sizes are the best already, nothing changed|"
	  "yours micro 32 x accum 4|!best micro" },
	{ "one size ran twice", OUTCOME_TUNED, change_twice,
	  "differ by up to 11% in memory, 200% in speed|"
	  "(no factor: timings vary by 200%)|!0.67x" },
	{ "the own size is over the limit", OUTCOME_TUNED, change_own_over,
	  "yours micro 64 x accum 2: does not fit, peak over 1.94 of 1.90 "
	  "GiB, over the limit best" },
	{ "grown", OUTCOME_TUNED, change_grow,
	  "effective batch 192 instead of 128 = 32 x 6 x 1|"
	  "went from 128 to 192 (x 1.5)|x 1.5 linear|"
	  "x 1.22 square root|warm-up, max steps and intervals x "
	  "0.667|!kept" },
	{ "advice", OUTCOME_TUNED, change_advice,
	  "about micro 44 should fit (predicted, not run). To search "
	  "it: autofit --grow -- ...|"
	  "132 has: autofit --effective-batch 132 -- ..." },
	{ "weak evidence", OUTCOME_TUNED, change_weak,
	  "yours micro 16 x accum 8, not probed|"
	  "sampled over the whole device|judged by time|"
	  "not confirmed by a longer probe|!(1.00x)" },
	{ "no words are needed", OUTCOME_TUNED, change_no_flags,
	  "use the command as it is 4 probes in|!use:" },
	{ "ranks", OUTCOME_TUNED, change_world,
	  "micro 32 x accum 1 x world 4 fits|320.0 \xc2\xb1 32.0 samples/s|"
	  "kept effective batch 128 = 32 x 1 x 4" },
	{ "reused", OUTCOME_REUSED, change_nothing,
	  "autofit: micro 32 x accum 4, recorded 2026-11-20 (peak 1.41 "
	  "of 1.90 GiB), no probe; --fresh tunes anew|!probes in" },
	{ "emulated, started", OUTCOME_TUNED, change_emulated,
	  "note the run is not held to the memory of Tesla T4 recorded" },
	{ "emulated, tuned", OUTCOME_TUNED, change_emulated_only, "!not held" },
	{ "emulated, reused", OUTCOME_REUSED, change_emulated,
	  "no probe; the run is not held to the memory of Tesla T4; --fresh" },
	{ "emulated, time limit", OUTCOME_TIME_LIMIT, change_emulated,
	  "note the run is not held to the memory of Tesla T4 use: "
	  "--batch-size" },
	{ "as given", OUTCOME_AS_GIVEN, change_no_probes,
	  "the command starts exactly as given: why" },
	{ "planned", OUTCOME_PLANNED, change_nothing,
	  "nothing was started|preset hf|as given effective batch 128|"
	  "would use micro 32 x accum 4|--batch-size 32|!probes in" },
	{ "nothing fits exactly", OUTCOME_NOTHING_FITS, change_no_answer,
	  "nothing fits: why|micro 32 is the largest that does fit "
	  "(peak 1.41 of 1.90 GiB). To use it: autofit --grow -- ...|"
	  "!--accum-flag" },
	{ "no accumulation", OUTCOME_NOTHING_FITS, change_no_accumulation,
	  "autofit --effective-batch 64 -- ...|autofit --accum-flag "
	  "NAME -- ...|!--grow" },
	{ "nothing at all", OUTCOME_NOTHING_FITS, change_no_fit,
	  "smallest micro 48: out of GPU memory in evaluation, rank 3|"
	  "a larger --memory|!largest that does fit" },
	{ "failed", OUTCOME_COMMAND_FAILED, change_message,
	  "autofit: your command failed (memory is not the cause): KeyError: "
	  "'x' "
	  "File \"a.py\", line 3 log /l/3.log" },
	{ "failed with many words", OUTCOME_COMMAND_FAILED, change_long_message,
	  "autofit: your command failed: exit status 1 four five six seven "
	  "hint: look log /l/3.log|!three" },
	{ "failed with one wide line", OUTCOME_COMMAND_FAILED,
	  change_wide_message,
	  "your command failed: exit status 2 a.py: error: refused 'a-choice'|"
	  "'a-choice' hint: look log /l/3.log|!usage|!the-last" },
	{ "not recognised", OUTCOME_NOT_RECOGNISED, change_no_probes,
	  "autofit: why|!--micro-flag" },
	{ "not recognised, told", OUTCOME_NOT_RECOGNISED, change_offers,
	  "write {micro}|!--micro-flag" },
	{ "refused", OUTCOME_REFUSED, change_no_probes,
	  "autofit: why|!probes in" },
	{ "no message", OUTCOME_REFUSED, change_nothing, "autofit: refused" },
	{ "time limit", OUTCOME_TIME_LIMIT, change_limit,
	  "autofit: stopped after 1 probe (--max-probes 1) best tested so far "
	  "micro 32 x accum 4, "
	  "peak 1.41 of 1.90 GiB|run the same command again to resume|"
	  "!unconfirmed" },
	{ "interrupted", OUTCOME_INTERRUPTED, change_no_answer,
	  "interrupted: why|best tested so far micro 32, peak|"
	  "run the same command again to resume" },
	{ "interrupted at once", OUTCOME_INTERRUPTED, change_no_probes,
	  "no size has fitted so far nothing to resume from|!raise" },
	{ "a time limit within the first probe", OUTCOME_TIME_LIMIT,
	  change_no_probes, "nothing to resume from: raise the limit" },
	{ "disturbed", OUTCOME_DISTURBED, change_no_answer,
	  "something outside disturbed the probes: why|log /l/3.log" },
	{ "error", OUTCOME_ERROR, change_no_probes, "autofit: why" },
};

static void every_outcome_has_its_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(outcome_rows); i++) {
		struct strbuf text = STRBUF_INIT;
		struct result result;

		fill(&result);
		outcome_rows[i].change(&result);
		result.outcome = outcome_rows[i].outcome;
		report_final(&text, &plain, &result);
		check_words(outcome_rows[i].name, strbuf_text(&text),
			    outcome_rows[i].words);
		strbuf_release(&text);
		result_release(&result);
	}
}

static void reuse_is_one_line(void **state)
{
	const struct report_style narrow = { .columns = 40 };
	struct strbuf text = STRBUF_INIT;
	struct result result;

	(void)state;
	fill(&result);
	result.outcome = OUTCOME_REUSED;
	report_final(&text, &narrow, &result);
	assert_ptr_equal(strchr(strbuf_text(&text), '\n'),
			 strbuf_text(&text) + text.length - 1);
	strbuf_release(&text);
	result_release(&result);
}

static void a_start_says_what_will_happen(void **state)
{
	static const struct {
		const char *name;
		int64_t asked;
		bool grow;
		const char *words;
		const char *grade;
		int64_t first_micro;
	} rows[] = {
		{ "keep", 128, false,
		  "autofit " AUTOFIT_VERSION " \xc2\xb7 host memory, budget "
		  "2.00 GiB (--memory) \xc2\xb7 hf kept: effective "
		  "batch 128 = 8 x 16 x 1 (--batch-size taken as per rank)|"
		  "testing sizes with short trial runs; Ctrl-C stops; "
		  "--no-probe skips|micro accum peak of 1.90 GiB step "
		  "samples/s",
		  NULL, 8 },
		{ "grow", 128, true,
		  "may grow: effective batch 128 = 8 x|!kept", NULL, 8 },
		{ "number", 256, false,
		  "effective batch 256 asked for; the command says effective "
		  "batch 128|!kept",
		  NULL, 8 },
		{ "similar", 128, false,
		  "a similar record: it differs; the search starts at micro 16",
		  "hint", 16 },
		{ "similar, but no size is left", 128, false,
		  "a similar record: it differs|!the search starts", "hint",
		  0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct strbuf text = STRBUF_INIT;
		struct result result;

		fill(&result);
		result.record.effective_batch_asked = rows[i].asked;
		result.grow = rows[i].grow;
		result.record_grade = rows[i].grade;
		result.difference = xstrdup("it differs");
		result.first_micro = rows[i].first_micro;
		report_start(&text, &plain, &result, "host memory");
		check_words(rows[i].name, strbuf_text(&text), rows[i].words);
		strbuf_release(&text);
		result_release(&result);
	}
}

static void probes_are_aligned_rows(void **state)
{
	static const char *const rows[] = {
		"       8      2     730 MiB [###-----]   400 ms       40.0  "
		"fits, yours\n",
		"      64      2  > 1.94 GiB [#######!]        -          -  "
		"over the limit\n"
		"    past the limit\n"
		"    log /l/2.log\n",
		"      48      2           -                   -          -\n"
		"    out of GPU memory in evaluation, rank 3\n"
		"    OutOfMemoryError\n"
		"    log /l/3.log\n",
		"      32      2    1.41 GiB [######--]   800 ms       80.0  "
		"fits\n",
	};
	struct result result;

	(void)state;
	fill(&result);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct strbuf text = STRBUF_INIT;

		report_probe(&text, &plain, &result,
			     &result.record.probes.items[i]);
		assert_string_equal(strbuf_text(&text), rows[i]);
		strbuf_release(&text);
	}
	result_release(&result);
}

/* Not every probe is held against the limit of the heading. A row that says by
 * how much it is over its own needs no words below it. */
static void a_row_says_its_own_limit(void **state)
{
	static const struct {
		enum verdict verdict;
		uint64_t limit_bytes;
		const char *words;
	} rows[] = {
		{ VERDICT_FITS, 1600 * MIB, "fits in 1.56 GiB" },
		{ VERDICT_OVER_BUDGET, 1400 * MIB,
		  "over the limit of 1.37 GiB|!past the limit" },
		{ VERDICT_OVER_BUDGET, 1600 * MIB, "past the limit" },
		{ VERDICT_FITS, 0, "!fits in" },
		{ VERDICT_TIMEOUT, 1400 * MIB, "!1.37" },
	};
	struct result result;

	(void)state;
	fill(&result);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char why[] = "past the limit";
		struct probe_note note = { .trial = fits_32, .why = why };
		struct strbuf text = STRBUF_INIT;

		note.trial.verdict = rows[i].verdict;
		note.trial.limit_bytes = rows[i].limit_bytes;
		report_probe(&text, &plain, &result, &note);
		check_words("own limit", strbuf_text(&text), rows[i].words);
		strbuf_release(&text);
	}
	result_release(&result);
}

/* Whoever waits a minute for each probe is told why. */
static void a_probe_without_steps_says_so(void **state)
{
	struct result result = RESULT_INIT;
	struct probe_note note = { .trial = fits_8 };
	struct strbuf text = STRBUF_INIT;

	(void)state;
	report_probe(&text, &plain, &result, &note);
	check_words("with steps", strbuf_text(&text), "!no step was seen");
	note.trial.steps_source = STEPS_TIME;
	report_probe(&text, &plain, &result, &note);
	check_words("without steps", strbuf_text(&text),
		    "no step was seen, so it took a minute");
	strbuf_release(&text);
}

static void every_verdict_has_words(void **state)
{
	static const struct {
		enum verdict verdict;
		const char *words;
	} rows[] = {
		{ VERDICT_NONE, "no verdict" },
		{ VERDICT_FITS_BARELY, "fits barely" },
		{ VERDICT_THRASHES, "thrashes" },
		{ VERDICT_OOM_HOST, "out of memory" },
		{ VERDICT_TOO_BIG, "too big" },
		{ VERDICT_TIMEOUT, "timed out" },
		{ VERDICT_FAILED, "failed" },
		{ VERDICT_DISTURBED, "disturbed" },
	};
	struct result result = RESULT_INIT;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct probe_note note = { .trial = { .micro_batch = 4,
						      .rank = -1,
						      .phase = PHASE_TRAIN } };
		struct strbuf text = STRBUF_INIT;

		note.trial.verdict = rows[i].verdict;
		report_probe(&text, &plain, &result, &note);
		check_words(rows[i].words, strbuf_text(&text), rows[i].words);
		strbuf_release(&text);
	}
}

/* Everything that can be printed, one after the other. */
static void print_all(struct strbuf *out, const struct report_style *style,
		      struct result *result)
{
	struct show_item item;

	report_start(out, style, result, "host \x1b[2Jmemory");
	for (size_t i = 0; i < result->record.probes.count; i++)
		report_probe(out, style, result,
			     &result->record.probes.items[i]);
	for (int outcome = 0; outcome <= OUTCOME_ERROR; outcome++) {
		result->outcome = (enum outcome)outcome;
		if (outcome != OUTCOME_REUSED)
			report_final(out, style, result);
	}
	item = (struct show_item){ result->record.id, &result->record, NULL,
				   true };
	show_list(out, style, &item, 1);
	item = (struct show_item){ result->record.id, NULL,
				   result->record.preset, false };
	show_list(out, style, &item, 1);
	show_record(out, style, &result->record, "/x\r/y.ini");
}

/* The text as it was looked at and found good; AUTOFIT_UPDATE_SCREENS=1 in the
 * environment writes it anew, to be looked at again. */
static void check_screen(const char *text, int columns)
{
	char *path = xasprintf(TEST_SOURCE_DIR "/tests/data/screens/%d.txt",
			       columns);
	struct strbuf wanted = STRBUF_INIT;
	struct error err = ERROR_INIT;

	if (getenv("AUTOFIT_UPDATE_SCREENS"))
		assert_int_equal(
			textfile_replace(path, 0644, text, strlen(text), &err),
			0);
	if (textfile_read(path, (size_t)1 << 20, &wanted, &err) != 0)
		fail_msg("%s", err.message);
	assert_string_equal(text, strbuf_text(&wanted));
	strbuf_release(&wanted);
	free(path);
}

/* The live line of a probe, at its start and later; what moves it left out. */
static void add_live_lines(struct strbuf *text, int columns)
{
	static const struct progress moments[] = {
		{ 8, 2, 0, 0, "starting", 0, 0, 1.5, 0, 0 },
		{ 8, 2, 1, 3, "probing", (uint64_t)400 << 20,
		  (uint64_t)1946 << 20, 2.5, 1, 0 },
		{ 64, 2, 19, 20, "confirming", (uint64_t)2028 << 20,
		  (uint64_t)1946 << 20, 71, 2, 0 },
	};
	const struct report_style style = { .live = true, .columns = columns };

	for (size_t i = 0; i < COUNT(moments); i++) {
		struct strbuf line = STRBUF_INIT;
		const char *end;

		report_progress(&line, &style, &moments[i]);
		end = strstr(strbuf_text(&line), "\x1b[K");
		assert_true(line.length > 1 && *strbuf_text(&line) == '\r');
		assert_non_null(end);
		if (end)
			strbuf_add(text, strbuf_text(&line) + 1,
				   (size_t)(end - strbuf_text(&line)) - 1);
		strbuf_addch(text, '\n');
		strbuf_release(&line);
	}
}

/* What a reader sees from the start to the records, at three widths. */
static void screens_are_as_they_were(void **state)
{
	static const int columns[] = { 60, 80, 120 };
	static const enum outcome outcomes[] = {
		OUTCOME_TUNED,        OUTCOME_REUSED,
		OUTCOME_NOTHING_FITS, OUTCOME_COMMAND_FAILED,
		OUTCOME_TIME_LIMIT,
	};

	(void)state;
	for (size_t i = 0; i < COUNT(columns); i++) {
		const struct report_style style = { .columns = columns[i] };
		struct strbuf text = STRBUF_INIT;
		struct show_item item;
		struct result result;

		fill(&result);
		change_message(&result);
		report_start(&text, &style, &result, "host memory");
		add_live_lines(&text, columns[i]);
		for (size_t k = 0; k < result.record.probes.count; k++)
			report_probe(&text, &style, &result,
				     &result.record.probes.items[k]);
		for (size_t k = 0; k < COUNT(outcomes); k++) {
			strbuf_adds(&text, "\n");
			result.outcome = outcomes[k];
			report_final(&text, &style, &result);
		}
		strbuf_adds(&text, "\n");
		item = (struct show_item){ result.record.id, &result.record,
					   NULL, false };
		show_list(&text, &style, &item, 1);
		check_screen(strbuf_text(&text), columns[i]);
		strbuf_release(&text);
		result_release(&result);
	}
}

static void poison(char **text)
{
	free(*text);
	*text = xstrdup("\x1b[31mred\x07 \xc2\x9b caf\xc3\xa9 \xff\r\x7f "
			"\xe2\x80\xae\xef\xbb\xbf"
			"diw\tx");
}

static void poison_all(struct result *result)
{
	struct record *record = &result->record;
	struct probe_note *note = &record->probes.items[1];

	poison(&result->message);
	poison(&result->record_path);
	poison(&result->assumption);
	poison(&result->flags_text);
	poison(&result->budget_source);
	poison(&record->id);
	poison(&record->preset);
	poison(&record->misfit_by);
	poison(&record->autofit_version);
	poison(&note->why);
	poison(&note->log);
	strlist_replace(&record->argv, 1, note->why);
	strlist_replace(&record->caveats, 0, note->why);
	strlist_replace(&record->not_exercised, 0, note->why);
	(void)snprintf(record->devices[0].name, sizeof(record->devices[0].name),
		       "%s", note->why);
	(void)snprintf(record->devices[0].uuid, sizeof(record->devices[0].uuid),
		       "%s", note->why);
	(void)snprintf(record->devices[0].emulated_as,
		       sizeof(record->devices[0].emulated_as), "%s", note->why);
	result->starts = "recommended";
	result->predicted_micro_batch = 3;
	result->nearest_effective_batch = 3;
}

static void no_control_byte_comes_through(void **state)
{
	static const bool ascii[] = { false, true };

	(void)state;
	for (size_t i = 0; i < COUNT(ascii); i++) {
		struct report_style style = plain;
		struct strbuf text = STRBUF_INIT;
		struct result result;
		size_t length;

		style.ascii = ascii[i];
		fill(&result);
		poison_all(&result);
		print_all(&text, &style, &result);
		length = text.length;
		for (const char *c = strbuf_text(&text); length > 0;) {
			uint32_t code = 0;
			size_t size = utf8_character(c, length, &code);

			assert_true(size > 0);
			assert_true(code == '\n' || code >= ' ');
			assert_true(code < 0x7f || code >= 0xa0);
			assert_true(code != 0x202e && code != 0xfeff);
			assert_true(!style.ascii || code < 0x7f);
			c += size;
			length -= size;
		}
		check_words("poison", strbuf_text(&text), "\\x1b[31mred\\x07");
		strbuf_release(&text);
		result_release(&result);
	}
}

static void check_widths(const char *text, size_t columns)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		char *line = xstrndup(text, length);

		if (text_columns(line) > columns)
			fail_msg("wider than %zu: %s", columns, line);
		free(line);
		text += length;
		text += *text == '\n';
	}
}

static void lines_keep_to_the_columns(void **state)
{
	static const int columns[] = { 40, 50, 60, 63, 64, 72, 78, 80, 132 };

	(void)state;
	for (size_t i = 0; i < COUNT(columns); i++) {
		const struct report_style style = { .columns = columns[i] };
		struct strbuf text = STRBUF_INIT;
		struct result result;

		fill(&result);
		change_advice(&result);
		change_grow(&result);
		change_message(&result);
		print_all(&text, &style, &result);
		check_widths(strbuf_text(&text), (size_t)columns[i]);
		strbuf_release(&text);
		result_release(&result);
	}
}

static void colour_is_only_paint(void **state)
{
	struct report_style style = plain;
	struct strbuf without = STRBUF_INIT;
	struct strbuf painted = STRBUF_INIT;
	struct strbuf stripped = STRBUF_INIT;
	struct result result;

	(void)state;
	fill(&result);
	print_all(&without, &style, &result);
	style.color = true;
	print_all(&painted, &style, &result);
	assert_null(strchr(strbuf_text(&without), '\x1b'));
	assert_non_null(strstr(strbuf_text(&painted), "\x1b[32m"));
	for (const char *c = strbuf_text(&painted); *c; c++) {
		if (*c != '\x1b')
			strbuf_addch(&stripped, *c);
		else
			c += strcspn(c, "m");
	}
	assert_string_equal(strbuf_text(&stripped), strbuf_text(&without));
	strbuf_release(&without);
	strbuf_release(&painted);
	strbuf_release(&stripped);
	result_release(&result);
}

static void the_live_line_stays_one_line(void **state)
{
	static const struct {
		const char *name;
		struct progress progress;
		bool ascii;
		const char *line;
	} rows[] = {
		{ "full",
		  { 48, 2, 7, 20, "confirming", 1200 * MIB, 1946 * MIB, 74.9, 3,
		    0 },
		  false,
		  "\xe2\xa0\xb8 confirming micro 48 x accum 2 \xc2\xb7 step 7 "
		  "of 20 \xc2\xb7 1:14 \xc2\xb7 peak 1.17 of 1.90 GiB "
		  "[#####---]" },
		{ "ascii",
		  { 48, 2, 7, 0, "probing", 300 * MIB, 2 * GIB, 0, 5, 0 },
		  true,
		  "/ probing micro 48 x accum 2 - step 7 - 0:00 - peak 300 MiB "
		  "of 2.00 GiB [#-------]" },
		{ "side by side",
		  { 48, 2, 7, 20, "probing", 0, 1946 * MIB, 9, 5, 3 },
		  true,
		  "/ probing micro 48 x accum 2 and 3 more - step 7 of 20 - "
		  "0:09" },
		{ "start",
		  { 8, 1, 0, 3, "starting", 0, 0, -1, 0, 0 },
		  true,
		  "| starting micro 8 x accum 1 - 0:00" },
		{ "hostile",
		  { 8, 1, 0, 0, "\x1b]0;x\x07", 0, 0, 1e300, -1, 0 },
		  true,
		  "\\ \\x1b]0;x\\x07 micro 8 x accum 1 - 0:00" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct report_style style = { .live = true, .columns = 200 };
		struct strbuf want = STRBUF_INIT;
		struct strbuf text = STRBUF_INIT;

		style.ascii = rows[i].ascii;
		strbuf_addf(&want, "\r%s\x1b[K", rows[i].line);
		report_progress(&text, &style, &rows[i].progress);
		assert_string_equal(strbuf_text(&text), strbuf_text(&want));
		for (style.columns = 1; style.columns < 120; style.columns++) {
			strbuf_reset(&text);
			report_progress(&text, &style, &rows[i].progress);
			/* The return and the three bytes of the erasing. */
			assert_true(text_columns(strbuf_text(&text)) - 4 <
				    (size_t)style.columns);
		}
		strbuf_release(&want);
		strbuf_release(&text);
	}
}

/* What there is no room for is left out whole: the bar first. */
static void a_narrow_live_line_says_less(void **state)
{
	static const struct {
		int columns;
		const char *line;
	} rows[] = {
		{ 92, "| confirming micro 48 x accum 2 - step 7 of 20 - 1:14 - "
		      "peak 1.17 of 1.90 GiB [#####---]" },
		{ 80, "| confirming micro 48 x accum 2 - step 7 of 20 - 1:14 - "
		      "peak 1.17 of 1.90 GiB" },
		{ 72, "| confirming micro 48 x accum 2 - step 7 of 20 - "
		      "peak 1.17 of 1.90 GiB" },
		{ 60, "| confirming micro 48 x accum 2 - peak 1.17 of 1.90 "
		      "GiB" },
		{ 40, "| confirming micro 48 x accum 2" },
		{ 20, "| confirming micro " },
	};
	const struct progress progress = {
		48, 2, 7, 20, "confirming", 1200 * MIB, 1946 * MIB, 74.9, 0, 0
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct report_style style = {
			.live = true, .ascii = true, .columns = rows[i].columns
		};
		struct strbuf want = STRBUF_INIT;
		struct strbuf text = STRBUF_INIT;

		strbuf_addf(&want, "\r%s\x1b[K", rows[i].line);
		report_progress(&text, &style, &progress);
		assert_string_equal(strbuf_text(&text), strbuf_text(&want));
		strbuf_release(&want);
		strbuf_release(&text);
	}
}

static void only_a_live_terminal_is_redrawn(void **state)
{
	const struct progress progress = { .micro_batch = 1,
					   .what = "probing" };
	struct report_style style = plain;
	struct strbuf text = STRBUF_INIT;
	struct result result;

	(void)state;
	fill(&result);
	report_progress(&text, &style, &progress);
	assert_int_equal(text.length, 0);
	style.live = true;
	report_probe(&text, &style, &result, &result.record.probes.items[0]);
	assert_int_equal(strncmp(strbuf_text(&text), "\r\x1b[K  ", 6), 0);
	strbuf_reset(&text);
	report_final(&text, &style, &result);
	assert_int_equal(strncmp(strbuf_text(&text), "\r\x1b[Kauto", 8), 0);
	strbuf_release(&text);
	result_release(&result);
}

static void records_are_shown(void **state)
{
	struct show_item items[] = {
		{ .name = "train-host-12ab" },
		{ .name = "b-host-12ab", .is_site = true },
		{ .name = "c-host-12ab", .problem = "others may write it" },
	};
	struct strbuf text = STRBUF_INIT;
	struct result result;

	(void)state;
	show_list(&text, &plain, NULL, 0);
	check_words("no record", strbuf_text(&text), "nothing is recorded yet");
	strbuf_reset(&text);
	fill(&result);
	items[0].record = &result.record;
	show_list(&text, &plain, items, 1);
	assert_string_equal(
		strbuf_text(&text),
		"name             date        micro x acc  peak of limit       "
		"  mode\n"
		"train-host-12ab  2026-11-20       32 x 4  1.41 of 1.90 GiB    "
		"  keep\n"
		"    host memory: python 'my train.py'\n");
	strbuf_reset(&text);
	change_emulated(&result);
	show_list(&text, &plain, items, 1);
	check_words("emulated", strbuf_text(&text), "host memory as Tesla T4");
	result.record.devices[0].emulated_as[0] = '\0';
	strbuf_reset(&text);
	result.record.lowered_from = 64;
	items[1].record = &result.record;
	show_list(&text, &plain, items, 3);
	check_words("three records", strbuf_text(&text),
		    "train-host-12ab|32 x 4|b-host-12ab|host memory, lowered "
		    "from micro 64, of the site: python 'my train.py'|"
		    "c-host-12ab passed over: others may write it");
	strbuf_reset(&text);
	result.record.isolation = xstrdup("view");
	strlist_add(&result.record.stamps, "0 a.py");
	strlist_add(&result.record.stamps, "0 b.py");
	show_record(&text, &plain, &result.record, "/r/train.ini");
	check_words("record", strbuf_text(&text),
		    "train-host-12ab command python 'my train.py'|"
		    "recorded 2026-11-20|autofit 0.1.0|file /r/train.ini|"
		    "preset hf|device host memory|"
		    "effective batch 128 = 32 x 4 x 1|smallest misfit 44|"
		    "caveat the data vary|lowered from micro 64|"
		    "isolation|imports 2 imported files are watched|"
		    "over the limit past the limit log /l/2.log");
	strbuf_release(&text);
	result_release(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_outcome_has_its_words),
		cmocka_unit_test(reuse_is_one_line),
		cmocka_unit_test(a_start_says_what_will_happen),
		cmocka_unit_test(probes_are_aligned_rows),
		cmocka_unit_test(a_row_says_its_own_limit),
		cmocka_unit_test(a_probe_without_steps_says_so),
		cmocka_unit_test(every_verdict_has_words),
		cmocka_unit_test(screens_are_as_they_were),
		cmocka_unit_test(no_control_byte_comes_through),
		cmocka_unit_test(lines_keep_to_the_columns),
		cmocka_unit_test(colour_is_only_paint),
		cmocka_unit_test(the_live_line_stays_one_line),
		cmocka_unit_test(a_narrow_live_line_says_less),
		cmocka_unit_test(only_a_live_terminal_is_redrawn),
		cmocka_unit_test(records_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
