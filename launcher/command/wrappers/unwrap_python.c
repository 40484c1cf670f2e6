/* Peels python, its options, and what -m, -c or a path then name. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/launchers.h"

#include "launcher/command/parts/command_internal.h"

#include <ctype.h>
#include <string.h>

static enum command_outcome from_stdin(const struct peel *peel)
{
	return launch_fail(peel, COMMAND_REFUSED,
			   "python reads its program from standard input, "
			   "which only one probe could do: write it to a file");
}

bool peel_is_pipe(const char *path)
{
	return strcmp(path, "/dev/stdin") == 0 ||
	       strncmp(path, "/dev/fd/", 8) == 0 ||
	       strncmp(path, "/proc/self/fd/", 14) == 0;
}

enum command_outcome peel_script(struct peel *peel)
{
	const char *script = peel_here(peel);

	if (strcmp(script, "-") == 0 || peel_is_pipe(script))
		return from_stdin(peel);
	peel->view->script = peel->at++;
	peel->done = true;
	return COMMAND_OK;
}

enum command_outcome peel_module(struct peel *peel)
{
	bool is_whole;
	const struct launcher *row =
		launcher_find_module(peel_here(peel), &is_whole);

	peel->at++;
	if (row)
		return peel_launcher(peel, row, is_whole);
	peel->view->module = peel->at - 1;
	peel->done = true;
	return COMMAND_OK;
}

/* The word after -m or -c at peel->at; glued is what stands behind it. */
static enum command_outcome peel_inline(struct peel *peel, char letter,
					const char *glued)
{
	if (*glued)
		return launch_fail(peel, COMMAND_NOT_RECOGNISED,
				   "python -%c: write what follows as an "
				   "argument of its own",
				   letter);
	peel->at++;
	if (!peel_here(peel))
		return launch_fail(peel, COMMAND_UNREADABLE,
				   "python -%c names no %s: there is nothing "
				   "to start",
				   letter, letter == 'm' ? "module" : "code");
	if (letter == 'm') {
		enum command_outcome outcome = peel_check_known(peel);

		return outcome == COMMAND_OK ? peel_module(peel) : outcome;
	}
	peel->view->code = peel->at++;
	peel->done = true;
	return COMMAND_OK;
}

static enum command_outcome not_understood(const struct peel *peel)
{
	char shown[BRIEF_MAX];

	return launch_fail(peel, COMMAND_NOT_RECOGNISED,
			   "python: the option %s is not understood",
			   brief(shown, peel_here(peel)));
}

/*
 * The single-letter options of one argument; the whole is done when -m or -c
 * was among them.
 */
static enum command_outcome peel_letters(struct peel *peel, bool *is_last)
{
	const char *text = peel_here(peel);

	for (const char *letter = text + 1; *letter; letter++) {
		if (*letter == 'm' || *letter == 'c') {
			*is_last = true;
			return peel_inline(peel, *letter, letter + 1);
		}
		if (*letter == 'W' || *letter == 'X') {
			peel->at += letter[1] ? 1 : 2;
			return COMMAND_OK;
		}
		if (!isalpha((unsigned char)*letter))
			return not_understood(peel);
	}
	peel->at++;
	return COMMAND_OK;
}

/* Options of python; is_last once -m or -c ended them. */
static enum command_outcome peel_python_options(struct peel *peel,
						bool *is_last)
{
	enum command_outcome outcome = COMMAND_OK;
	const char *text;

	while (outcome == COMMAND_OK && !*is_last && (text = peel_here(peel))) {
		outcome = peel_check_known(peel);
		if (outcome != COMMAND_OK || text[0] != '-' || text[1] == '\0')
			break;
		if (text[1] != '-') {
			outcome = peel_letters(peel, is_last);
		} else if (text[2] == '\0') {
			peel->at++;
			break;
		} else if (strcmp(text, "--check-hash-based-pycs") == 0) {
			peel->at += 2;
		} else {
			outcome = not_understood(peel);
		}
	}
	return outcome;
}

enum command_outcome peel_python(struct peel *peel)
{
	enum command_outcome outcome;
	const struct launcher *row;
	bool is_last = false;

	peel->view->program = peel->at++;
	outcome = peel_python_options(peel, &is_last);
	if (outcome != COMMAND_OK || is_last)
		return outcome;
	if (!peel_here(peel))
		return from_stdin(peel);
	outcome = peel_check_known(peel);
	if (outcome != COMMAND_OK)
		return outcome;
	row = launcher_find(peel_here(peel));
	if (row && row->count)
		return COMMAND_OK;
	return peel_script(peel);
}
