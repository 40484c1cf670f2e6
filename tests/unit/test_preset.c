/* Every preset is whole, and does what its own examples say. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "configs/presets/preset.h"
#include "launcher/command/recognise.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/command_outcome.h"

#include "base/alloc.h"
#include "base/textfile.h"
#include "configs/files/builtin.h"
#include "configs/presets/steps.h"
#include "estimator/options.h"
#include "tests/unit/command_sample.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static int load(void **state)
{
	static struct presets presets;
	int result = presets_load(&presets, NULL, NULL);

	*state = &presets;
	presets_read_all(&presets);
	return result;
}

static int unload(void **state)
{
	presets_release(*state);
	return 0;
}

/* The lines of a copy that differ, and the text with its path as {copy}. */
static char *differences(const struct file_copy *copy, const char *before)
{
	struct strbuf out = STRBUF_INIT;
	const char *after = copy->text;

	strbuf_adds(&out, "");
	while (*after) {
		size_t a = strcspn(after, "\n"), b = strcspn(before, "\n");

		if (a != b || memcmp(after, before, a) != 0)
			strbuf_addf(&out, "%s%.*s", out.length ? "\n" : "",
				    (int)a, after);
		after += a + (after[a] == '\n');
		before += b + (before[b] == '\n');
	}
	return strbuf_detach(&out);
}

static void name_copies(struct rewrite *run)
{
	for (size_t i = 0; i < run->argv.count; i++) {
		const char *text = run->argv.items[i];
		const char *path = run->copy_count
					   ? strstr(text, run->copies[0].path)
					   : NULL;

		if (path) {
			char *named = xasprintf("%.*s{copy}",
						(int)(path - text), text);

			strlist_replace(&run->argv, i, named);
			free(named);
		}
	}
}

static void check_refused(const struct preset *preset,
			  const struct preset_example *example,
			  enum command_outcome outcome, const char *message)
{
	if (outcome == COMMAND_OK)
		fail_msg("%s, %s: is not refused", preset->name, example->name);
	if (!strstr(message, example->refused))
		fail_msg("%s, %s: %s", preset->name, example->name, message);
}

static void check_rewrite(const struct preset *preset,
			  const struct preset_example *example,
			  const struct command *command)
{
	const struct command_values values = {
		.micro_batch = example->micro_batch,
		.grad_accum = example->grad_accum,
	};
	struct error err = ERROR_INIT;
	struct rewrite run;
	char *text, *changed;

	if (command_rewrite(command, &values, &run, &err) < 0)
		fail_msg("%s, %s: %s", preset->name, example->name,
			 err.message);
	name_copies(&run);
	text = joined(&run.argv);
	if (strcmp(text, example->expected) != 0)
		fail_msg("%s, %s: becomes %s", preset->name, example->name,
			 text);
	free(text);
	changed = run.copy_count ? differences(&run.copies[0], example->text)
				 : strdup("");
	if (strcmp(changed, example->changed ? example->changed : "") != 0)
		fail_msg("%s, %s: the copy has %s", preset->name, example->name,
			 changed);
	free(changed);
	rewrite_release(&run);
}

/* What was written is read again as that, and once more changes nothing. */
static void check_again(const struct presets *presets,
			const struct command *command,
			const struct preset_example *example)
{
	const struct command_hints hints = { 0 };
	const struct command_values values = {
		.micro_batch = example->micro_batch,
		.grad_accum = example->grad_accum,
	};
	struct sample sample = { .presets = presets,
				 .hints = &hints,
				 .source = example->source,
				 .path = example->file,
				 .text = example->text };
	struct error err = ERROR_INIT;
	struct rewrite run, again;
	struct command second;

	assert_int_equal(command_rewrite(command, &values, &run, &err), 0);
	if (run.copy_count) {
		sample.path = run.copies[0].path;
		sample.text = run.copies[0].text;
	}
	if (sample_recognise(&second, &run.argv, &sample, &err) != COMMAND_OK)
		fail_msg("%s, %s: again: %s", command->preset->name,
			 example->name, err.message);
	if (second.batch.micro_batch != example->micro_batch ||
	    second.batch.grad_accum != example->grad_accum)
		fail_msg("%s, %s: again: %s", command->preset->name,
			 example->name, second.assumption);
	assert_int_equal(command_rewrite(&second, &values, &again, &err), 0);
	assert_true(strlist_equal(&run.argv, &again.argv));
	command_release(&second);
	rewrite_release(&run);
	rewrite_release(&again);
}

static void check_example(const struct presets *presets,
			  const struct preset *preset,
			  const struct preset_example *example)
{
	const struct command_hints hints = { 0 };
	const struct sample sample = { .presets = presets,
				       .hints = &hints,
				       .source = example->source,
				       .path = example->file,
				       .text = example->text };
	struct strlist argv = words(example->command);
	struct error err = ERROR_INIT;
	struct command command;
	enum command_outcome outcome;

	outcome = sample_recognise(&command, &argv, &sample, &err);
	if (example->refused) {
		check_refused(preset, example, outcome, err.message);
		command_release(&command);
		strlist_release(&argv);
		return;
	}
	if (outcome != COMMAND_OK)
		fail_msg("%s, %s: %s", preset->name, example->name,
			 err.message);
	if (command.preset != preset)
		fail_msg("%s, %s: taken for %s by %s", preset->name,
			 example->name, command.preset->name,
			 command.preset_evidence);
	if (command.batch.effective_batch != example->effective_batch)
		fail_msg("%s, %s: %s", preset->name, example->name,
			 command.assumption);
	check_rewrite(preset, example, &command);
	check_again(presets, &command, example);
	command_release(&command);
	strlist_release(&argv);
}

/* As a user's file, whose examples are read. */
static void read_whole(struct presets *read, const struct preset *preset)
{
	const struct ini_file file = { .path = preset->name,
				       .name = preset->name,
				       .text = preset->text,
				       .length = strlen(preset->text),
				       .is_users = true };
	struct error err = ERROR_INIT;

	if (presets_add(read, &file, &err) < 0)
		fail_msg("%s", err.message);
}

static void examples_hold(void **state)
{
	const struct presets *presets = *state;

	for (size_t i = 0; i < presets->count; i++) {
		const struct preset *preset = &presets->items[i];
		struct presets read = { 0 };
		const struct preset *whole;

		read_whole(&read, preset);
		whole = &read.items[0];
		if (whole->example_count < 2)
			fail_msg("%s has no two examples", preset->name);
		for (size_t k = 0; k < whole->example_count; k++)
			check_example(presets, preset, &whole->examples[k]);
		presets_release(&read);
	}
}

static void patterns_compile(void **state)
{
	const struct presets *presets = *state;

	for (size_t i = 0; i < presets->count; i++) {
		const struct preset *preset = &presets->items[i];
		struct step_patterns *patterns;
		struct error err = ERROR_INIT;

		if (step_patterns_make(&patterns, &preset->log.step_patterns,
				       &preset->log.step_ignore, &err) < 0)
			fail_msg("%s: %s", preset->name, err.message);
		step_patterns_free(patterns);
	}
}

/* Lines as the programs print them, with the step that they show. */
static const struct {
	const char *preset;
	const char *line;
	int64_t step;
} lines[] = {
	{ "hf", " 17%|#6        | 21/120 [00:03<00:15,  6.4it/s]", 21 },
	{ "nanogpt", "iter 20: loss 3.1, time 77.67ms, mfu 1.00%", 20 },
	{ "nanogpt", "step 0: train loss 4.2, val loss 4.2", -1 },
	{ "timm",
	  "Train: 0 [  50/1251 (  4%)]  Loss: 6.9 (6.9)  Time: 0.234s, 546.9/s",
	  50 },
	{ "timm", "Test: [   0/3]  Time: 0.1 (0.1)", -1 },
	{ "torchvision",
	  "Epoch: [0]  [  10/5005]  eta: 0:10:00  lr: 0.1  img/s: 90", 10 },
	{ "lightning-cli",
	  "Epoch 0:  12%|#2        | 6/50 [00:01<00:07, 5it/s]", 6 },
	{ "generic", "step 12 loss 0.5", 12 },
	{ "generic", "global_step=7, loss=1", 7 },
	{ "generic", "epoch 3 done", -1 },
};

static void steps_are_read(void **state)
{
	const struct presets *presets = *state;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const struct preset *preset =
			presets_find(presets, lines[i].preset);
		struct step_patterns *patterns;
		int64_t step;

		assert_non_null(preset);
		assert_int_equal(step_patterns_make(
					 &patterns, &preset->log.step_patterns,
					 &preset->log.step_ignore, NULL),
				 0);
		step = step_patterns_match(patterns, lines[i].line,
					   strlen(lines[i].line));
		if (step != lines[i].step)
			fail_msg("%s: step %lld in: %s", lines[i].preset,
				 (long long)step, lines[i].line);
		step_patterns_free(patterns);
	}
}

static void generic_is_last_and_shared(void **state)
{
	const struct presets *presets = *state;
	const struct preset *generic = presets_find(presets, "generic");

	assert_ptr_equal(generic, &presets->items[presets->count - 1]);
	for (size_t i = 0; i < presets->count; i++) {
		const struct preset *preset = &presets->items[i];

		assert_true(strlist_find(&preset->knobs.decoys, "*eval*") <
			    preset->knobs.decoys.count);
		assert_true(
			strlist_find(&preset->words.neutral_args, "--seed") <
			preset->words.neutral_args.count);
	}
	assert_null(presets_find(presets, "absent"));
}

#define HEAD "[preset]\ndescription = x\n[micro]\nname = --bs\n"

static const struct {
	const char *name;
	const char *text;
	const char *message; /* part of it; NULL: it is a preset */
} texts[] = {
	{ "least", HEAD, NULL },
	{ "unknown key", HEAD "colour = red\n",
	  "dir/p.ini:5: [micro] has no key colour" },
	{ "unknown section", HEAD "[wheel]\nname = x\n",
	  "dir/p.ini:6: [wheel] has no key name" },
	{ "scope", HEAD "scope = both\n", "rank, node, global or total" },
	{ "switch", HEAD "bare = maybe\n", "write yes or no" },
	{ "number", HEAD "default = 8x\n", "dir/p.ini:5: default" },
	{ "below zero", HEAD "default = -8\n", "0 or more" },
	{ "empty", HEAD "[syntax]\ndecoy =\n", "decoy has no value" },
	{ "no description", "[micro]\nname = --bs\n", "no description" },
	{ "no name", "[preset]\ndescription = x\n", "[micro] has no name" },
	{ "half an example", HEAD "[example a]\ncommand = x\nmicro = 1\n",
	  "[example a] needs" },
};

static void wrong_presets_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct presets presets = { 0 };
		struct error err = ERROR_INIT;
		int result = presets_add(
			&presets,
			&(struct ini_file){ .path = "dir/p.ini",
					    .name = "p",
					    .text = texts[i].text,
					    .length = strlen(texts[i].text),
					    .is_users = true },
			&err);

		if (!texts[i].message) {
			assert_int_equal(result, 0);
			assert_string_equal(presets.items[0].name, "p");
		} else if (result >= 0 ||
			   !strstr(err.message, texts[i].message)) {
			fail_msg("%s: %s", texts[i].name, err.message);
		}
		presets_release(&presets);
	}
}

static void a_folder_adds_and_replaces(void **state)
{
	char folder[] = "/tmp/presets-XXXXXX";
	char path[sizeof(folder) + 16];
	struct presets presets;
	struct error err = ERROR_INIT;
	const char *text = HEAD;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(presets_load(&presets, folder, &err), 0);
	presets_release(&presets);
	(void)snprintf(path, sizeof(path), "%s/hf.ini", folder);
	assert_int_equal(textfile_replace(path, 0600, text, strlen(text), NULL),
			 0);
	(void)snprintf(path, sizeof(path), "%s/mine.ini", folder);
	assert_int_equal(textfile_replace(path, 0600, text, strlen(text), NULL),
			 0);
	assert_int_equal(presets_load(&presets, folder, &err), 0);
	assert_string_equal(presets_find(&presets, "hf")->description, "x");
	assert_non_null(presets_find(&presets, "mine"));
	assert_string_equal(presets.items[presets.count - 1].name, "generic");
	presets_release(&presets);
	assert_int_equal(textfile_replace(path, 0600, "[x", 2, NULL), 0);
	assert_true(presets_load(&presets, folder, &err) < 0);
	assert_non_null(strstr(err.message, "mine.ini:1"));
	presets_release(&presets);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/hf.ini", folder);
	(void)unlink(path);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(presets_load(&presets, folder, &err), 0);
	presets_release(&presets);
}

static bool is_memory_option(const char *entry)
{
	for (int i = 0; i < MEMORY_OPTION_KINDS; i++) {
		const char *name =
			memory_option_name((enum memory_option_kind)i);
		size_t length = strlen(name);

		if (strncmp(entry, name, length) == 0 && entry[length] == ' ' &&
		    entry[length + 1])
			return true;
	}
	return false;
}

/* [model] memory: an option of the estimator, and what to write for it. */
static void memory_is_saved_by_what_there_is(void **state)
{
	struct presets presets;
	struct error err = ERROR_INIT;
	size_t count = 0;

	(void)state;
	if (presets_load(&presets, NULL, &err) < 0)
		fail_msg("%s", err.message);
	presets_read_all(&presets);
	for (size_t i = 0; i < presets.count; i++) {
		const struct strlist *entries = &presets.items[i].memory;

		for (size_t k = 0; k < entries->count; k++)
			if (!is_memory_option(entries->items[k]))
				fail_msg("%s: %s", presets.items[i].name,
					 entries->items[k]);
		count += entries->count;
	}
	assert_true(count > 0);
	presets_release(&presets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_hold),
		cmocka_unit_test(patterns_compile),
		cmocka_unit_test(steps_are_read),
		cmocka_unit_test(generic_is_last_and_shared),
		cmocka_unit_test(wrong_presets_are_named),
		cmocka_unit_test(a_folder_adds_and_replaces),
		cmocka_unit_test(memory_is_saved_by_what_there_is),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
