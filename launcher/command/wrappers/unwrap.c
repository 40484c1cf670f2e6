/* Peels env, python, torchrun and such until the program itself is found. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/command.h"

#include "base/alloc.h"
#include "launcher/command/parts/command_internal.h"
#include "launcher/command/wrappers/launchers.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum command_outcome launch_fail(const struct peel *peel,
				 enum command_outcome outcome,
				 const char *format, ...)
{
	char message[sizeof(peel->err->message)];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	(void)error_set(peel->err, -EINVAL, "%s", message);
	return outcome;
}

const char *peel_here(const struct peel *peel)
{
	return peel->at < peel->argv->count ? peel->argv->items[peel->at]
					    : NULL;
}

const struct word *peel_word(const struct peel *peel, size_t index)
{
	const struct expansion *expansion = &peel->view->expansion;

	return peel->argv == &expansion->argv && expansion->words
		       ? &expansion->words[index]
		       : NULL;
}

enum command_outcome peel_check_known(const struct peel *peel)
{
	const struct word *word = peel_word(peel, peel->at);
	char text[BRIEF_MAX];

	if (!word || !word->is_opaque)
		return COMMAND_OK;
	return launch_fail(peel, COMMAND_NOT_RECOGNISED,
			   "what %s stands for is not known here, so what is "
			   "started cannot be found: write it out, or put "
			   "autofit in front of the training command itself",
			   brief(text, peel_here(peel)));
}

enum command_outcome peel_no_program(const struct peel *peel,
				     const char *launcher)
{
	return launch_fail(peel, COMMAND_NOT_RECOGNISED,
			   "%s names no program to start", launcher);
}

static bool list_has_placeholders(const struct strlist *list)
{
	for (size_t i = 0; list && i < list->count; i++)
		if (placeholders_in(list->items[i]))
			return true;
	return false;
}

static bool has_placeholders(const struct peel *peel)
{
	return list_has_placeholders(peel->argv) ||
	       list_has_placeholders(peel->hints->env_templates) ||
	       (peel->hints->templates && peel->hints->templates->count > 0);
}

static enum command_outcome peel_as_it_stands(struct peel *peel)
{
	peel->view->program = peel->at;
	peel->at = peel->argv->count;
	peel->done = true;
	return COMMAND_OK;
}

/* It is taken as it stands, with placeholders, or not at all. */
static enum command_outcome peel_opaque(struct peel *peel,
					const struct launcher *row)
{
	char text[BRIEF_MAX];

	if (!has_placeholders(peel))
		return launch_fail(peel, COMMAND_NOT_RECOGNISED,
				   "%s hides the training command: write "
				   "{micro} where its batch size belongs, or "
				   "%s",
				   brief(text, peel_here(peel)), row->advice);
	if (row->outside && !peel->view->outside)
		peel->view->outside = launcher_name(row, peel_here(peel));
	return peel_as_it_stands(peel);
}

/*
 * BS=4 in front of the command inside the shell's text, or exported by it. A
 * value that is not known must not be taken for the one from outside.
 */
static void note_shell_assignments(struct peel *peel, size_t from)
{
	const struct expansion *expansion = &peel->view->expansion;

	for (size_t i = from; i < expansion->inner; i++) {
		const char *text = expansion->argv.items[i];
		char *name;

		if (expansion->words[i].origin == WORD_ARGUMENT ||
		    *text == '-' || !strchr(text, '='))
			continue;
		if (!expansion->words[i].is_opaque) {
			peel_assign(peel, text);
			continue;
		}
		name = xstrndup(text, strcspn(text, "="));
		if (strcmp(name, "CUDA_VISIBLE_DEVICES") == 0)
			peel_apply(peel, SAYS_OTHER_DEVICES, "", NULL);
		strlist_env_set(&peel->environment, name, strchr(text, '='));
		free(name);
	}
}

static enum command_outcome peel_itself(struct peel *peel)
{
	peel->view->program = peel->at++;
	peel->done = true;
	return COMMAND_OK;
}

static enum command_outcome peel_shell(struct peel *peel)
{
	struct expansion *expansion = &peel->view->expansion;
	bool is_known = peel->hints->environment || peel->environment.count;
	const struct shell_call call = {
		.argv = peel->argv,
		.at = peel->at,
		.environment = is_known ? &peel->environment : NULL,
		.looks_inside = peel->hints->looks_inside,
	};
	enum command_outcome outcome;

	if (peel->shell_is_taken)
		return launch_fail(peel, COMMAND_NOT_RECOGNISED,
				   "a shell inside a shell is not understood: "
				   "put autofit in front of the training "
				   "command itself");
	peel->shell_is_taken = true;
	peel->view->has_shell = true;
	if (peel->hints->shells_are_programs)
		return peel_itself(peel);
	outcome = expand_shell(expansion, &call, peel->texts, peel->err);
	/* The user says where the sizes belong: the rest need not be known. */
	if (outcome == COMMAND_NOT_RECOGNISED && has_placeholders(peel)) {
		expansion_release(expansion);
		return peel_as_it_stands(peel);
	}
	if (outcome != COMMAND_OK)
		return outcome;
	note_shell_assignments(peel, call.at);
	peel->argv = &expansion->argv;
	peel->at = expansion->inner;
	return peel_here(peel) ? peel_check_known(peel)
			       : peel_no_program(peel, "the shell");
}

/* A program of its own; one that is written in Python can be read. */
static enum command_outcome peel_program(struct peel *peel)
{
	const char *program = peel_here(peel);
	size_t length = strlen(program);

	peel->view->program = peel->at;
	if (strcmp(program, "-") == 0 || peel_is_pipe(program) ||
	    (length > 3 && strcmp(program + length - 3, ".py") == 0))
		return peel_script(peel);
	return peel_itself(peel);
}

/* Every turn leaves at least one argument behind, or takes a shell apart. */
static enum command_outcome peel_next(struct peel *peel)
{
	const char *program = peel_here(peel);
	const struct launcher *row = program ? launcher_find(program) : NULL;

	if (!program)
		return peel_no_program(peel, "the command");
	if (!row)
		return peel_program(peel);
	if (row->kind == LAUNCHER_PYTHON)
		return peel_python(peel);
	if (row->kind == LAUNCHER_SHELL)
		return peel_shell(peel);
	if (row->kind == LAUNCHER_OPAQUE)
		return peel_opaque(peel, row);
	peel->at++;
	return peel_launcher(peel, row, launcher_is_whole(row, program));
}

/* Every probe would find such a pipe empty but the first. */
static enum command_outcome check_pipes(const struct peel *peel)
{
	for (size_t i = peel->view->args; i < peel->argv->count; i++) {
		const char *text = peel->argv->items[i];
		const char *value = strchr(text, '=');
		char shown[BRIEF_MAX];

		if (!peel_is_pipe(text) && !(value && peel_is_pipe(value + 1)))
			continue;
		return launch_fail(
			peel, COMMAND_REFUSED,
			"argument %zu, %s, is a pipe, which only one "
			"probe could read: write it to a file",
			i, brief(shown, text));
	}
	return COMMAND_OK;
}

static void find_plain(struct command_view *view, const struct strlist *argv)
{
	size_t start = view->args;

	for (size_t i = view->args; i < view->end; i++) {
		if (!token_is_plain(argv->items[i])) {
			start = i + 1;
		} else if (i + 1 - start >
			   view->plain_end - view->plain_start) {
			view->plain_start = start;
			view->plain_end = i + 1;
		}
	}
}

static enum command_outcome finish(struct peel *peel)
{
	struct command_view *view = peel->view;

	view->args = peel->at;
	view->end = view->args;
	while (view->end < peel->argv->count &&
	       strcmp(peel->argv->items[view->end], "--") != 0)
		view->end++;
	find_plain(view, peel->argv);
	return check_pipes(peel);
}

enum command_outcome command_unwrap(struct command_view *view,
				    const struct strlist *argv,
				    const struct command_hints *hints,
				    struct texts *texts, struct error *err)
{
	struct peel peel = { .view = view,
			     .argv = argv,
			     .hints = hints,
			     .texts = texts,
			     .err = err };
	enum command_outcome outcome = COMMAND_OK;

	*view = (struct command_view){ .program = NO_INDEX,
				       .script = NO_INDEX,
				       .module = NO_INDEX,
				       .code = NO_INDEX,
				       .visible_devices =
					       hints->visible_devices,
				       .world = 1 };
	if (argv->count == 0)
		return launch_fail(&peel, COMMAND_USAGE,
				   "there is no command to start");
	if (hints->environment)
		strlist_add_all(&peel.environment,
				(const char *const *)hints->environment->items,
				hints->environment->count);
	while (outcome == COMMAND_OK && !peel.done)
		outcome = peel_next(&peel);
	if (outcome == COMMAND_OK)
		outcome = finish(&peel);
	strlist_release(&peel.environment);
	return outcome;
}

void command_view_release(struct command_view *view)
{
	expansion_release(&view->expansion);
	strlist_release(&view->assignments);
	free(view->launcher);
	view->launcher = NULL;
}
