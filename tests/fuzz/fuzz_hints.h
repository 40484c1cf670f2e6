/* What the marks of an input say that the options are. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_FUZZ_HINTS_H
#define AUTOFIT_TESTS_FUZZ_HINTS_H

#include "launcher/command/text/command_hints.h"
#include "tests/fuzz/fuzz_command.h"

/* What options may say, and the lists that they point to. */
struct fuzz_hints {
	struct command_hints hints;
	struct strlist env_templates, templates;
};

static inline void fuzz_hints_choose(struct fuzz_hints *chosen,
				     const struct fuzz_command *input,
				     const struct presets *presets)
{
	const unsigned char *marks = input->marks;
	struct command_hints *hints = &chosen->hints;

	*chosen = (struct fuzz_hints){ 0 };
	hints->environment = &input->environment;
	hints->visible_devices = marks[0] & 7;
	if (marks[1] >= 'a')
		hints->preset =
			presets->items[(marks[1] - 'a') % presets->count].name;
	if (marks[2] & 1)
		hints->micro_flag = "--bs";
	if (marks[2] & 2)
		hints->accum_flag = "--ga";
	if (marks[2] & 4)
		strlist_add(&chosen->env_templates, "BS={micro}");
	if (marks[2] & 8)
		strlist_add(&chosen->templates, "t.yaml");
	if (marks[2] & 16)
		hints->micro_scope = marks[2] & 32 ? "global" : "node";
	if (marks[4] == 'g')
		hints->global_scope = "rank";
	if (chosen->env_templates.count)
		hints->env_templates = &chosen->env_templates;
	if (chosen->templates.count)
		hints->templates = &chosen->templates;
	if (marks[4] == 'r')
		hints->ranks_around = 2;
}

static inline void fuzz_hints_release(struct fuzz_hints *chosen)
{
	strlist_release(&chosen->env_templates);
	strlist_release(&chosen->templates);
}

#endif
