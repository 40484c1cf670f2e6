/* fork and exec of a probe's command, told apart from its own failures. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_KEEPER_SPAWN_H
#define AUTOFIT_PROBES_KEEPER_SPAWN_H

#include "probes/keeper/keeper.h"

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

struct spawn_copy;

/* Where the command's output goes, and what it is told by that it started. */
struct spawn_pipes {
	int out, err;
	int report[2]; /* a pipe, close-on-exec; closed by spawn_command */
	struct spawn_copy *copy; /* NULL: the command is started by exec */
};

/*
 * Instead of exec: the child goes on as a copy of the process that forked the
 * keeper, with what that had open, its handlers and its name.
 */
struct spawn_copy {
	void (*go_on)(struct spawn_copy *copy) __attribute__((noreturn));
	const int *foreign; /* descriptors that it does not know: closed */
	size_t foreign_count;
	sigset_t mask;
	char name[16]; /* of the process, as PR_SET_NAME takes it */
};

/* What failed. */
enum spawn_step {
	SPAWN_OWN, /* autofit's own: the isolation, a process, a pipe */
	SPAWN_EXEC,
};

/*
 * Starts spec->argv with spec->environment, stdin from /dev/null, stdout and
 * stderr as given, CHANNEL_COMMAND_FD if there is a channel, every other
 * descriptor closed, the dispositions and mask
 * that autofit came in with, oom_score_adj 1000, inside spec->cgroup and
 * spec->isolation, and SIGKILL when its parent dies. Returns 0, or -errno of
 * the step that failed: of exec, after a search of PATH as execvp does it
 * (-ENOENT, -EACCES), or of the isolation, which says why on stderr.
 */
int spawn_command(pid_t *pid, const struct keeper_spec *spec,
		  const struct spawn_pipes *pipes, enum spawn_step *failed);

/* Close every descriptor above 2 but those in keep (negative: skipped). */
void spawn_close_except(const int *keep, size_t count);

#endif
