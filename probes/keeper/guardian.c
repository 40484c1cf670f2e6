/* A process that puts files back when autofit is killed in a probe. */
/* SPDX-License-Identifier: MIT */
#include "probes/keeper/guardian.h"

#include "probes/keeper/keeper.h"
#include "probes/process/proctree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK_MAX 96

struct guardian_probe {
	char mark[MARK_MAX]; /* "": none is under way */
	uint64_t start_time; /* clock ticks since boot */
};

static void guardian_put_back(const struct guardian_files *files)
{
	struct snapshot *after = NULL;
	struct error err = ERROR_INIT;

	if (snapshot_take(&after, files->folders, files->excluded, &err) == 0)
		(void)kept_files_put_back(files->kept, files->before, after,
					  &err);
	(void)dprintf(STDERR_FILENO,
		      "autofit: killed in a probe: what that had changed is "
		      "put back%s%s\n",
		      err.message[0] ? ", but " : "", err.message);
	snapshot_free(after);
}

/* In a session of its own, where no terminal and no job control reaches it,
 * with nothing open that somebody waits for but the place for its last line. */
static void leave_the_terminal(void)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGTERM, SIGPIPE };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setsid();
	(void)prctl(PR_SET_NAME, "autofit-guard", 0, 0, 0);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		(void)signal(ignored[i], SIG_IGN);
	(void)dup2(null, STDIN_FILENO);
	(void)dup2(null, STDOUT_FILENO);
}

static void guardian_watch(const struct guardian *guardian, int end,
			   const struct guardian_files *files)
	__attribute__((noreturn));

static void guardian_watch(const struct guardian *guardian, int end,
			   const struct guardian_files *files)
{
	const struct guardian_probe *probe = guardian->under_way;
	char byte;

	leave_the_terminal();
	while (read(end, &byte, 1) < 0 && errno == EINTR)
		;
	if (probe->mark[0]) {
		(void)keeper_rescue(probe->mark, probe->start_time);
		guardian_put_back(files);
	}
	_exit(0);
}

int guardian_start(struct guardian *guardian,
		   const struct guardian_files *files, struct error *err)
{
	int ends[2];
	void *memory =
		mmap(NULL, sizeof(*guardian->under_way), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return error_set_errno(err, -errno, "no memory to share");
	guardian->under_way = memory;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, -errno, "no pipe");
	guardian->end = ends[1];
	guardian->pid = fork();
	if (guardian->pid == 0) {
		(void)close(ends[1]);
		guardian_watch(guardian, ends[0], files);
	}
	(void)close(ends[0]);
	if (guardian->pid > 0)
		return 0;
	guardian->pid = 0;
	(void)close(ends[1]);
	return error_set_errno(err, -errno, "no process to put files back");
}

void guardian_note(struct guardian *guardian, const char *probe_id)
{
	if (!guardian->pid)
		return;
	guardian->under_way->start_time = proctree_now_ticks();
	(void)snprintf(guardian->under_way->mark, MARK_MAX, "%s%s",
		       *probe_id ? "AUTOFIT_PROBE=" : "", probe_id);
}

void guardian_end(struct guardian *guardian)
{
	if (!guardian->pid)
		return;
	(void)kill(guardian->pid, SIGKILL);
	while (waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR)
		;
	(void)close(guardian->end);
	(void)munmap(guardian->under_way, sizeof(*guardian->under_way));
	*guardian = (struct guardian){ 0 };
}
