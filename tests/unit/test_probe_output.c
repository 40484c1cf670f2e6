/* The output of a probe: what the log and the texts show of it. */
/* SPDX-License-Identifier: MIT */
/* USES base configs probes */
#include "probes/probe_output.h"

#include "base/alloc.h"
#include "base/textfile.h"
#include "configs/presets/steps.h"

#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define PIECES_MAX 6
#define TOKEN "hf_QwErTyUiOp"

static const struct {
	const char *name;
	/* Each is one reading; a '>' before it: of stderr. */
	const char *pieces[PIECES_MAX];
	const char *log, *first_error, *memory_text, *refused_path;
	bool has_no_secrets;
} rows[] = {
	{ .name = "nothing of it is secret",
	  .pieces = { "step 1\n", "step 2\n" },
	  .log = "step 1\nstep 2\n",
	  .first_error = "step 1\nstep 2\n" },
	{ .name = "no list of secrets",
	  .pieces = { "token " TOKEN "\n" },
	  .log = "token " TOKEN "\n",
	  .first_error = "token " TOKEN "\n",
	  .has_no_secrets = true },
	{ .name = "in one piece",
	  .pieces = { "token " TOKEN "\n" },
	  .log = "token ***\n",
	  .first_error = "token ***\n" },
	{ .name = "cut in three",
	  .pieces = { "token hf_Qw", "ErTyU", "iOp end\n" },
	  .log = "token *** end\n",
	  .first_error = "token *** end\n" },
	{ .name = "the rest of its line comes later",
	  .pieces = { "token " TOKEN, " and", " more\n" },
	  .log = "token *** and more\n",
	  .first_error = "token *** and more\n" },
	{ .name = "one stream goes past what the other holds back",
	  .pieces = { "token hf_Qw", ">warning\n", "ErTyUiOp\n" },
	  .log = "token warning\n***\n",
	  .first_error = "warning\ntoken ***\n" },
	{ .name = "a beginning that is the end",
	  .pieces = { "token hf_Qw" },
	  .log = "token hf_Qw",
	  .first_error = "token hf_Qw\n" },
	{ .name = "coloured within: whole in the line alone",
	  .pieces = { "token hf_Qw\x1b[1mErTyUiOp\x1b[0m\n" },
	  .log = "token hf_Qw\x1b[1mErTyUiOp\x1b[0m\n",
	  .first_error = "token ***\n" },
	{ .name = "user info of a URL, secrets or none",
	  .pieces = { "from https://ann:pass@host/x\n" },
	  .log = "from https://ann:pass@host/x\n",
	  .first_error = "from https://***@host/x\n",
	  .has_no_secrets = true },
	{ .name = "out of memory",
	  .pieces = { ">RuntimeError: CUDA out of memory. Tried to allocate "
		      "20.00 MiB. " TOKEN "\n" },
	  .log = "RuntimeError: CUDA out of memory. Tried to allocate 20.00 "
		 "MiB. ***\n",
	  .first_error = "RuntimeError: CUDA out of memory. Tried to allocate "
			 "20.00 MiB. ***\n",
	  .memory_text = "RuntimeError: CUDA out of memory. Tried to allocate "
			 "20.00 MiB. ***" },
	{ .name = "a refused write",
	  .pieces = { ">PermissionError: [Errno 13] Permission denied: "
		      "'/d/" TOKEN "'\n",
		      ">PermissionError: [Errno 13] Permission denied: "
		      "'/d/later'\n" },
	  .log = "PermissionError: [Errno 13] Permission denied: '/d/***'\n"
		 "PermissionError: [Errno 13] Permission denied: '/d/later'\n",
	  .first_error = "PermissionError: [Errno 13] Permission denied: "
			 "'/d/***'\n"
			 "PermissionError: [Errno 13] Permission denied: "
			 "'/d/later'\n",
	  .refused_path = "/d/***" },
	{ .name = "refused without a name, then with one",
	  .pieces = { "fopen: Permission denied\n",
		      "touch: cannot touch 'x': Permission denied\n" },
	  .log = "fopen: Permission denied\n"
		 "touch: cannot touch 'x': Permission denied\n",
	  .first_error = "fopen: Permission denied\n"
			 "touch: cannot touch 'x': Permission denied\n",
	  .refused_path = "x" },
	{ .name = "refused without a name",
	  .pieces = { "fopen: Permission denied\n" },
	  .log = "fopen: Permission denied\n",
	  .first_error = "fopen: Permission denied\n",
	  .refused_path = "" },
};

/* The output of a probe, without the rest of it. */
struct scene {
	struct probe_spec spec;
	struct probe_clock clock;
	struct probe_gpus gpus;
	struct probe_output *output;
	int ends[2]; /* to write its output to */
	char log_path[SCRATCH_PATH_MAX];
};

static void open_scene(struct scene *scene, const char *folder,
		       const struct strlist *secrets,
		       const struct signatures *signatures)
{
	struct probe_output *output = xcalloc(1, sizeof(*output));

	memset(scene, 0, sizeof(*scene));
	scene->spec.secrets = secrets;
	scene->spec.lines.signatures = signatures;
	scene->spec.log_path = scratch_path(scene->log_path, folder, "log");
	output->clock = &scene->clock;
	scene->gpus.spec = &scene->spec.devices;
	output->gpus = &scene->gpus;
	probe_output_open(output, &scene->spec);
	for (int i = 0; i < 2; i++) {
		int ends[2];

		assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
		output->streams[i].fd = ends[0];
		scene->ends[i] = ends[1];
	}
	scene->output = output;
}

static void say(struct scene *scene, const char *piece)
{
	int stream = *piece == '>';
	size_t length = strlen(piece + stream);

	assert_int_equal(write(scene->ends[stream], piece + stream, length),
			 length);
	assert_true(probe_output_read(&scene->output->streams[stream]));
}

static void finish_scene(struct scene *scene)
{
	for (int i = 0; i < 2; i++)
		(void)close(scene->ends[i]);
	probe_output_finish(scene->output);
	for (int i = 0; i < 2; i++) {
		assert_false(probe_output_read(&scene->output->streams[i]));
		(void)close(scene->output->streams[i].fd);
	}
	assert_int_equal(logfile_close(&scene->output->log, NULL), 0);
}

static void release_scene(struct scene *scene)
{
	probe_output_release(scene->output);
	free(scene->output);
}

static void assert_text(const char *name, const char *what, const char *text,
			const char *expected)
{
	if (!text != !expected || (text && strcmp(text, expected) != 0))
		fail_msg("%s: %s is '%s'", name, what, text ? text : "NULL");
}

static void what_is_shown_has_no_secrets(void **state)
{
	struct strlist secrets = STRLIST_INIT;
	struct signatures *signatures = NULL;

	strlist_add(&secrets, TOKEN);
	assert_int_equal(signatures_load(&signatures, NULL, NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct scene scene;
		struct strbuf log = STRBUF_INIT;

		open_scene(&scene, *state,
			   rows[i].has_no_secrets ? NULL : &secrets,
			   signatures);
		for (size_t j = 0; j < PIECES_MAX && rows[i].pieces[j]; j++)
			say(&scene, rows[i].pieces[j]);
		finish_scene(&scene);
		assert_int_equal(
			textfile_read(scene.log_path, 65536, &log, NULL), 0);
		assert_text(rows[i].name, "the log", strbuf_text(&log),
			    rows[i].log);
		assert_text(rows[i].name, "the first error",
			    strbuf_text(&scene.output->first_error),
			    rows[i].first_error);
		assert_text(rows[i].name, "the memory text",
			    scene.output->memory_text, rows[i].memory_text);
		assert_text(rows[i].name, "the path",
			    scene.output->refused_path, rows[i].refused_path);
		strbuf_release(&log);
		release_scene(&scene);
	}
	signatures_free(signatures);
	strlist_release(&secrets);
}

/* A secret that would be cut by the length of what is kept. */
static void no_part_of_a_secret_is_kept(void **state)
{
	struct strlist secrets = STRLIST_INIT;
	struct signatures *signatures = NULL;
	struct scene scene;
	char *line;

	strlist_add(&secrets, TOKEN);
	assert_int_equal(signatures_load(&signatures, NULL, NULL), 0);
	for (int before = 230; before < 400; before++) {
		open_scene(&scene, *state, &secrets, signatures);
		line = xasprintf("CUDA out of memory. Tried to allocate 20.00 "
				 "MiB %*s" TOKEN "\n",
				 before, "|");
		say(&scene, line);
		free(line);
		finish_scene(&scene);
		assert_null(
			strstr(strbuf_text(&scene.output->first_error), "hf_"));
		assert_non_null(scene.output->memory_text);
		assert_null(strstr(scene.output->memory_text, "hf_"));
		release_scene(&scene);
	}
	signatures_free(signatures);
	strlist_release(&secrets);
}

/* What it says after autofit's own first signal is no evidence. */
static void last_words_refuse_nothing(void **state)
{
	struct signatures *signatures = NULL;
	struct scene scene;

	assert_int_equal(signatures_load(&signatures, NULL, NULL), 0);
	open_scene(&scene, *state, NULL, signatures);
	scene.output->stop_was_sent = true;
	say(&scene, "touch: cannot touch 'x': Permission denied\n");
	finish_scene(&scene);
	assert_null(scene.output->refused_path);
	release_scene(&scene);
	signatures_free(signatures);
}

/* What the hook of a process wrote, and of it what is shown. */
static void last_errors_are_masked_and_shown(void **state)
{
	static const char hooked[] =
		"5 1 ValueError: no \n"
		"Traceback (most recent call last):\n"
		"  File \"a.py\", line 1, in f\n"
		"    f('" TOKEN "')\n"
		"ValueError: no " TOKEN " of https://ann:pass@host\n";
	static const struct {
		const char *line, *first_error;
		bool stop_was_sent;
	} hook_rows[] = {
		{ "ValueError: no " TOKEN "\n",
		  "rank 1:\n  File \"a.py\", line 1, in f\n    f('***')\n"
		  "ValueError: no *** of https://***@host\n",
		  false },
		{ "ValueError: yes\n", "ValueError: yes\n", false },
		{ "ValueError: no " TOKEN "\n", "", true },
	};
	struct strlist secrets = STRLIST_INIT;
	struct signatures *signatures = NULL;
	char path[SCRATCH_PATH_MAX];

	strlist_add(&secrets, TOKEN);
	assert_int_equal(signatures_load(&signatures, NULL, NULL), 0);
	(void)scratch_path(path, *state, "error.71");
	assert_int_equal(scratch_write(path, hooked, strlen(hooked)), 0);
	for (size_t i = 0; i < sizeof(hook_rows) / sizeof(*hook_rows); i++) {
		struct scene scene;

		open_scene(&scene, *state, &secrets, signatures);
		scene.spec.command.scratch = *state;
		scene.output->stop_was_sent = hook_rows[i].stop_was_sent;
		say(&scene, hook_rows[i].line);
		finish_scene(&scene);
		assert_text("hooked", "the first error",
			    strbuf_text(&scene.output->first_error),
			    hook_rows[i].first_error);
		release_scene(&scene);
	}
	signatures_free(signatures);
	strlist_release(&secrets);
}

/* A step is timed by its line, not by when the probe is looked at next. */
static void a_step_is_timed_by_its_line(void **state)
{
	static const struct {
		const char *piece;
		bool is_timed;
	} lines[] = {
		{ "loading\n", false },       { "step 1\n", true },
		{ "loss 0.5\n", false },      { "step 1 again\n", false },
		{ ">a warning\n", false },    { "step 2\nstep 3\n", true },
		{ "step 3, saved\n", false },
	};
	struct strlist patterns = STRLIST_INIT;
	const struct strlist none = STRLIST_INIT;
	struct step_patterns *steps = NULL;
	struct signatures *signatures = NULL;
	struct scene scene;

	strlist_add(&patterns, "step ([0-9]+)");
	assert_int_equal(step_patterns_make(&steps, &patterns, &none, NULL), 0);
	assert_int_equal(signatures_load(&signatures, NULL, NULL), 0);
	open_scene(&scene, *state, NULL, signatures);
	scene.spec.lines.steps = steps;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		scene.output->last_counter_ns = 0;
		say(&scene, lines[i].piece);
		if (lines[i].is_timed != (scene.output->last_counter_ns > 0))
			fail_msg("'%s' at the wrong time", lines[i].piece);
	}
	finish_scene(&scene);
	release_scene(&scene);
	signatures_free(signatures);
	step_patterns_free(steps);
	strlist_release(&patterns);
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_shown_has_no_secrets),
		TEST(a_step_is_timed_by_its_line),
		TEST(no_part_of_a_secret_is_kept),
		TEST(last_words_refuse_nothing),
		TEST(last_errors_are_masked_and_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
