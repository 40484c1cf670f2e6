/* Any command with any files: what is written is read back, nothing else. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/files/named_files.h"
#include "launcher/command/parts/knob.h"
#include "launcher/command/readback.h"
#include "launcher/command/recognise.h"
#include "launcher/command/record_arguments.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/knob_kind.h"
#include "tests/fuzz/fuzz_hints.h"
#include "tests/fuzz/fuzz_shell.h"
#include "tests/launchers.h"

/* Options and words that a rewrite may add, at most. */
#define ADDED_MAX 16

/* What the marks of the input choose. */
static const struct command_values splits[] = {
	{ .micro_batch = 4, .grad_accum = 2 },
	{ .micro_batch = 1, .grad_accum = 16 },
	{ .micro_batch = 65536, .grad_accum = 1 },
	{ .micro_batch = 7, .grad_accum = 3, .steps = 20 },
	{ .micro_batch = 4, .grad_accum = 1, .output = "/o ut", .port = 29501 },
	{ .micro_batch = 8, .grad_accum = 4, .copies = "/state/copies" },
};

static const struct presets *presets(void)
{
	static struct presets loaded;
	struct error err = ERROR_INIT;

	if (!loaded.count && presets_load(&loaded, NULL, &err) < 0)
		fuzz_fail("what is built in loads", err.message);
	return &loaded;
}

static struct command_sources sources_of(struct fuzz_command *input,
					 const struct command_hints *hints)
{
	return (struct command_sources){ .presets = presets(),
					 .launchers = builtin_launchers(),
					 .hints = hints,
					 .texts = &input->texts };
}

static enum command_outcome recognise(struct command *command,
				      const struct strlist *argv,
				      struct fuzz_command *input,
				      const struct command_hints *hints,
				      struct error *err)
{
	const struct command_sources sources = sources_of(input, hints);
	enum command_outcome outcome =
		command_recognise(command, argv, &sources, err);

	fuzz_check(outcome == COMMAND_OK || *err->message,
		   "refused with words");
	return outcome;
}

static bool has_placeholder(const struct command *command)
{
	for (int kind = 0; kind < KNOB_KINDS; kind++)
		if (command->knobs[kind].form == KNOB_PLACEHOLDER)
			return true;
	for (size_t i = 0; i < command->file_count; i++)
		if (command->files[i].is_template)
			return true;
	return false;
}

static void check_command(const struct command *command,
			  const struct strlist *argv)
{
	fuzz_check(strlist_equal(command->given, argv), "it keeps its argv");
	fuzz_check(command->preset && command->assumption,
		   "it has a preset and says what it takes for granted");
	fuzz_check(command->batch.world_size >= 1, "there is a rank");
	if (command->batch.micro_batch && command->batch.effective_batch)
		fuzz_check(command->batch.micro_batch *
					   command->batch.grad_accum *
					   command->batch.world_size ==
				   command->batch.effective_batch,
			   "the product is the effective batch");
	for (int kind = 0; kind < KNOB_KINDS; kind++) {
		const struct knob *knob = &command->knobs[kind];

		if (knob->form == KNOB_SEPARATE || knob->form == KNOB_JOINED)
			fuzz_check(knob->index < command_argv(command)->count,
				   "a knob is in the argv");
		if (knob->form == KNOB_JOINED)
			fuzz_check(knob->offset <=
					   strlen(command_argv(command)
							  ->items[knob->index]),
				   "a value is in its argument");
	}
	for (size_t i = 0; i < command->site_count; i++)
		fuzz_check(
			command->sites[i].file < command->file_count &&
				command->sites[i].setting <
					command->files[command->sites[i].file]
						.settings->count,
			"a value is in its file");
}

/* May the rewrite change this word of the flat argv, and from which byte on? */
static bool may_change(const struct command *command,
		       const struct strlist *followers, size_t index,
		       size_t *offset)
{
	for (int kind = 0; kind < KNOB_KINDS; kind++) {
		const struct knob *knob = &command->knobs[kind];

		if (knob->index != index || knob->form == KNOB_ABSENT ||
		    knob->form == KNOB_DEFAULT)
			continue;
		*offset = knob->form == KNOB_JOINED ? knob->offset : 0;
		return true;
	}
	for (size_t i = 0; i < command->file_count; i++) {
		*offset = command->files[i].offset;
		if (command->files[i].index == index)
			return true;
	}
	for (size_t i = 0; i < command->view.port_count; i++) {
		*offset = command->view.ports[i].offset;
		if (command->view.ports[i].index == index &&
		    !command->view.ports[i].option)
			return true;
	}
	/* What counts micro-steps follows, and what is told. */
	*offset = 0;
	return command->preset->split.micro_step_units.count > 0 ||
	       followers->count > 0 ||
	       strchr(command_argv(command)->items[index], '{');
}

/* All other words are there, in their order, and few between them. */
static void check_words(const struct command *before,
			const struct strlist *followers,
			const struct command *after)
{
	const struct strlist *argv = command_argv(before),
			     *new = command_argv(after);
	size_t at = 0, offset;

	for (size_t i = 0; i < argv->count; i++, at++) {
		const char *word = argv->items[i];

		while (at < new->count && strcmp(new->items[at], word) != 0) {
			if (may_change(before, followers, i, &offset) &&
			    strncmp(new->items[at], word, offset) == 0)
				break;
			at++;
		}
		if (at >= new->count)
			fuzz_fail("what is no knob stays", word);
	}
	fuzz_check(new->count <= argv->count + ADDED_MAX, "little is added");
}

static void check_copies(const struct rewrite *rewrite)
{
	for (size_t i = 0; i < rewrite->copy_count; i++)
		fuzz_check(rewrite->copies[i].path &&
				   rewrite->copies[i].original &&
				   strstr(rewrite->copies[i].path, ".autofit-"),
			   "a copy has its own name");
}

/* The copy lies over it. */
static void replace_text(struct fuzz_command *input,
			 const struct file_copy *copy)
{
	for (size_t i = 0; i < input->texts.count; i++) {
		struct named_file *file = input->texts.items[i];

		if (strcmp(file->path, copy->original) != 0)
			continue;
		source_release(&file->source);
		file->has_source = false;
		strbuf_reset(&file->text);
		strbuf_add(&file->text, copy->text, copy->length);
	}
}

/* What it would find once the copies are written. */
static void add_copies(struct fuzz_command *input,
		       const struct rewrite *rewrite)
{
	for (size_t i = 0; i < rewrite->copy_count; i++) {
		struct strbuf text = STRBUF_INIT;

		if (rewrite->copies[i].covers) {
			replace_text(input, &rewrite->copies[i]);
			continue;
		}
		strbuf_add(&text, rewrite->copies[i].text,
			   rewrite->copies[i].length);
		named_files_add(&input->texts, rewrite->copies[i].path, &text,
				0);
		strbuf_release(&text);
	}
}

/* With what it has already, it is what was given. */
static void check_own(const struct command *command)
{
	const struct command_values own[] = {
		{ 0 },
		{ .micro_batch = command->batch.micro_batch,
		  .grad_accum = command->batch.grad_accum },
	};

	for (int i = 0; i < 2; i++) {
		struct rewrite rewrite;
		struct error err = ERROR_INIT;

		if (command_rewrite(command, &own[i], &rewrite, &err) < 0)
			fuzz_fail("its own values can be written", err.message);
		fuzz_check(rewrite.copy_count == 0, "no copy is needed");
		if (!strlist_equal(&rewrite.argv, command->given))
			fuzz_fail_words("its own values change nothing",
					&rewrite.argv);
		rewrite_release(&rewrite);
	}
}

/* Nothing but the values has changed, and they come back. */
static void check_after(const struct command *command,
			const struct command_values *values,
			const struct strlist *followers,
			const struct command *after)
{
	if (after->batch.micro_batch != values->micro_batch ||
	    after->batch.grad_accum != values->grad_accum)
		fuzz_fail("what was written is read", after->assumption);
	check_words(command, followers, after);
	check_own(after);
}

/* A rewrite that is read otherwise is told apart: it is never started. */
static void check_rewritten(const struct command *command,
			    struct fuzz_command *input,
			    const struct command_hints *hints,
			    const struct command_values *values,
			    struct rewrite *rewrite)
{
	const struct command_sources sources = sources_of(input, hints);
	struct command_hints again = *hints;
	struct strlist environment = STRLIST_INIT;
	struct error err = ERROR_INIT;
	struct command after;
	size_t files = input->texts.count + rewrite->copy_count;

	if (command_read_back(command, values, rewrite, &sources, &err) < 0) {
		fuzz_check(*err.message, "refused with words");
		return;
	}
	strlist_add_all(&environment,
			(const char *const *)input->environment.items,
			input->environment.count);
	strlist_env_change(&environment, &rewrite->environment);
	again.environment = &environment;
	add_copies(input, rewrite);
	if (recognise(&after, &rewrite->argv, input, &again, &err) ==
	    COMMAND_OK)
		check_after(command, values, &rewrite->followers, &after);
	/* A file that nobody asked for before may say anything. */
	else if (input->texts.count == files)
		fuzz_fail("what is read back is recognised", err.message);
	command_release(&after);
	strlist_release(&environment);
}

static int64_t rounded_up(int64_t value, int64_t multiple)
{
	return (value + multiple - 1) / multiple * multiple;
}

/* A split that the command can take. */
static struct command_values choose_values(const struct command *command,
					   const struct fuzz_command *input)
{
	const struct command_constraints *constraints = &command->constraints;
	struct command_values values =
		splits[input->marks[3] % (sizeof(splits) / sizeof(*splits))];
	bool trades = command->knobs[KNOB_ACCUM].form != KNOB_ABSENT ||
		      command->knobs[KNOB_GLOBAL].form != KNOB_ABSENT;

	values.micro_batch =
		rounded_up(values.micro_batch, constraints->micro_multiple_of);
	values.grad_accum =
		rounded_up(values.grad_accum, constraints->accum_multiple_of);
	if (command->knobs[KNOB_MICRO].form == KNOB_ABSENT ||
	    (constraints->micro_divides > 0 &&
	     constraints->micro_divides % values.micro_batch != 0))
		values.micro_batch = command->batch.micro_batch;
	/* A multiple of what it is stays a multiple of what it must be. */
	if (command->preset->split.effective_multiple_of.count > 0) {
		values.micro_batch = command->batch.micro_batch;
		values.grad_accum = 2 * command->batch.grad_accum;
	}
	if (!trades || constraints->one_accum)
		values.grad_accum = command->batch.grad_accum;
	return values;
}

static void use(const struct command *command, struct fuzz_command *input,
		const struct command_hints *hints)
{
	struct command_values values = choose_values(command, input);
	struct command_values probe = values;
	struct strlist identity = STRLIST_INIT;
	struct error err = ERROR_INIT;
	struct rewrite rewrite;
	int result;

	command_record_arguments(command, &identity);
	strlist_release(&identity);
	free(command_flags_text(command, &values));
	if (command->batch.micro_batch && !has_placeholder(command))
		check_own(command);
	/* A probe drops and sets what it likes. */
	probe.is_probe = true;
	probe.confirm_steps = input->marks[5] & 1 ? 20 : 0;
	result = command_rewrite(command, &probe, &rewrite, &err);
	fuzz_check(result == 0 || *err.message, "refused with words");
	check_copies(&rewrite);
	rewrite_release(&rewrite);
	result = command_rewrite(command, &values, &rewrite, &err);
	fuzz_check(result == 0 || *err.message, "refused with words");
	check_copies(&rewrite);
	/*
	 * A variable of --env may stand anywhere in a script. What follows is
	 * the last: it lays the copies over the texts that command was read
	 * from.
	 */
	if (result == 0 && command->batch.micro_batch &&
	    !has_placeholder(command) && !hints->env_templates)
		check_rewritten(command, input, hints, &values, &rewrite);
	rewrite_release(&rewrite);
}

void fuzz_one(const char *data, size_t size)
{
	struct fuzz_command input;
	struct fuzz_hints hints;
	struct command command;
	struct error err = ERROR_INIT;

	fuzz_command_read(&input, data, size);
	fuzz_hints_choose(&hints, &input, presets());
	if (input.argv.count > 0) {
		if (recognise(&command, &input.argv, &input, &hints.hints,
			      &err) == COMMAND_OK) {
			check_command(&command, &input.argv);
			use(&command, &input, &hints.hints);
		}
		command_release(&command);
	}
	fuzz_hints_release(&hints);
	fuzz_command_release(&input);
}
