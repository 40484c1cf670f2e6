/* Peels env, python, torchrun and such until the program itself is found. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/wrappers/unwrap.h"

#include "base/alloc.h"
#include "launcher/command/shell/words/shell.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/wrappers/launch_options.h"
#include "launcher/command/wrappers/launchers.h"
#include "launcher/command/wrappers/unwrap_python.h"
#include "launcher/command/wrappers/unwrap_unknown.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* It is taken as it stands, with placeholders, or not at all. */
static enum command_outcome wrapper_opaque(struct wrapper *wrapper,
					   const struct launcher *row)
{
	char text[BRIEF_MAX];

	if (!wrapper_has_placeholders(wrapper))
		return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
				   "%s hides the training command: write "
				   "{micro} where its batch size belongs, or "
				   "%s",
				   argument_brief(text, wrapper_here(wrapper)),
				   row->advice);
	if (row->outside && !wrapper->view->outside)
		wrapper->view->outside =
			launcher_name(row, wrapper_here(wrapper));
	return wrapper_as_it_stands(wrapper);
}

/*
 * BS=4 in front of the command inside the shell's text, or exported by it. A
 * value that is not known must not be taken for the one from outside.
 */
static void note_shell_assignments(struct wrapper *wrapper, size_t from)
{
	const struct shell_expansion *expansion = &wrapper->view->expansion;

	assert(expansion->inner <= expansion->argv.count);
	for (size_t i = from; i < expansion->inner; i++) {
		const char *text = expansion->argv.items[i];
		char *name;

		if (expansion->words[i].origin == WORD_ARGUMENT ||
		    *text == '-' || !strchr(text, '='))
			continue;
		if (!expansion->words[i].is_opaque) {
			wrapper_assign(wrapper, text);
			continue;
		}
		name = xstrndup(text, strcspn(text, "="));
		if (strcmp(name, "CUDA_VISIBLE_DEVICES") == 0)
			wrapper_apply(wrapper, SAYS_OTHER_DEVICES, "", NULL);
		strlist_env_set(&wrapper->environment, name, strchr(text, '='));
		free(name);
	}
}

static enum command_outcome wrapper_itself(struct wrapper *wrapper)
{
	wrapper->view->program = wrapper->at++;
	wrapper->done = true;
	return COMMAND_OK;
}

static enum command_outcome shell_again(const struct wrapper *wrapper)
{
	const struct strlist *argv = wrapper->argv;
	size_t at = wrapper->at;
	char script[BRIEF_MAX];

	if (at + 1 < argv->count && *argv->items[at + 1] != '-')
		at++;
	return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
			   "a shell inside a shell, %s, is not understood: "
			   "write autofit -- in front of that one, or of the "
			   "training itself",
			   argument_brief(script, argv->items[at]));
}

static enum command_outcome wrapper_shell(struct wrapper *wrapper)
{
	struct shell_expansion *expansion = &wrapper->view->expansion;
	bool is_known =
		wrapper->hints->environment || wrapper->environment.count;
	const struct shell_call call = {
		.argv = wrapper->argv,
		.at = wrapper->at,
		.environment = is_known ? &wrapper->environment : NULL,
		.looks_inside = wrapper->hints->looks_inside,
	};
	enum command_outcome outcome;

	if (wrapper->shell_is_taken)
		return shell_again(wrapper);
	wrapper->shell_is_taken = true;
	wrapper->view->has_shell = true;
	if (wrapper->hints->shells_are_programs)
		return wrapper_itself(wrapper);
	outcome = shell_command_expand(expansion, &call, wrapper->texts,
				       wrapper->err);
	/* The user says where the sizes belong: the rest need not be known. */
	if (outcome == COMMAND_NOT_RECOGNISED &&
	    wrapper_has_placeholders(wrapper)) {
		shell_expansion_release(expansion);
		return wrapper_as_it_stands(wrapper);
	}
	if (outcome != COMMAND_OK)
		return outcome;
	note_shell_assignments(wrapper, call.at);
	wrapper->argv = &expansion->argv;
	wrapper->at = expansion->inner;
	return wrapper_here(wrapper) ? wrapper_check_known(wrapper)
				     : wrapper_no_program(wrapper, "the shell");
}

/* Whoever starts it may end its own words: "ipython train.py -- --bs 8". */
static enum command_outcome wrapper_started_script(struct wrapper *wrapper)
{
	enum command_outcome outcome = wrapper_script(wrapper);
	const char *next = wrapper_here(wrapper);

	if (outcome == COMMAND_OK && wrapper->view->starter && next &&
	    strcmp(next, "--") == 0)
		wrapper->at++;
	return outcome;
}

/* A program of its own; one that is written in Python can be read. */
static enum command_outcome wrapper_program(struct wrapper *wrapper)
{
	const char *program = wrapper_here(wrapper);
	size_t length = strlen(program);

	wrapper->view->program = wrapper->at;
	if (strcmp(program, "-") == 0 || argument_is_pipe(program) ||
	    (length > 3 && strcmp(program + length - 3, ".py") == 0))
		return wrapper_hands_on(wrapper, false)
			       ? COMMAND_OK
			       : wrapper_started_script(wrapper);
	return wrapper_starts_another(wrapper) ? COMMAND_OK
					       : wrapper_itself(wrapper);
}

/* Every turn leaves at least one argument behind, or takes a shell apart. */
static enum command_outcome wrapper_next(struct wrapper *wrapper)
{
	const char *program = wrapper_here(wrapper);
	const struct launcher *row =
		program ? launcher_find(wrapper->launchers, program) : NULL;

	if (!program)
		return wrapper_no_program(wrapper, "the command");
	if (!row)
		return wrapper_program(wrapper);
	if (row->kind == LAUNCHER_PYTHON)
		return wrapper_python(wrapper);
	if (row->kind == LAUNCHER_SHELL)
		return wrapper_shell(wrapper);
	if (row->kind == LAUNCHER_OPAQUE)
		return wrapper_opaque(wrapper, row);
	wrapper->at++;
	return wrapper_launcher(wrapper, row, launcher_is_whole(row, program));
}

/* Every probe would find such a pipe empty but the first. */
static enum command_outcome check_pipes(const struct wrapper *wrapper)
{
	for (size_t i = wrapper->view->args; i < wrapper->argv->count; i++) {
		const char *text = wrapper->argv->items[i];
		const char *value = strchr(text, '=');
		char shown[BRIEF_MAX];

		if (!argument_is_pipe(text) &&
		    !(value && argument_is_pipe(value + 1)))
			continue;
		return launch_fail(
			wrapper, COMMAND_REFUSED,
			"argument %zu, %s, is a pipe, which only one "
			"probe could read: write it to a file",
			i, argument_brief(shown, text));
	}
	return COMMAND_OK;
}

/* Fewer are looked at: KEY VALUE words may be among them. */
#define PLAIN_RUN_MIN 64

static void find_plain(struct command_view *view, const struct strlist *argv)
{
	size_t longest = PLAIN_RUN_MIN - 1;
	size_t start = view->args;

	for (size_t i = view->args; i < view->end; i++) {
		if (!argument_is_plain(argv->items[i])) {
			start = i + 1;
		} else if (i + 1 - start > longest) {
			longest = i + 1 - start;
			view->plain_start = start;
			view->plain_end = i + 1;
		}
	}
	assert(view->plain_start <= view->plain_end &&
	       view->plain_end <= view->end);
}

static enum command_outcome unwrap_finish(struct wrapper *wrapper)
{
	struct command_view *view = wrapper->view;

	view->args = wrapper->at;
	view->end = view->args;
	while (view->end < wrapper->argv->count &&
	       strcmp(wrapper->argv->items[view->end], "--") != 0)
		view->end++;
	assert(view->args <= view->end);
	find_plain(view, wrapper->argv);
	return check_pipes(wrapper);
}

/* BS=8 python train.py: what only a shell takes out of its way. */
static enum command_outcome check_first(const struct wrapper *wrapper)
{
	const char *first =
		wrapper->argv->count ? wrapper->argv->items[0] : NULL;
	size_t length = first ? shell_name_length(first, strlen(first)) : 0;

	if (!first)
		return launch_fail(wrapper, COMMAND_USAGE,
				   "there is no command to start");
	if (length && first[length] == '=')
		return launch_fail(wrapper, COMMAND_USAGE,
				   "%.*s= sets a variable and is no program: "
				   "put it in front of autofit, or env in "
				   "front of it",
				   (int)length, first);
	return COMMAND_OK;
}

enum command_outcome command_unwrap(struct command_view *view,
				    const struct strlist *argv,
				    const struct command_sources *sources,
				    struct error *err)
{
	const struct command_hints *hints = sources->hints;
	struct wrapper wrapper = { .view = view,
				   .argv = argv,
				   .hints = hints,
				   .launchers = sources->launchers,
				   .presets = sources->presets,
				   .texts = sources->texts,
				   .err = err };
	enum command_outcome outcome = check_first(&wrapper);

	*view = (struct command_view){ .program = NO_INDEX,
				       .script = NO_INDEX,
				       .module = NO_INDEX,
				       .code = NO_INDEX,
				       .visible_devices =
					       hints->visible_devices,
				       .world = 1,
				       .nodes = 1 };
	if (hints->environment)
		strlist_add_all(&wrapper.environment,
				(const char *const *)hints->environment->items,
				hints->environment->count);
	while (outcome == COMMAND_OK && !wrapper.done)
		outcome = wrapper_next(&wrapper);
	if (outcome == COMMAND_OK)
		outcome = unwrap_finish(&wrapper);
	strlist_release(&wrapper.environment);
	return outcome;
}

void command_view_release(struct command_view *view)
{
	shell_expansion_release(&view->expansion);
	strlist_release(&view->assignments);
	strlist_release(&view->setting_options);
	strlist_release(&view->pair_keys);
	free(view->launcher);
	view->launcher = NULL;
}
