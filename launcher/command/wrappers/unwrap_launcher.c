/* Peels one launcher: its options, what they say, and what it starts. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/text/argument.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/wrappers/launch_options.h"
#include "launcher/command/wrappers/launchers.h"
#include "launcher/command/wrappers/ranks.h"
#include "launcher/command/wrappers/unwrap.h"
#include "launcher/command/wrappers/unwrap_task.h"

#include "base/alloc.h"

#include <string.h>

enum command_outcome wrapper_module(struct wrapper *wrapper)
{
	bool is_whole;
	const struct launcher *row = launcher_find_module(
		wrapper->launchers, wrapper_here(wrapper), &is_whole);

	wrapper->at++;
	if (row)
		return wrapper_launcher(wrapper, row, is_whole);
	wrapper->view->module = wrapper->at - 1;
	wrapper->done = true;
	return COMMAND_OK;
}

/* "srun", "accelerate launch" */
static char *launcher_words(const struct launcher *row)
{
	return row->subcommand ? xasprintf("%s %s", row->names.items[0],
					   row->subcommand)
			       : xstrdup(row->names.items[0]);
}

static enum command_outcome check_nesting(const struct wrapper *wrapper,
					  const struct launcher *row)
{
	if (!wrapper->view->launcher)
		return COMMAND_OK;
	return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
			   "%s inside %s: which ranks train cannot be told: "
			   "let one of them start all ranks (%s), and the "
			   "other at most one task",
			   row->names.items[0], wrapper->view->launcher,
			   row->ranks_option);
}

static enum command_outcome check_one_command(const struct wrapper *wrapper,
					      const struct launcher *row)
{
	for (size_t i = wrapper->at; i < wrapper->argv->count; i++)
		if (row->colon_joins &&
		    strcmp(wrapper->argv->items[i], ":") == 0)
			return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
					   "%s: \":\" starts more than one "
					   "program: write one for all ranks",
					   row->names.items[0]);
	return COMMAND_OK;
}

static enum command_outcome (*const counters[])(const struct wrapper *wrapper,
						struct launch *launch) = {
	[COUNT_PLAIN] = ranks_count_plain,
	[COUNT_ACCELERATE] = ranks_count_accelerate,
	[COUNT_DEEPSPEED] = ranks_count_deepspeed,
	[COUNT_HOSTS] = ranks_count_hosts,
	[COUNT_SRUN] = ranks_count_srun,
};

/* wrapper->at is what a launcher of ranks or tasks starts. */
static enum command_outcome wrapper_ranks(struct wrapper *wrapper,
					  struct launch *launch)
{
	const struct launcher *row = launch->row;
	struct command_view *view = wrapper->view;
	enum command_outcome outcome = check_nesting(wrapper, row);

	if (outcome != COMMAND_OK)
		return outcome;
	outcome = check_one_command(wrapper, row);
	if (outcome == COMMAND_OK)
		outcome = counters[row->count](wrapper, launch);
	if (outcome != COMMAND_OK)
		return outcome;
	launch_ports_find(wrapper, launch);
	if (row->outside && !view->outside) {
		view->outside = row->names.items[0];
		view->outside_program = wrapper->at;
	}
	if (row->kind == LAUNCHER_RANKS || view->world > 1)
		view->launcher = launcher_words(row);
	if (row->kind == LAUNCHER_TASKS || launch->said[SAYS_NO_PYTHON].value)
		return COMMAND_OK;
	view->program = wrapper->at;
	outcome = launch->said[SAYS_MODULE].value ? wrapper_module(wrapper)
						  : wrapper_script(wrapper);
	/* argparse drops a "--" right behind the script that it hands on to. */
	if (outcome == COMMAND_OK && wrapper->done && wrapper_here(wrapper) &&
	    strcmp(wrapper_here(wrapper), "--") == 0)
		wrapper->at++;
	return outcome;
}

/* ALL is one of the words. */
static bool exports_all(const char *words)
{
	size_t length;

	for (; *words; words += length + (words[length] == ',')) {
		length = strcspn(words, ",");
		if (length == 3 && strncmp(words, "ALL", length) == 0)
			return true;
	}
	return false;
}

static const char *dashes_of(const struct launch_said *said)
{
	if (said->index == NO_INDEX)
		return "";
	return said->name[1] ? "--" : "-";
}

/* Words that end it, whatever it would start. */
static enum command_outcome check_words(const struct wrapper *wrapper,
					const struct launch *launch)
{
	const struct launch_said *said = launch->said;
	const struct launch_said *bad = &said[SAYS_EXPORT];
	const char *name = launch->row->names.items[0];

	if (said[SAYS_REFUSED].value)
		bad = &said[SAYS_REFUSED];
	else if (!bad->value || exports_all(bad->value))
		bad = NULL;
	if (bad)
		return launch_fail(wrapper, COMMAND_REFUSED,
				   "%s with %s%s cannot be probed: %s", name,
				   dashes_of(bad), bad->name,
				   bad->why ? bad->why
					    : "what probes are told by "
					      "variables does not arrive "
					      "without ALL: write ALL, first");
	if (said[SAYS_UNKNOWN].value)
		return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
				   "%s: the option %s%s is not understood: %s",
				   name, dashes_of(&said[SAYS_UNKNOWN]),
				   said[SAYS_UNKNOWN].name,
				   said[SAYS_UNKNOWN].why);
	if (launch->row->must_wait && !said[SAYS_WAIT].value)
		return launch_fail(wrapper, COMMAND_REFUSED,
				   "%s returns before anything has run where "
				   "it leads its processes, as in a probe: "
				   "write %s --wait",
				   name, name);
	return COMMAND_OK;
}

static enum command_outcome wrapper_operands(struct wrapper *wrapper,
					     const struct launcher *row)
{
	char text[BRIEF_MAX];

	for (int64_t i = 0; i < row->operands && wrapper_here(wrapper); i++)
		wrapper->at++;
	if (!wrapper_here(wrapper))
		return wrapper_no_program(wrapper, row->names.items[0]);
	if (row->bad_letters &&
	    strpbrk(wrapper_here(wrapper), row->bad_letters) != NULL)
		return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
				   "%s: %s is not understood: name the "
				   "environment with -e in front of %s",
				   row->names.items[0],
				   argument_brief(text, wrapper_here(wrapper)),
				   row->subcommand);
	return wrapper_check_known(wrapper);
}

static enum command_outcome wrapper_subcommand(struct wrapper *wrapper,
					       struct launch *launch)
{
	const struct launcher *row = launch->row;
	enum command_outcome outcome = launch_options_read(wrapper, launch);
	const char *left = row->subcommand;

	if (outcome != COMMAND_OK)
		return outcome;
	for (; left && *left; wrapper->at++)
		left = wrapper_here(wrapper)
			       ? launcher_subcommand_after(
					 left, wrapper_here(wrapper))
			       : NULL;
	return left ? COMMAND_OK
		    : launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
				  "%s starts a training only as %s %s",
				  row->names.items[0], row->names.items[0],
				  row->subcommand);
}

enum command_outcome wrapper_launcher(struct wrapper *wrapper,
				      const struct launcher *row, bool is_whole)
{
	struct launch launch = { .row = row };
	enum command_outcome outcome = COMMAND_OK;

	if (row->kind == LAUNCHER_REFUSED || row->kind == LAUNCHER_UNKNOWN)
		return launch_fail(
			wrapper,
			row->kind == LAUNCHER_REFUSED ? COMMAND_REFUSED
						      : COMMAND_NOT_RECOGNISED,
			"%s cannot be part of the command: %s",
			wrapper->argv->items[wrapper->at - 1], row->advice);
	if (!is_whole)
		outcome = wrapper_subcommand(wrapper, &launch);
	if (outcome != COMMAND_OK)
		return outcome;
	launch.first = wrapper->at;
	outcome = launch_options_read(wrapper, &launch);
	if (outcome != COMMAND_OK)
		return outcome;
	launch_variables_read(wrapper, &launch);
	outcome = check_words(wrapper, &launch);
	if (outcome != COMMAND_OK)
		return outcome;
	outcome = wrapper_operands(wrapper, row);
	if (outcome != COMMAND_OK)
		return outcome;
	if (row->count != COUNT_NOTHING)
		return wrapper_ranks(wrapper, &launch);
	if (wrapper_is_task(wrapper, row))
		return wrapper_task(wrapper, row);
	wrapper->view->program = wrapper->at;
	if (launch.said[SAYS_MODULE].value)
		return wrapper_module(wrapper);
	if (launch.said[SAYS_SCRIPT].value)
		return wrapper_script(wrapper);
	return COMMAND_OK;
}
