/* Phantom cards: their words, what is told of them, a state that is no state.
 */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options.h"
#include "launcher/phantom/phantom_report.h"
#include "launcher/phantom/phantom_trial.h"
#include "probes/phantom/device/sim_state.h"
#include "tests/unit/scratch.h"

#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static void the_words_of_a_card(void **state)
{
	static const struct {
		const char *words, *name; /* NULL: none */
		int count;
	} rows[] = {
		{ "rtx4090", "NVIDIA GeForce RTX 4090", 1 },
		{ "RTX 4090x2", "NVIDIA GeForce RTX 4090", 2 },
		{ "gtx1070", "NVIDIA GeForce GTX 1070", 1 },
		{ "t4x16", "Tesla T4", 16 },
		{ "T4X1", "Tesla T4", 1 },
		{ "t4x17", NULL, 0 },
		{ "t4x0", NULL, 0 },
		{ "t4x", NULL, 0 },
		{ "x2", NULL, 0 },
		{ "a100", NULL, 0 }, /* several */
		{ "mi300x", NULL, 0 },
	};
	const struct strlist nothing = STRLIST_INIT;
	struct strlist warnings = STRLIST_INIT;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct options options = { .target.device = DEVICE_PHANTOM };
		struct error err = ERROR_INIT;
		char words[32];
		int result;

		(void)snprintf(words, sizeof(words), "%s", rows[i].words);
		options.target.phantom = words;
		result =
			options_find_model(&options, &nothing, &warnings, &err);
		if ((result == 0) != (rows[i].name != NULL))
			fail_msg("%s: %d, %s", words, result, err.message);
		if (!rows[i].name)
			continue;
		assert_string_equal(options.target.card.name, rows[i].name);
		assert_int_equal(options.target.card_count, rows[i].count);
		assert_true(options.target.card.multiprocessors > 0);
		assert_true(options.target.card.context_bytes > 100 * MIB);
	}
	strlist_release(&warnings);
}

/* One process on a T4, and what else a row says. */
static struct phantom_seen *seen_of(uint64_t peak_mib, uint64_t refusals,
				    enum sim_note_kind kind, const char *text)
{
	struct phantom_seen *seen = calloc(1, sizeof(*seen));

	assert_non_null(seen);
	seen->usage_count = peak_mib ? 1 : 0;
	seen->usages[0] = (struct sim_usage){
		.pid = 1,
		.rank = -1,
		.peak_bytes = peak_mib * MIB,
		.context_bytes = 141 * MIB,
		.refusals = refusals,
		.refused_bytes = 2 * GIB,
	};
	if (text) {
		struct sim_note *note = &seen->notes[kind];

		note->count = 1;
		(void)snprintf(note->text, sizeof(note->text), "%s", text);
	}
	return seen;
}

static void what_is_told(void **state)
{
	static const struct {
		uint64_t peak_mib, refusals;
		const char *kernel;
		int code;
		uint64_t limit_mib;
		int exit_code;
		const char *tells, *hides; /* hides NULL: nothing */
	} rows[] = {
		{ 1141, 0, NULL, 0, 0, 0, "peak 1.11 GiB (1196425216 bytes)",
		  "at least" },
		{ 1141, 0, NULL, 0, 1141, 0, "not run on the card", NULL },
		{ 1141, 0, NULL, 0, 1140, 120, "by real allocations", NULL },
		{ 1141, 2, NULL, 1, 0, 1,
		  "ran out: the last of 2 refused allocations asked for 2.00",
		  "barely" },
		{ 1141, 2, NULL, 0, 0, 0, "barely enough", "ran out" },
		{ 1141, 0, NULL, 139, 0, 139, "failed, exit code 139", NULL },
		{ 1141, 0, "nonzero", 0, 0, 0, "at least  sizes depend", NULL },
		{ 1141, 0, "nonzero", 0, 2000, 123, "(kernel nonzero)", NULL },
		{ 1141, 0, "nonzero", 0, 1000, 120, "at least", NULL },
		{ 1141, 0, "a\033[1m", 0, 0, 0, "\\x1b[1m", "\033" },
		{ 0, 0, NULL, 0, 0, 123, "", NULL },
		{ 0, 0, NULL, 3, 0, 123, "", NULL },
	};
	struct options_target target = { .card.name = "Tesla T4",
					 .card.usable_bytes = 15 * GIB,
					 .card_count = 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct phantom_seen *seen =
			seen_of(rows[i].peak_mib, rows[i].refusals,
				SIM_NOTE_DATA_SIZE, rows[i].kernel);
		struct strbuf text = STRBUF_INIT;

		target.limit_bytes = rows[i].limit_mib * MIB;
		phantom_report(&text, &target, seen, rows[i].code);
		if (!strstr(strbuf_text(&text), rows[i].tells) ||
		    (rows[i].hides &&
		     strstr(strbuf_text(&text), rows[i].hides)))
			fail_msg("row %zu: %s", i, strbuf_text(&text));
		assert_non_null(strstr(strbuf_text(&text), "phantom Tesla T4"));
		assert_null(strstr(strbuf_text(&text), "samples"));
		assert_int_equal(
			phantom_report_code(&target, seen, rows[i].code),
			rows[i].exit_code);
		strbuf_release(&text);
		free(seen);
	}
}

/* With a limit that it keeps: a doubt is no answer then. */
static void what_notes_say(void **state)
{
	static const struct {
		enum sim_note_kind kind;
		const char *text;
		int code, exit_code;
		const char *tells; /* "at least" in no other */
	} rows[] = {
		{ SIM_NOTE_VALUE, "a.py:3 asks", 0, 123,
		  "at least  what the program does may depend on values, "
		  "which are zeros on a phantom (a.py:3 asks)" },
		{ SIM_NOTE_UNSEEN, "", 0, 123,
		  "at least  the program reads values, which are zeros on a "
		  "phantom, and what for cannot be seen (1 reads)" },
		{ SIM_NOTE_READ, "", 0, 0, "1 reads from the card" },
		{ SIM_NOTE_REFUSED, "no cufftExecR2C", 123, 123, "code 123" },
		{ SIM_NOTE_FOREIGN, "", 1, 123, "exit code 1" },
		{ SIM_NOTE_FOREIGN, "", 0, 0, "not run on the card" },
		{ SIM_NOTE_PYTORCH, "", 0, 0, "not run on the card" },
		{ SIM_NOTE_CONVOLUTION, "", 0, 0,
		  "more      the workspaces of its convolutions" },
	};
	struct options_target target = { .card.name = "Tesla T4",
					 .limit_bytes = 15 * GIB,
					 .card_count = 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct phantom_seen *seen =
			seen_of(1141, 0, rows[i].kind, rows[i].text);
		struct strbuf text = STRBUF_INIT;
		const char *doubt;

		phantom_report(&text, &target, seen, rows[i].code);
		doubt = strstr(strbuf_text(&text), "at least");
		if (!strstr(strbuf_text(&text), rows[i].tells) ||
		    !doubt != (rows[i].tells[0] != 'a'))
			fail_msg("row %zu: %s", i, strbuf_text(&text));
		assert_int_equal(
			phantom_report_code(&target, seen, rows[i].code),
			rows[i].exit_code);
		strbuf_release(&text);
		free(seen);
	}
}

static void write_state(const char *folder, const struct sim_state *state,
			size_t length)
{
	char path[SCRATCH_PATH_MAX];

	assert_int_equal(scratch_write(scratch_path(path, folder, "state"),
				       (const char *)state, length),
			 0);
}

/* With one process that used the card, or with none. */
static void write_seen(const char *folder, bool is_used,
		       enum sim_note_kind kind, const char *text)
{
	struct sim_state *state = calloc(1, sizeof(*state));

	assert_non_null(state);
	state->usages[0].pid = is_used;
	if (text) {
		state->notes[kind].count = 1;
		(void)snprintf(state->notes[kind].text, SIM_NOTE_TEXT_MAX, "%s",
			       text);
	}
	write_state(folder, state, sizeof(*state));
	free(state);
}

/* The peak is kept, and what would look like speed is not. */
static void a_trial_has_no_speed(void **state)
{
	struct options_target target = { .device = DEVICE_PHANTOM,
					 .phantom_folder = *state };
	struct probe_outcome outcome = { .trial = { .verdict = VERDICT_FITS,
						    .micro_batch = 8,
						    .peak_bytes = GIB,
						    .step_seconds = 0.5,
						    .step_mad_seconds = 0.1 },
					 .first_error = "" };
	struct probe_outcome real = outcome;

	write_seen(*state, true, SIM_NOTE_READ, NULL);
	assert_null(phantom_trial_judge(&target, &outcome));
	assert_true(outcome.trial.step_seconds == 0 &&
		    outcome.trial.step_mad_seconds == 0);
	assert_int_equal(outcome.trial.peak_bytes, GIB);
	target.device = DEVICE_CUDA;
	assert_null(phantom_trial_judge(&target, &real));
	assert_true(real.trial.step_seconds > 0);
}

/* When a tuning ends with a refusal, and what that says. */
static void a_trial_may_end_all(void **folder)
{
	static const struct {
		bool is_used;
		enum verdict verdict;
		int status; /* of the command; negative: it was stopped */
		const char *text;
		enum sim_note_kind kind;
		const char *tells; /* NULL: go on */
	} rows[] = {
		{ true, VERDICT_FITS, -1, NULL, 0, NULL },
		{ true, VERDICT_FITS, -1, "nonzero", SIM_NOTE_DATA_SIZE,
		  "at least" },
		{ true, VERDICT_FITS, 0, "a.py:7 asks", SIM_NOTE_VALUE,
		  "(a.py:7 asks)" },
		/* A misfit is one whatever the values are. */
		{ true, VERDICT_OOM_DEVICE, 1, "nonzero", SIM_NOTE_DATA_SIZE,
		  NULL },
		{ true, VERDICT_FAILED, 123, "no cufftExecR2C",
		  SIM_NOTE_REFUSED, "no cufftExecR2C" },
		{ true, VERDICT_FAILED, 1, "", SIM_NOTE_FOREIGN,
		  "carries a CUDA runtime of NVIDIA's inside" },
		{ false, VERDICT_FAILED, 1, "", SIM_NOTE_FOREIGN,
		  "carries a CUDA runtime of NVIDIA's inside" },
		{ true, VERDICT_FAILED, 1, NULL, 0, NULL },
		/* Zeros may be why. */
		{ true, VERDICT_FAILED, 1, "a.py:7 asks", SIM_NOTE_VALUE,
		  "may do so only there: what the program does may depend on "
		  "values, which are zeros on a phantom (a.py:7 asks); only "
		  "probes on the card itself can tell\nKeyError: 7" },
		{ false, VERDICT_FAILED, 1, NULL, 0,
		  "did not use the phantom card before it failed: that takes a "
		  "CUDA build of PyTorch (for CUDA 12 or 13), which finds the "
		  "card "
		  "as any other\nKeyError: 7" },
		/* With PyTorch, an error is the program's own. */
		{ false, VERDICT_FAILED, 1, "", SIM_NOTE_PYTORCH, NULL },
		{ false, VERDICT_FAILED, 0, "", SIM_NOTE_PYTORCH,
		  "did not use the phantom card: that takes" },
		{ false, VERDICT_DISTURBED, -1, NULL, 0, NULL },
	};
	struct options_target target = { .device = DEVICE_PHANTOM,
					 .phantom_folder = *folder };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct probe_outcome outcome = {
			.trial.verdict = rows[i].verdict,
			.evidence.end = { .ended = rows[i].status >= 0,
					  .wait_status = rows[i].status * 256 },
			.first_error = "KeyError: 7",
		};
		char *message;

		write_seen(*folder, rows[i].is_used, rows[i].kind,
			   rows[i].text);
		message = phantom_trial_judge(&target, &outcome);
		if (!message != !rows[i].tells ||
		    (message && !strstr(message, rows[i].tells)))
			fail_msg("row %zu: %s", i, message ? message : "-");
		free(message);
	}
}

/* The command could have written whatever it likes. */
static void a_state_is_hostile(void **folder)
{
	struct options_target target = { .device = DEVICE_PHANTOM,
					 .phantom_folder = *folder };
	struct probe_outcome outcome = { .trial.verdict = VERDICT_OOM_DEVICE,
					 .first_error = "" };
	struct sim_state *state = malloc(sizeof(*state));
	struct phantom_seen *seen = malloc(sizeof(*seen));
	char *message;

	assert_non_null(state);
	assert_non_null(seen);
	assert_int_equal(phantom_look(*folder, seen, NULL), -ENOENT);
	memset(state, 0xff, sizeof(*state));
	write_state(*folder, state, sizeof(*state) - 1);
	assert_int_equal(phantom_look(*folder, seen, NULL), -ENOENT);
	assert_int_equal(seen->usage_count, 0);
	write_state(*folder, state, sizeof(*state));
	assert_int_equal(phantom_look(*folder, seen, NULL), 0);
	assert_int_equal(seen->usage_count, 0); /* of no device */
	assert_int_equal(strlen(seen->notes[0].text), SIM_NOTE_TEXT_MAX - 1);
	/* 0xff is no text: what is told of it is escaped, and ended. */
	message = phantom_trial_judge(&target, &outcome);
	assert_non_null(message);
	assert_null(strchr(message, '\xff'));
	free(message);
	free(seen);
	free(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_words_of_a_card),
		cmocka_unit_test(what_is_told),
		cmocka_unit_test(what_notes_say),
		cmocka_unit_test_setup_teardown(a_trial_has_no_speed,
						scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(a_trial_may_end_all,
						scratch_make, scratch_remove),
		cmocka_unit_test_setup_teardown(a_state_is_hostile,
						scratch_make, scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
