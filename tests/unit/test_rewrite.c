/* Sizes are written where they belong, and nothing else changes. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/recognise.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/shellquote.h"
#include "tests/unit/command_sample.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define VALUES(micro, accum, step_count, folder, probe)                        \
	{                                                                      \
		.micro_batch = (micro), .grad_accum = (accum),                 \
		.steps = (step_count), .output = (folder), .is_probe = (probe) \
	}

static int load(void **state)
{
	static struct presets presets;

	*state = &presets;
	return presets_load(&presets, NULL, NULL);
}

static int unload(void **state)
{
	presets_release(*state);
	return 0;
}

#define NANOGPT "exec(open('configurator.py').read())"
#define PARSER                                                                 \
	"p.add_argument('-b', '--batch-size', type=int, default=16)\n"         \
	"p.add_argument('--accum', type=int, default=2)\n"

struct row {
	const char *command;
	const char *source;
	struct command_values values;
	const char *expected;
	const char *flags; /* the text to paste; NULL: not looked at */
	struct command_hints hints;
};

static const struct row rows[] = {
	/* Every form keeps its form. */
	{ "./t --bs 8 x",
	  NULL,
	  VALUES(16, 1, 0, NULL, false),
	  "./t --bs 16 x",
	  "--bs 16",
	  { 0 } },
	{ "./t --bs=8 x",
	  NULL,
	  VALUES(16, 1, 0, NULL, false),
	  "./t --bs=16 x",
	  "--bs=16",
	  { 0 } },
	{ "./t -b8 --accum 4",
	  NULL,
	  VALUES(16, 2, 0, NULL, false),
	  "./t -b16 --accum 2",
	  "-b16 --accum 2",
	  { 0 } },
	{ "./t -b=8 --accum=4",
	  NULL,
	  VALUES(16, 2, 0, NULL, false),
	  "./t -b=16 --accum=2",
	  "-b=16 --accum=2",
	  { 0 } },
	{ "./t ++a.bs=8 ga=4",
	  NULL,
	  VALUES(4, 8, 0, NULL, false),
	  "./t ++a.bs=4 ga=8",
	  "++a.bs=4 ga=8",
	  { 0 } },
	{ "python t.py --batch-s 8",
	  PARSER,
	  VALUES(4, 4, 0, NULL, false),
	  "python t.py --batch-s 4 --accum 4",
	  "--batch-s 4 --accum 4",
	  { 0 } },
	/* The same size is the same text; 0 leaves it. */
	{ "./t --bs 08",
	  NULL,
	  VALUES(8, 1, 0, NULL, false),
	  "./t --bs 08",
	  NULL,
	  { 0 } },
	{ "./t --bs 8 --ga 2",
	  NULL,
	  VALUES(0, 0, 0, NULL, false),
	  "./t --bs 8 --ga 2",
	  NULL,
	  { 0 } },
	/* The last occurrence; never behind "--". */
	{ "./t --bs 4 --bs 8 -- --bs 2",
	  NULL,
	  VALUES(16, 1, 0, NULL, false),
	  "./t --bs 4 --bs 16 -- --bs 2",
	  "--bs 16",
	  { 0 } },
	/* Defaults are added where they differ, in front of "--". */
	{ "python t.py",
	  PARSER,
	  VALUES(16, 2, 0, NULL, false),
	  "python t.py",
	  "",
	  { 0 } },
	{ "python t.py --x -- y",
	  PARSER,
	  VALUES(8, 4, 0, NULL, false),
	  "python t.py --x --batch-size 8 --accum 4 -- y",
	  "--batch-size 8 --accum 4",
	  { 0 } },
	{ "python train.py config/a.py --batch_size=4 "
	  "--gradient_accumulation_steps=2 --lr=1",
	  NANOGPT,
	  VALUES(8, 1, 0, NULL, false),
	  "python train.py config/a.py --batch_size=8 "
	  "--gradient_accumulation_steps=1 --lr=1",
	  "--batch_size=8 --gradient_accumulation_steps=1",
	  { 0 } },
	{ "python train.py --x=1",
	  NANOGPT,
	  VALUES(24, 20, 0, NULL, false),
	  "python train.py --x=1 --batch_size=24 "
	  "--gradient_accumulation_steps=20",
	  "--batch_size=24 --gradient_accumulation_steps=20",
	  { 0 } },
	/* What counts over ranks is multiplied back. */
	{ "torchrun --nproc_per_node 4 train.py",
	  NANOGPT,
	  VALUES(24, 5, 0, NULL, false),
	  "torchrun --nproc_per_node 4 train.py --batch_size=24 "
	  "--gradient_accumulation_steps=20",
	  NULL,
	  { 0 } },
	{ "torchrun --nproc_per_node 4 t.py --bs 8",
	  NULL,
	  VALUES(3, 1, 0, NULL, false),
	  "torchrun --nproc_per_node 4 t.py --bs 12",
	  "--bs 12",
	  { .micro_scope = "global" } },
	{ "./t --mbs 8 --bs 64",
	  NULL,
	  VALUES(16, 4, 0, NULL, false),
	  "./t --mbs 16 --bs 64",
	  "--mbs 16 --bs 64",
	  { .global_flag = "--bs" } },
	{ "./t --mbs 8 --bs 64",
	  NULL,
	  VALUES(16, 8, 0, NULL, false),
	  "./t --mbs 16 --bs 128",
	  NULL,
	  { .global_flag = "--bs" } },
	/* Placeholders. */
	{ "./t a{micro}b{accum} {micro:8} {micr} {",
	  NULL,
	  VALUES(16, 2, 0, NULL, false),
	  "./t a16b2 16 {micr} {",
	  "a16b2 16",
	  { 0 } },
	{ "./t --x {micro:8} --y {accum:3}",
	  NULL,
	  VALUES(0, 0, 0, NULL, false),
	  "./t --x 8 --y 3",
	  "--x 8 --y 3",
	  { 0 } },
	{ "./t --x {micro}",
	  NULL,
	  VALUES(0, 0, 0, NULL, false),
	  "./t --x {micro}",
	  NULL,
	  { 0 } },
	{ "torchrun --nproc_per_node {micro:2} x.py --n={steps:10} "
	  "--o={out:runs/a}",
	  NULL,
	  VALUES(2, 1, 0, NULL, false),
	  NULL,
	  NULL,
	  { 0 } },
	{ "./t {micro:2} --n={steps:10} --o={out:runs/a}",
	  NULL,
	  VALUES(2, 1, 0, NULL, false),
	  "./t 2 --n=10 --o=runs/a",
	  NULL,
	  { 0 } },
	{ "./t {micro:2} --n={steps:10} --o={out:runs/a}",
	  NULL,
	  VALUES(2, 1, 23, "/s/1", true),
	  "./t 2 --n=23 --o=/s/1",
	  NULL,
	  { 0 } },
	{ "./t {micro:2} --n={steps:50}",
	  NULL,
	  VALUES(2, 1, 23, "/s/1", true),
	  "./t 2 --n=50",
	  NULL,
	  { 0 } },
	{ "./t --bs {micro:8} --output_dir run-{micro}",
	  NULL,
	  VALUES(4, 1, 0, NULL, false),
	  "./t --bs 4 --output_dir run-4",
	  NULL,
	  { 0 } },
	/* Steps are raised, never lowered; no limit stays none. */
	{ "./t --bs 8 --max_steps 5",
	  NULL,
	  VALUES(8, 1, 23, NULL, true),
	  "./t --bs 8 --max_steps 23",
	  "--bs 8",
	  { 0 } },
	{ "./t --bs 8 --max-steps=500",
	  NULL,
	  VALUES(8, 1, 23, NULL, true),
	  "./t --bs 8 --max-steps=500",
	  NULL,
	  { 0 } },
	{ "./t --bs 8 --steps 5",
	  NULL,
	  VALUES(8, 1, 0, NULL, false),
	  "./t --bs 8 --steps 5",
	  NULL,
	  { 0 } },
	{ "python run_clm.py --max_steps -1 --output_dir o",
	  NULL,
	  VALUES(8, 1, 23, NULL, false),
	  "python run_clm.py --max_steps -1 --output_dir o",
	  NULL,
	  { 0 } },
	{ "./t --bs 8 --steps many",
	  NULL,
	  VALUES(8, 1, 23, NULL, true),
	  "./t --bs 8 --steps many",
	  NULL,
	  { 0 } },
	/* Output. */
	{ "./t --bs 8 --output-dir runs/v1.5",
	  NULL,
	  VALUES(8, 1, 0, "/s", true),
	  "./t --bs 8 --output-dir /s",
	  NULL,
	  { 0 } },
	{ "./t --bs 8 --out a",
	  NULL,
	  VALUES(8, 1, 0, "/s", true),
	  "./t --bs 8 --out /s",
	  NULL,
	  { 0 } },
	{ "./t --bs 8 --outf=a/model.pt",
	  NULL,
	  VALUES(8, 1, 0, "/s", true),
	  "./t --bs 8 --outf=/s/model.pt",
	  NULL,
	  { 0 } },
	{ "./t --bs 8 save_dir=a",
	  NULL,
	  VALUES(8, 1, 0, "/s", true),
	  "./t --bs 8 save_dir=/s",
	  NULL,
	  { 0 } },
	{ "./t --bs 8 --output 10",
	  NULL,
	  VALUES(8, 1, 0, "/s", true),
	  "./t --bs 8 --output 10",
	  NULL,
	  { 0 } },
	{ "./t --bs 8 --out_dir a --resume",
	  NULL,
	  VALUES(8, 1, 0, "/s", true),
	  "./t --bs 8 --out_dir a --resume",
	  NULL,
	  { 0 } },
	{ "python train.py --out_dir=a config/a.py --batch_size=4 "
	  "--gradient_accumulation_steps=2",
	  NANOGPT,
	  VALUES(4, 2, 0, "/s", true),
	  "python train.py --out_dir=a config/a.py --batch_size=4 "
	  "--gradient_accumulation_steps=2 --out_dir=/s --log_interval=1 "
	  "--wandb_log=False --eval_interval=1000000000 --eval_iters=1 "
	  "--always_save_checkpoint=False",
	  NULL,
	  { 0 } },
	{ "python train.py --init_from=resume",
	  NANOGPT,
	  VALUES(12, 40, 0, "/s", true),
	  "python train.py --init_from=resume --log_interval=1 "
	  "--wandb_log=False --eval_interval=1000000000 --eval_iters=1 "
	  "--always_save_checkpoint=False",
	  NULL,
	  { 0 } },
	/* What a probe does without; the run has it. */
	{ "python run_clm.py --output_dir o --resume_from_checkpoint c --x "
	  "--push_to_hub --auto_find_batch_size true --do_train -- a",
	  NULL,
	  VALUES(8, 1, 0, "/s", true),
	  "python run_clm.py --output_dir /s --x --do_train --report_to none "
	  "-- a",
	  NULL,
	  { 0 } },
	{ "python run_clm.py --output_dir o --resume_from_checkpoint=c "
	  "--push_to_hub=1",
	  NULL,
	  VALUES(8, 1, 0, "/s", true),
	  "python run_clm.py --output_dir /s --report_to none",
	  NULL,
	  { 0 } },
	{ "python run_clm.py --output_dir o --push_to_hub --report_to wandb",
	  NULL,
	  VALUES(4, 2, 0, NULL, false),
	  "python run_clm.py --output_dir o --push_to_hub --report_to wandb "
	  "--per_device_train_batch_size 4 --gradient_accumulation_steps 2",
	  "--per_device_train_batch_size 4 --gradient_accumulation_steps 2",
	  { 0 } },
	/* A borrowed name is no reason to add options of its framework. */
	{ "python t.py --per_device_train_batch_size 4",
	  "p.add_argument('--per_device_train_batch_size')",
	  VALUES(2, 1, 23, "/s", true),
	  "python t.py --per_device_train_batch_size 2",
	  NULL,
	  { 0 } },
	{ "python run_clm.py --push_to_hub x",
	  NULL,
	  VALUES(8, 1, 0, "/s", true),
	  "python run_clm.py x --output_dir /s --report_to none",
	  NULL,
	  { 0 } },
};

static void sizes_are_written(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *row = &rows[i];
		struct strlist argv = words(row->command);
		struct strlist result = STRLIST_INIT, changes = STRLIST_INIT;
		struct error err = ERROR_INIT;
		struct command command;
		char *text, *flags;
		enum command_outcome outcome = sample_recognise(
			&command, &argv,
			&(struct sample){ .presets = *state,
					  .hints = &row->hints,
					  .source = row->source },
			&err);

		/* A placeholder that a launcher should count. */
		if (!row->expected) {
			if (outcome == COMMAND_OK)
				fail_msg("%s: is read", row->command);
			command_release(&command);
			strlist_release(&argv);
			continue;
		}
		if (outcome != COMMAND_OK)
			fail_msg("%s: %s", row->command, err.message);
		write_command(&command, &row->values, &result, &changes);
		text = joined(&result);
		flags = command_flags_text(&command, &row->values);
		if (strcmp(text, row->expected) != 0 ||
		    (row->flags && strcmp(flags, row->flags) != 0))
			fail_msg("%s: %s, paste %s", row->command, text, flags);
		assert_int_equal(changes.count, 0);
		free(text);
		free(flags);
		command_release(&command);
		strlist_release(&argv);
		strlist_release(&result);
		strlist_release(&changes);
	}
}

static void the_environment_is_written(void **state)
{
	struct strlist templates = STRLIST_INIT, argv = words("./t");
	struct command_hints hints = { .env_templates = &templates };
	struct command_values values = VALUES(4, 2, 0, NULL, false);
	struct strlist result = STRLIST_INIT, changes = STRLIST_INIT;
	struct command command;
	char *text, *flags;

	strlist_add(&templates, "BS={micro:8}");
	strlist_add(&templates, "ALL=b{micro}a{accum:1}");
	strlist_add(&templates, "OUT={out:runs/a b}");
	assert_int_equal(sample_recognise(&command, &argv,
					  &(struct sample){ .presets = *state,
							    .hints = &hints },
					  NULL),
			 COMMAND_OK);
	write_command(&command, &values, &result, &changes);
	assert_true(strlist_equal(&argv, &result));
	text = joined(&changes);
	assert_string_equal(text, "BS=4 ALL=b4a2 OUT=runs/a b");
	free(text);
	flags = command_flags_text(&command, &values);
	assert_string_equal(flags, "BS=4 ALL=b4a2");
	free(flags);
	command_release(&command);
	strlist_release(&templates);
	strlist_release(&argv);
	strlist_release(&result);
	strlist_release(&changes);
}

static void presets_may_set_variables(void **state)
{
	static const char text[] = "[preset]\ndescription = x\n[micro]\n"
				   "name = --bs\n[probe]\nenv = A=1\n  B\n";
	const struct command_hints hints = { .preset = "p" };
	struct command_values values = { .is_probe = true };
	struct strlist argv = words("./t --bs 8"), result = STRLIST_INIT;
	struct strlist changes = STRLIST_INIT;
	struct presets presets = { 0 };
	struct command command;
	char *shown;

	(void)state;
	assert_int_equal(
		presets_add(&presets,
			    &(struct ini_file){ .path = "p.ini",
						.name = "p",
						.text = text,
						.length = strlen(text) },
			    NULL),
		0);
	assert_int_equal(sample_recognise(&command, &argv,
					  &(struct sample){ .presets = &presets,
							    .hints = &hints },
					  NULL),
			 COMMAND_OK);
	write_command(&command, &values, &result, &changes);
	shown = joined(&changes);
	assert_string_equal(shown, "A=1 B");
	free(shown);
	values.is_probe = false;
	write_command(&command, &values, &result, &changes);
	assert_int_equal(changes.count, 2);
	command_release(&command);
	strlist_release(&argv);
	strlist_release(&result);
	strlist_release(&changes);
	presets_release(&presets);
}

/* Long, empty, with newlines, not UTF-8: all are copied byte for byte. */
/* Options that a fork of a framework may not have. */
static void additions_are_found_in_errors(void **state)
{
	static const struct {
		const char *error;
		bool is_named;
	} table[] = {
		{ "usage: x\nx: unrecognized arguments: --wandb_log=False",
		  true },
		{ "  File \"<string>\", line 14\n"
		  "ValueError: Unknown config key: wandb_log\n",
		  true },
		{ "ValueError: Unknown config key: 'log_interval'", true },
		{ "wandb_log", true },
		{ "    if n % log_interval == 0:\nKeyError: 'train'", false },
		{ "NameError: name 'my_wandb_log' is not defined", false },
		{ "NameError: name 'wandb_logs' is not defined", false },
		{ "", false },
	};
	const struct command_hints hints = { 0 };
	const struct sample sample = {
		.presets = *state,
		.hints = &hints,
		.source = "exec(open('configurator.py').read())",
	};
	struct strlist argv = words("python train.py --batch_size=8");
	struct command command;

	assert_int_equal(sample_recognise(&command, &argv, &sample, NULL),
			 COMMAND_OK);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (command_names_addition(&command, table[i].error) !=
		    table[i].is_named)
			fail_msg("%s", table[i].error);
	command_release(&command);
	strlist_release(&argv);
}

/* A folder of results that was not given, and that the program has not. */
static void an_added_folder_is_found_in_errors(void **state)
{
	static const char error[] =
		"KeyError: \"Override 'output_folder' not found in: ['lr']\"";
	const struct command_hints hints = { 0 };
	const struct sample sample = {
		.presets = *state,
		.hints = &hints,
		.source = "parse_arguments(argv)\nload_hyperpyyaml(file)",
	};
	const char *const commands[] = {
		"python train.py --batch_size=8",
		"python train.py --batch_size=8 --output_folder=runs",
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		struct strlist argv = words(commands[i]);
		struct command command;

		assert_int_equal(
			sample_recognise(&command, &argv, &sample, NULL),
			COMMAND_OK);
		assert_int_equal(command_names_output(&command, error), i == 0);
		assert_false(command_names_output(&command, "KeyError: 'lr'"));
		command_release(&command);
		strlist_release(&argv);
	}
}

static void other_bytes_stay(void **state)
{
	const struct command_hints hints = { 0 };
	const struct command_values values = VALUES(16, 1, 0, NULL, false);
	struct strlist argv = STRLIST_INIT, result = STRLIST_INIT;
	struct strlist changes = STRLIST_INIT;
	char *long_text = xmalloc(100001);
	struct command command;

	memset(long_text, 'x', 100000);
	long_text[100000] = '\0';
	strlist_add(&argv, "./t");
	strlist_add(&argv, "");
	strlist_add(&argv, long_text);
	strlist_addf(&argv, "--%s=8", long_text);
	strlist_add(&argv, "a\nb\tc");
	strlist_add(&argv, "\xff\xfe\x80");
	strlist_add(&argv, "--\xff");
	strlist_add(&argv, "{\"batch_size\": 4}");
	strlist_add(&argv, "-");
	strlist_add(&argv, "---");
	strlist_add(&argv, "=");
	strlist_add(&argv, "--=8");
	strlist_add(&argv, "{micro");
	strlist_add(&argv, "--bs");
	strlist_add(&argv, "8");
	strlist_add(&argv, "");
	assert_int_equal(sample_recognise(&command, &argv,
					  &(struct sample){ .presets = *state,
							    .hints = &hints },
					  NULL),
			 COMMAND_OK);
	write_command(&command, &values, &result, &changes);
	strlist_replace(&argv, 14, "16");
	assert_true(strlist_equal(&argv, &result));
	command_release(&command);
	strlist_release(&argv);
	strlist_release(&result);
	strlist_release(&changes);
	free(long_text);
}

static const struct {
	const char *argument;
	const char *quoted;
} quotes[] = {
	{ "a", "a" },
	{ "--x=8,9:/a@b%c+d_e.f-", "--x=8,9:/a@b%c+d_e.f-" },
	{ "", "''" },
	{ "a b", "'a b'" },
	{ "it's", "'it'\\''s'" },
	{ "'", "''\\'''" },
	{ "$(x) `y` \\ \" ! * ?", "'$(x) `y` \\ \" ! * ?'" },
	{ "~/x", "'~/x'" },
	{ "a\nb", "'a\nb'" },
	{ "\xff", "'\xff'" },
	{ "{a,b}", "'{a,b}'" },
	{ "#x", "'#x'" },
};

static void shells_read_it_back(void **state)
{
	struct strbuf line = STRBUF_INIT, read = STRBUF_INIT,
		      expected = STRBUF_INIT;
	struct strlist argv = STRLIST_INIT;
	char buffer[512];
	size_t length;
	FILE *shell;
	char *all;

	(void)state;
	for (size_t i = 0; i < sizeof(quotes) / sizeof(*quotes); i++) {
		char *text = shell_quote(quotes[i].argument);

		assert_string_equal(text, quotes[i].quoted);
		free(text);
		strlist_add(&argv, quotes[i].argument);
		strbuf_addf(&expected, "%s|", quotes[i].argument);
	}
	all = shell_quote_all(&argv);
	strbuf_addf(&line, "printf '%%s|' %s", all);
	shell = popen(strbuf_text(&line), "r");
	assert_non_null(shell);
	while ((length = fread(buffer, 1, sizeof(buffer), shell)) > 0)
		strbuf_add(&read, buffer, length);
	assert_int_equal(pclose(shell), 0);
	assert_string_equal(strbuf_text(&read), strbuf_text(&expected));
	free(all);
	strlist_release(&argv);
	all = shell_quote_all(&argv);
	assert_string_equal(all, "");
	free(all);
	strbuf_release(&line);
	strbuf_release(&read);
	strbuf_release(&expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_written),
		cmocka_unit_test(the_environment_is_written),
		cmocka_unit_test(presets_may_set_variables),
		cmocka_unit_test(additions_are_found_in_errors),
		cmocka_unit_test(an_added_folder_is_found_in_errors),
		cmocka_unit_test(other_bytes_stay),
		cmocka_unit_test(shells_read_it_back),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
