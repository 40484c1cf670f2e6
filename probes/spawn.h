/* fork and exec of a probe's command, told apart from its own failures. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_SPAWN_H
#define AUTOFIT_PROBES_SPAWN_H

#include "probes/keeper.h"

#include <stddef.h>
#include <sys/types.h>

/*
 * Starts spec->argv with spec->environment, stdin from /dev/null, stdout and
 * stderr as given, every other descriptor closed, the dispositions and mask
 * that autofit came in with, oom_score_adj 1000, inside spec->cgroup, and
 * SIGKILL when its parent dies. Returns 0, or -errno of what failed: of exec,
 * after a search of PATH as execvp does it (-ENOENT, -EACCES). report is a
 * pipe for that, close-on-exec, and is closed here.
 */
int spawn_command(pid_t *pid, const struct keeper_spec *spec, int out,
		  int err_fd, const int report[2]);

/* Close every descriptor above 2 but those in keep (negative: skipped). */
void spawn_close_except(const int *keep, size_t count);

#endif
