/* Peels env, python, torchrun and such until the program itself is found. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command.h"

#include "base/alloc.h"
#include "launcher/command_internal.h"
#include "launcher/launchers.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void set_launcher(struct peel *peel, const struct launcher *row)
{
	free(peel->view->launcher);
	peel->view->launcher =
		row->subcommand ? xasprintf("%s %s", row->name, row->subcommand)
				: xstrdup(row->name);
}

/* peel->at is the first argument of the launcher. */
static enum command_outcome peel_ranks(struct peel *peel,
				       const struct launcher *row)
{
	struct launch launch = { .row = row };
	enum command_outcome outcome;

	if (peel->view->launcher) {
		(void)error_set(peel->err, -EINVAL,
				"%s inside %s: which ranks train cannot be "
				"told",
				row->name, peel->view->launcher);
		return COMMAND_NOT_RECOGNISED;
	}
	set_launcher(peel, row);
	outcome = launch_options_read(peel, &launch);
	if (outcome == COMMAND_OK)
		outcome = launch_check_nodes(peel, &launch);
	if (outcome == COMMAND_OK)
		outcome = launch_count_ranks(peel, &launch);
	if (outcome != COMMAND_OK || launch.no_python)
		return outcome;
	peel->view->program = peel->at;
	if (launch.module)
		peel->view->module = peel->at;
	else
		peel->view->script = peel->at;
	peel->at++;
	peel->done = true;
	return COMMAND_OK;
}

static enum command_outcome from_stdin(const struct peel *peel)
{
	(void)error_set(peel->err, -EINVAL,
			"python reads its program from standard input, which "
			"only one probe could do: write it to a file");
	return COMMAND_REFUSED;
}

static bool is_pipe_path(const char *path)
{
	return strcmp(path, "/dev/stdin") == 0 ||
	       strncmp(path, "/dev/fd/", 8) == 0 ||
	       strncmp(path, "/proc/self/fd/", 14) == 0;
}

/* The word after -m or -c at peel->at; glued is what stands behind it. */
static enum command_outcome peel_inline(struct peel *peel, char letter,
					const char *glued)
{
	struct command_view *view = peel->view;
	const struct launcher *row;

	if (*glued) {
		(void)error_set(peel->err, -EINVAL,
				"python -%c: write what follows as an argument "
				"of its own",
				letter);
		return COMMAND_NOT_RECOGNISED;
	}
	if (peel->at + 1 >= peel->argv->count) {
		(void)error_set(peel->err, -EINVAL,
				"python -%c names no %s: there is nothing to "
				"start",
				letter, letter == 'm' ? "module" : "code");
		return COMMAND_UNREADABLE;
	}
	peel->at += 2;
	if (letter == 'c') {
		view->code = peel->at - 1;
		peel->done = true;
		return COMMAND_OK;
	}
	row = launcher_find_module(peel->argv->items[peel->at - 1]);
	if (row)
		return peel_ranks(peel, row);
	view->module = peel->at - 1;
	peel->done = true;
	return COMMAND_OK;
}

/*
 * The single-letter options of one argument; the whole is done when -m or -c
 * was among them.
 */
static enum command_outcome peel_letters(struct peel *peel, bool *is_last)
{
	const char *text = peel->argv->items[peel->at];
	char shown[BRIEF_MAX];

	for (const char *letter = text + 1; *letter; letter++) {
		if (*letter == 'm' || *letter == 'c') {
			*is_last = true;
			return peel_inline(peel, *letter, letter + 1);
		}
		if (*letter == 'W' || *letter == 'X') {
			peel->at += letter[1] ? 1 : 2;
			return COMMAND_OK;
		}
		if (isalpha((unsigned char)*letter))
			continue;
		(void)error_set(peel->err, -EINVAL,
				"python: the option %s is not understood",
				brief(shown, text));
		return COMMAND_NOT_RECOGNISED;
	}
	peel->at++;
	return COMMAND_OK;
}

/* Options of python; is_last once -m or -c ended them. */
static enum command_outcome peel_python_options(struct peel *peel,
						bool *is_last)
{
	enum command_outcome outcome = COMMAND_OK;
	char shown[BRIEF_MAX];

	while (outcome == COMMAND_OK && !*is_last &&
	       peel->at < peel->argv->count) {
		const char *text = peel->argv->items[peel->at];

		if (text[0] != '-' || text[1] == '\0')
			break;
		if (text[1] != '-') {
			outcome = peel_letters(peel, is_last);
		} else if (text[2] == '\0') {
			peel->at++;
			break;
		} else if (strcmp(text, "--check-hash-based-pycs") == 0) {
			peel->at += 2;
		} else {
			(void)error_set(peel->err, -EINVAL,
					"python: the option %s is not "
					"understood",
					brief(shown, text));
			outcome = COMMAND_NOT_RECOGNISED;
		}
	}
	return outcome;
}

/* peel->at is python itself. */
static enum command_outcome peel_python(struct peel *peel)
{
	enum command_outcome outcome;
	const struct launcher *row;
	bool is_last = false;
	const char *script;

	peel->view->program = peel->at++;
	outcome = peel_python_options(peel, &is_last);
	if (outcome != COMMAND_OK || is_last)
		return outcome;
	if (peel->at >= peel->argv->count)
		return from_stdin(peel);
	script = peel->argv->items[peel->at];
	if (strcmp(script, "-") == 0 || is_pipe_path(script))
		return from_stdin(peel);
	row = launcher_find(script);
	if (row && row->kind == LAUNCHER_RANKS)
		return COMMAND_OK;
	peel->view->script = peel->at++;
	peel->done = true;
	return COMMAND_OK;
}

static enum command_outcome peel_named(struct peel *peel,
				       const struct launcher *row)
{
	struct launch launch = { .row = row };
	const char *word = peel->at + 1 < peel->argv->count
				   ? peel->argv->items[peel->at + 1]
				   : "";

	if (row->kind == LAUNCHER_PYTHON)
		return peel_python(peel);
	if (row->kind == LAUNCHER_OTHER) {
		(void)error_set(peel->err, -EINVAL,
				"%s cannot be part of the command: %s",
				row->name, row->advice);
		return row->outcome;
	}
	if (row->subcommand && strcmp(word, row->subcommand) != 0) {
		(void)error_set(peel->err, -EINVAL,
				"%s starts a training only as %s %s", row->name,
				row->name, row->subcommand);
		return COMMAND_NOT_RECOGNISED;
	}
	peel->at += row->subcommand ? 2 : 1;
	if (row->kind == LAUNCHER_RANKS)
		return peel_ranks(peel, row);
	return launch_options_read(peel, &launch);
}

/* A program of its own; one that is written in Python can be read. */
static void peel_program(struct peel *peel)
{
	const char *program = peel->argv->items[peel->at];
	size_t length = strlen(program);

	peel->view->program = peel->at;
	if (length > 3 && strcmp(program + length - 3, ".py") == 0)
		peel->view->script = peel->at;
	peel->at++;
	peel->done = true;
}

/* Every probe would find such a pipe empty but the first. */
static enum command_outcome check_pipes(const struct peel *peel)
{
	for (size_t i = peel->view->args; i < peel->argv->count; i++) {
		const char *text = peel->argv->items[i];
		const char *value = strchr(text, '=');
		char shown[BRIEF_MAX];

		if (!is_pipe_path(text) && !(value && is_pipe_path(value + 1)))
			continue;
		(void)error_set(peel->err, -EINVAL,
				"argument %zu, %s, is a pipe, which only one "
				"probe could read: write it to a file",
				i, brief(shown, text));
		return COMMAND_REFUSED;
	}
	return COMMAND_OK;
}

static enum command_outcome finish(struct peel *peel)
{
	struct command_view *view = peel->view;

	view->args = peel->at;
	view->end = view->args;
	while (view->end < peel->argv->count &&
	       strcmp(peel->argv->items[view->end], "--") != 0)
		view->end++;
	return check_pipes(peel);
}

enum command_outcome command_unwrap(struct command_view *view,
				    const struct strlist *argv,
				    int64_t visible_devices, struct error *err)
{
	struct peel peel = { .view = view, .argv = argv, .err = err };
	enum command_outcome outcome = COMMAND_OK;

	*view = (struct command_view){ .program = NO_INDEX,
				       .script = NO_INDEX,
				       .module = NO_INDEX,
				       .code = NO_INDEX,
				       .visible_devices = visible_devices,
				       .world = 1 };
	if (argv->count == 0) {
		(void)error_set(err, -EINVAL, "there is no command to start");
		return COMMAND_USAGE;
	}
	/* Every turn leaves at least one argument behind. */
	while (outcome == COMMAND_OK && !peel.done) {
		const struct launcher *row =
			launcher_find(argv->items[peel.at]);

		if (row)
			outcome = peel_named(&peel, row);
		else
			peel_program(&peel);
	}
	return outcome == COMMAND_OK ? finish(&peel) : outcome;
}

void command_view_release(struct command_view *view)
{
	free(view->launcher);
	view->launcher = NULL;
}
