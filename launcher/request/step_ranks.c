/* Ranks that srun starts in this allocation, each behind an autofit. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/step_ranks.h"

#include "launcher/request/exec_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool step_ranks_can_report(const struct request *request)
{
	const struct command_view *view = &request->command.view;
	const char *job =
		strlist_env_get(&request->environment, "SLURM_JOB_ID");

	return view->outside && strcmp(view->outside, "srun") == 0 &&
	       view->outside_program && !view->has_shell && job && *job;
}

int64_t step_ranks_count(const struct request *request)
{
	const struct command_view *view = &request->command.view;

	/* Else srun starts one task, and that one the ranks. */
	return view->launcher && strcmp(view->launcher, "srun") == 0
		       ? view->world
		       : 1;
}

int step_ranks_insert(const struct request *request, struct strlist *argv,
		      struct error *err)
{
	const struct strlist *given = request->command.given;
	size_t at = request->command.view.outside_program;
	char *self = exec_command_self();
	bool is_same = at < argv->count;

	for (size_t i = 0; i < at && is_same; i++)
		is_same = strcmp(argv->items[i], given->items[i]) == 0;
	if (is_same) {
		strlist_insert(argv, at, self);
		strlist_insert(argv, at + 1, "--");
	}
	free(self);
	return is_same ? 0
		       : error_set(
				 err, -EINVAL,
				 "the words of srun are not those of the "
				 "command: autofit cannot be put behind them");
}
