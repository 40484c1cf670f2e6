/* A command while its launchers are taken off: where it stands, and what is
 * known of the environment of what is started. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/wrapper.h"

#include "base/alloc.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/placeholder.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "CUDA_VISIBLE_DEVICES"

const char *wrapper_variable(const struct wrapper *wrapper, const char *name)
{
	return strlist_env_get(&wrapper->environment, name);
}

/* How many are listed; CUDA stops at the first that cannot be. */
static int64_t wrapper_devices_listed(const char *text)
{
	int64_t count = 0;

	while (*text && *text != ',' && *text != '-') {
		count++;
		text += strcspn(text, ",");
		text += *text == ',';
	}
	return count;
}

/*
 * CUDA_VISIBLE_DEVICES=0,1 hides the other devices; but where it was set
 * already, more than it let through may come back.
 */
static void note_devices(const struct wrapper *wrapper, const char *value)
{
	int64_t *visible = &wrapper->view->visible_devices;
	int64_t count = wrapper_devices_listed(value);

	if (count <= *visible)
		*visible = count;
	else if (wrapper_variable(wrapper, DEVICES))
		*visible = 0;
}

static void assign(struct wrapper *wrapper, const char *name, const char *value)
{
	if (strcmp(name, DEVICES) == 0)
		note_devices(wrapper, value);
	strlist_env_set(&wrapper->environment, name, value);
	strlist_env_set(&wrapper->view->assignments, name, value);
}

void wrapper_assign(struct wrapper *wrapper, const char *assignment)
{
	size_t length = strcspn(assignment, "=");
	char *name;

	if (length == 0 || assignment[length] == '\0')
		return;
	name = xstrndup(assignment, length);
	assign(wrapper, name, assignment + length + 1);
	free(name);
}

static void apply_assign(struct wrapper *wrapper, const char *value,
			 const char *second)
{
	if (second)
		assign(wrapper, value, second);
	else
		wrapper_assign(wrapper, value);
}

/* Slurm lets what is set already stand. */
static void apply_export(struct wrapper *wrapper, const char *value,
			 const char *second)
{
	(void)second;
	while (*value) {
		size_t length = strcspn(value, ",");
		char *word = xstrndup(value, length);
		char *name = xstrndup(word, strcspn(word, "="));

		if (!wrapper_variable(wrapper, name))
			wrapper_assign(wrapper, word);
		free(name);
		free(word);
		value += length + (value[length] == ',');
	}
}

static void apply_other_devices(struct wrapper *wrapper, const char *value,
				const char *second)
{
	(void)value;
	(void)second;
	wrapper->view->visible_devices = 0;
}

static void apply_unset(struct wrapper *wrapper, const char *value,
			const char *second)
{
	if (strcmp(value, DEVICES) == 0 && wrapper_variable(wrapper, DEVICES))
		apply_other_devices(wrapper, value, second);
	strlist_env_unset(&wrapper->environment, value);
	strlist_env_unset(&wrapper->view->assignments, value);
}

static void apply_clear(struct wrapper *wrapper, const char *value,
			const char *second)
{
	apply_unset(wrapper, DEVICES, second);
	(void)value;
	strlist_release(&wrapper->environment);
	strlist_release(&wrapper->view->assignments);
}

static const struct {
	enum launch_word word;
	void (*apply)(struct wrapper *wrapper, const char *value,
		      const char *second);
} actions[] = {
	{ SAYS_ASSIGN, apply_assign },
	{ SAYS_EXPORT, apply_export },
	{ SAYS_UNSET, apply_unset },
	{ SAYS_CLEAR, apply_clear },
	{ SAYS_OTHER_DEVICES, apply_other_devices },
};

void wrapper_apply(struct wrapper *wrapper, enum launch_word word,
		   const char *value, const char *second)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (actions[i].word == word)
			actions[i].apply(wrapper, value, second);
}

enum command_outcome launch_fail(const struct wrapper *wrapper,
				 enum command_outcome outcome,
				 const char *format, ...)
{
	char message[sizeof(wrapper->err->message)];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	(void)error_set(wrapper->err, -EINVAL, "%s", message);
	return outcome;
}

const char *wrapper_here(const struct wrapper *wrapper)
{
	return wrapper->at < wrapper->argv->count
		       ? wrapper->argv->items[wrapper->at]
		       : NULL;
}

const struct word *wrapper_word(const struct wrapper *wrapper, size_t index)
{
	const struct shell_expansion *expansion = &wrapper->view->expansion;

	return wrapper->argv == &expansion->argv && expansion->words
		       ? &expansion->words[index]
		       : NULL;
}

enum command_outcome wrapper_check_known(const struct wrapper *wrapper)
{
	const struct word *word = wrapper_word(wrapper, wrapper->at);
	char text[BRIEF_MAX];

	if (!word || !word->is_opaque)
		return COMMAND_OK;
	return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
			   "what %s stands for is not known here, so what is "
			   "started cannot be found: write it out, or put "
			   "autofit in front of the training command itself",
			   argument_brief(text, wrapper_here(wrapper)));
}

enum command_outcome wrapper_no_program(const struct wrapper *wrapper,
					const char *launcher)
{
	return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
			   "%s names no program to start", launcher);
}

enum command_outcome wrapper_from_stdin(const struct wrapper *wrapper)
{
	return launch_fail(wrapper, COMMAND_REFUSED,
			   "python reads its program from standard input, "
			   "which only one probe could do: write it to a file");
}

enum command_outcome wrapper_script(struct wrapper *wrapper)
{
	const char *script = wrapper_here(wrapper);

	if (strcmp(script, "-") == 0 || argument_is_pipe(script))
		return wrapper_from_stdin(wrapper);
	wrapper->view->script = wrapper->at++;
	wrapper->done = true;
	return COMMAND_OK;
}

static bool list_has_placeholders(const struct strlist *list)
{
	for (size_t i = 0; list && i < list->count; i++)
		if (placeholders_in(list->items[i]))
			return true;
	return false;
}

bool wrapper_has_placeholders(const struct wrapper *wrapper)
{
	return list_has_placeholders(wrapper->argv) ||
	       list_has_placeholders(wrapper->hints->env_templates) ||
	       (wrapper->hints->templates &&
		wrapper->hints->templates->count > 0);
}

enum command_outcome wrapper_as_it_stands(struct wrapper *wrapper)
{
	assert(wrapper->at < wrapper->argv->count);
	wrapper->view->program = wrapper->at;
	wrapper->at = wrapper->argv->count;
	wrapper->done = true;
	return COMMAND_OK;
}
