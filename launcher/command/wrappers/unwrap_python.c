/* Peels python, its options, and what -m, -c or a path then name. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/unwrap_python.h"

#include "launcher/command/text/argument.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/wrappers/launch_options.h"
#include "launcher/command/wrappers/launchers.h"
#include "launcher/command/wrappers/unwrap_unknown.h"

#include <ctype.h>
#include <string.h>

static bool is_no_launcher(const struct wrapper *wrapper)
{
	bool is_whole;

	return !launcher_find_module(wrapper->launchers, wrapper_here(wrapper),
				     &is_whole);
}

/* The word after -m or -c at wrapper->at; glued is what stands behind it. */
static enum command_outcome wrapper_inline(struct wrapper *wrapper, char letter,
					   const char *glued)
{
	if (*glued)
		return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
				   "python -%c: write what follows as an "
				   "argument of its own",
				   letter);
	wrapper->at++;
	if (!wrapper_here(wrapper))
		return launch_fail(wrapper, COMMAND_UNREADABLE,
				   "python -%c names no %s: there is nothing "
				   "to start",
				   letter, letter == 'm' ? "module" : "code");
	if (letter == 'm') {
		enum command_outcome outcome = wrapper_check_known(wrapper);

		if (outcome != COMMAND_OK || (is_no_launcher(wrapper) &&
					      wrapper_hands_on(wrapper, true)))
			return outcome;
		return wrapper_module(wrapper);
	}
	wrapper->view->code = wrapper->at++;
	wrapper->done = true;
	return COMMAND_OK;
}

static enum command_outcome
unwrap_python_not_understood(const struct wrapper *wrapper)
{
	char shown[BRIEF_MAX];

	return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
			   "python: the option %s is not understood",
			   argument_brief(shown, wrapper_here(wrapper)));
}

/*
 * The single-letter options of one argument; the whole is done when -m or -c
 * was among them.
 */
static enum command_outcome wrapper_letters(struct wrapper *wrapper,
					    bool *is_last)
{
	const char *text = wrapper_here(wrapper);

	for (const char *letter = text + 1; *letter; letter++) {
		if (*letter == 'm' || *letter == 'c') {
			*is_last = true;
			return wrapper_inline(wrapper, *letter, letter + 1);
		}
		if (*letter == 'W' || *letter == 'X') {
			wrapper->at += letter[1] ? 1 : 2;
			return COMMAND_OK;
		}
		if (!isalpha((unsigned char)*letter))
			return unwrap_python_not_understood(wrapper);
	}
	wrapper->at++;
	return COMMAND_OK;
}

/* Options of python; is_last once -m or -c ended them. */
static enum command_outcome wrapper_python_options(struct wrapper *wrapper,
						   bool *is_last)
{
	enum command_outcome outcome = COMMAND_OK;
	const char *text;

	while (outcome == COMMAND_OK && !*is_last &&
	       (text = wrapper_here(wrapper))) {
		outcome = wrapper_check_known(wrapper);
		if (outcome != COMMAND_OK || text[0] != '-' || text[1] == '\0')
			break;
		if (text[1] != '-') {
			outcome = wrapper_letters(wrapper, is_last);
		} else if (text[2] == '\0') {
			wrapper->at++;
			break;
		} else if (strcmp(text, "--check-hash-based-pycs") == 0) {
			wrapper->at += 2;
		} else {
			outcome = unwrap_python_not_understood(wrapper);
		}
	}
	return outcome;
}

enum command_outcome wrapper_python(struct wrapper *wrapper)
{
	enum command_outcome outcome;
	const struct launcher *row;
	bool is_last = false;

	wrapper->view->program = wrapper->at++;
	outcome = wrapper_python_options(wrapper, &is_last);
	if (outcome != COMMAND_OK || is_last)
		return outcome;
	if (!wrapper_here(wrapper))
		return wrapper_from_stdin(wrapper);
	outcome = wrapper_check_known(wrapper);
	if (outcome != COMMAND_OK)
		return outcome;
	row = launcher_find(wrapper->launchers, wrapper_here(wrapper));
	if ((row && row->count != COUNT_NOTHING) ||
	    wrapper_hands_on(wrapper, false))
		return COMMAND_OK;
	return wrapper_script(wrapper);
}
