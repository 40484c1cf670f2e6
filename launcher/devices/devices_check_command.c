/* A command of the user's run once under the library of probes. */
/* SPDX-License-Identifier: MIT */
#include "launcher/devices/devices_check_command.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "configs/files/paths.h"
#include "launcher/request/end_signals.h"
#include "launcher/request/exec_command.h"
#include "probes/channel/channel.h"
#include "probes/channel/python_hook.h"
#include "probes/observers/gpu/preload.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* So often is looked whether it has ended. */
#define COMMAND_LOOK_NS 20000000
/* Between asking it to end and killing it. */
#define COMMAND_GRACE_MS 1000

static char *first_of(const char *variable, const char *path)
{
	const char *others = getenv(variable);

	return others && *others ? xasprintf("%s=%s:%s", variable, path, others)
				 : xasprintf("%s=%s", variable, path);
}

/* In the child. Its standard output may be where the findings go. */
static void become_checked(const struct options *options,
			   const struct process_state *state,
			   const struct strlist *changes, pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent ||
	    dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		_exit(EXIT_FAILURE);
	_exit(exec_command(state, &options->command, changes));
}

/* Ended by itself, or by what ends this program. */
static int await_command(pid_t pid, int64_t limit_ms)
{
	static const struct timespec pause = { 0, COMMAND_LOOK_NS };
	int64_t end_ms = limit_ms ? clock_ms() + limit_ms : INT64_MAX;
	int64_t kill_ms = INT64_MAX;
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (kill_ms == INT64_MAX &&
		    (clock_ms() >= end_ms || end_signals_waiting())) {
			(void)kill(pid, SIGTERM);
			kill_ms = clock_ms() + COMMAND_GRACE_MS;
		} else if (clock_ms() >= kill_ms) {
			(void)kill(pid, SIGKILL);
		}
		(void)nanosleep(&pause, NULL);
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

static int write_page(const struct devices_checked *checked, int fd,
		      struct error *err)
{
	const struct devices *devices = &checked->devices;
	struct preload_target targets[GPU_MAX];

	for (size_t i = 0; i < devices->gpu_count; i++)
		targets[i] = (struct preload_target){
			.uuid = devices->gpus[i].gpu.uuid,
		};
	return preload_page_write(fd, targets, devices->gpu_count, err);
}

/* Of the fullest GPU, as torch's own figure is. */
static void note_command(struct check_command *command,
			 const struct channel *channel)
{
	struct preload_reading *reading = xcalloc(1, sizeof(*reading));

	preload_read(channel->fd, reading);
	command->is_counted = reading->is_there;
	command->refused_count = reading->failed_device;
	for (size_t i = 0; i < reading->device_count; i++)
		command->tracked_bytes = bytes_max(
			command->tracked_bytes, reading->devices[i].peak_bytes);
	command->reserved_bytes = channel_read(channel).torch_reserved_bytes;
	free(reading);
}

static int start_checked(const struct options *options,
			 const struct process_state *state,
			 const struct strlist *changes)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid == 0)
		become_checked(options, state, changes, parent);
	return pid < 0 ? -errno
		       : await_command(pid, options->times.time_limit_ms);
}

void devices_check_command_run(struct devices_checked *checked,
			       const struct options *options,
			       const struct process_state *state,
			       const char *folder, const char *library)
{
	struct check_command *command = &checked->command;
	char *path = xasprintf("%s/command", folder);
	char *hook = xasprintf("%s/hook", folder);
	struct strlist changes = STRLIST_INIT;
	struct channel channel = { .is_open = false };
	int result =
		python_hook_write(&python_hook_steps, hook, &command->error);

	command->is_run = true;
	if (result == 0)
		result = channel_open(&channel, path, &command->error);
	if (result == 0)
		result = write_page(checked, channel.fd, &command->error);
	if (result == 0) {
		strlist_take(&changes, first_of("LD_PRELOAD", library));
		strlist_take(&changes, first_of("PYTHONPATH", hook));
		strlist_addf(&changes, PRELOAD_PATH_VARIABLE "=%s", path);
		command->code = start_checked(options, state, &changes);
		note_command(command, &channel);
	}
	channel_close(&channel);
	strlist_release(&changes);
	free(hook);
	free(path);
}
