/* {micro}, {accum}, {steps}, {out}: the user says where values belong. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/knobs/placeholders.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "launcher/command/text/placeholder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum command_outcome usage(const struct recognition *recognition,
				  const struct placeholder *found,
				  const char *what)
{
	(void)error_set(recognition->err, -EINVAL, "{%s}: %s", found->name,
			what);
	return COMMAND_USAGE;
}

/* Its value, if it has one, becomes the knob's. */
static enum command_outcome note_value(const struct recognition *recognition,
				       const struct placeholder *found,
				       struct knob *knob)
{
	char *text = xstrndup(found->value, found->value_length);
	enum command_outcome outcome = COMMAND_OK;
	int64_t value = 0;

	if (found->kind == KNOB_OUTPUT) {
		if (*text == '\0' ||
		    (knob->text && strcmp(knob->text, text) != 0))
			outcome = usage(recognition, found,
					"write one folder after the colon, "
					"the same everywhere");
		free(knob->text);
		knob->text = text;
		return outcome;
	}
	if (!count_parse(text, &value) || (knob->value && knob->value != value))
		outcome = usage(recognition, found,
				"write one whole number after the colon, the "
				"same everywhere");
	knob->value = value;
	free(text);
	return outcome;
}

static enum command_outcome note_all(struct recognition *recognition,
				     const char *text, enum knob_form form,
				     size_t index)
{
	struct placeholder found;
	char shown[BRIEF_MAX];

	for (; placeholder_next(text, &found);
	     text = found.start + found.length) {
		struct knob *knob = &recognition->command->knobs[found.kind];
		enum command_outcome outcome = COMMAND_OK;

		if (knob->form == KNOB_ABSENT) {
			knob->form = form;
			knob->index = index;
			knob->name = xasprintf("{%s}", found.name);
			knob->evidence =
				form == KNOB_ENVIRONMENT
					? xasprintf("--env %s",
						    argument_brief(shown, text))
					: xasprintf("argument %zu", index);
		}
		if (found.value)
			outcome = note_value(recognition, &found, knob);
		if (outcome != COMMAND_OK)
			return outcome;
	}
	return COMMAND_OK;
}

/* The value that the environment has now, where the template is only it. */
static void note_present(const struct recognition *recognition,
			 const char *text)
{
	const struct strlist *environment = recognition->hints->environment;
	const char *equals = strchr(text, '=');
	struct placeholder found;
	const char *value;
	char *name;

	if (!environment || !placeholder_next(equals, &found) || found.value ||
	    found.start != equals + 1 || equals[1 + found.length] ||
	    found.kind > KNOB_GLOBAL)
		return;
	name = xstrndup(text, (size_t)(equals - text));
	value = strlist_env_get(environment, name);
	free(name);
	if (value && !recognition->command->knobs[found.kind].value)
		(void)count_parse(
			value, &recognition->command->knobs[found.kind].value);
}

/* NAME=16, not NAME=${NAME:-16}, in a line of a shell's script. */
static bool line_sets(const char *line, size_t bytes, const char *name,
		      size_t length)
{
	static const char *const before[] = { "export ", "readonly " };

	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
		size_t skipped = strlen(before[i]);

		if (bytes > skipped && memcmp(line, before[i], skipped) == 0) {
			line += skipped;
			bytes -= skipped;
		}
	}
	return bytes > length && memcmp(line, name, length) == 0 &&
	       line[length] == '=' &&
	       !memmem(line + length, bytes - length, name, length);
}

/* A script that sets the variable itself never sees autofit's value. */
static enum command_outcome check_script(const struct recognition *recognition,
					 const char *name, size_t length)
{
	const char *script = recognition->command->view.expansion.script;
	const struct named_file *file =
		script ? named_files_get(recognition->texts, script) : NULL;
	const char *at = file ? strbuf_text(&file->text) : NULL;
	char shown[BRIEF_MAX];

	for (unsigned line = 1; at && *at; line++) {
		size_t bytes;

		at += strspn(at, " \t");
		bytes = strcspn(at, "\n");
		if (line_sets(at, bytes, name, length)) {
			(void)error_set(recognition->err, -EINVAL,
					"--env %.*s: %s:%u sets it itself, "
					"whatever autofit sets it to: write "
					"%.*s=${%.*s:-N} there, with its "
					"present value as N",
					(int)length, name,
					argument_brief(shown, script), line,
					(int)length, name, (int)length, name);
			return COMMAND_USAGE;
		}
		at += bytes + (at[bytes] != '\0');
	}
	return COMMAND_OK;
}

static enum command_outcome
check_variable(const struct recognition *recognition, const char *name,
	       size_t length)
{
	enum command_outcome outcome = check_script(recognition, name, length);

	return outcome == COMMAND_OK ? variable_check(recognition, name, length)
				     : outcome;
}

static enum command_outcome check_template(struct recognition *recognition,
					   const char *text)
{
	struct placeholder found;
	char shown[BRIEF_MAX];
	const char *equals = strchr(text, '=');

	if (equals && equals != text && placeholder_next(equals, &found))
		return check_variable(recognition, text,
				      (size_t)(equals - text));
	(void)error_set(recognition->err, -EINVAL,
			"--env %s sets nothing that changes: write "
			"NAME={micro}, NAME={accum}, NAME={steps:N} or "
			"NAME={out:FOLDER}",
			argument_brief(shown, text));
	return COMMAND_USAGE;
}

/* What the final run is to use cannot be guessed for these. */
static enum command_outcome check_complete(struct recognition *recognition)
{
	const struct knob *steps = &recognition->command->knobs[KNOB_STEPS];
	const struct knob *output = &recognition->command->knobs[KNOB_OUTPUT];

	if (steps->form != KNOB_ABSENT && steps->value == 0) {
		(void)error_set(recognition->err, -EINVAL,
				"{steps} does not say how many steps the real "
				"run takes: write it as {steps:1000}");
		return COMMAND_USAGE;
	}
	if (output->form != KNOB_ABSENT && !output->text) {
		(void)error_set(recognition->err, -EINVAL,
				"{out} does not say where the real run "
				"writes: write it as {out:runs/a}");
		return COMMAND_USAGE;
	}
	return COMMAND_OK;
}

static bool is_handed_on(const struct strlist *argv,
			 const struct placeholder *found)
{
	for (size_t i = 0; i < argv->count; i++)
		if (memmem(argv->items[i], strlen(argv->items[i]), found->start,
			   found->length))
			return true;
	return false;
}

/* One that a script takes for itself stays as it is: nothing is written into
 * what the script makes of it. */
static enum command_outcome check_script_hands_on(struct recognition *r)
{
	const struct strlist *given = r->command->given;
	const struct shell_expansion *expansion = &r->command->view.expansion;
	struct placeholder found;

	for (size_t i = 0; expansion->argv.count && i < given->count; i++)
		for (const char *text = given->items[i];
		     placeholder_next(text, &found);
		     text = found.start + found.length)
			if (!is_handed_on(&expansion->argv, &found)) {
				(void)error_set(
					r->err, -EINVAL,
					"%.*s: the shell does not hand it on "
					"to the command that trains: write it "
					"where \"$@\" passes it on, or give it "
					"by --env NAME=%.*s, with $NAME in its "
					"place",
					(int)found.length, found.start,
					(int)found.length, found.start);
				return COMMAND_USAGE;
			}
	return COMMAND_OK;
}

enum command_outcome placeholders_find(struct recognition *recognition)
{
	const struct strlist *argv = command_argv(recognition->command);
	const struct strlist *templates = recognition->hints->env_templates;
	enum command_outcome outcome = check_script_hands_on(recognition);

	for (size_t i = 0; outcome == COMMAND_OK && i < argv->count; i++)
		outcome = note_all(recognition, argv->items[i],
				   KNOB_PLACEHOLDER, i);
	for (size_t i = 0;
	     outcome == COMMAND_OK && templates && i < templates->count; i++) {
		outcome = check_template(recognition, templates->items[i]);
		if (outcome == COMMAND_OK)
			outcome = note_all(recognition, templates->items[i],
					   KNOB_ENVIRONMENT, NO_INDEX);
		if (outcome == COMMAND_OK)
			note_present(recognition, templates->items[i]);
	}
	for (size_t i = 0;
	     outcome == COMMAND_OK && i < recognition->command->file_count;
	     i++) {
		const struct command_file *file =
			&recognition->command->files[i];

		if (file->is_template)
			outcome = note_all(recognition,
					   strbuf_text(&file->read->text),
					   KNOB_PLACEHOLDER, file->index);
	}
	return outcome == COMMAND_OK ? check_complete(recognition) : outcome;
}
