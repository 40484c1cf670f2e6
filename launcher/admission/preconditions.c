/* Refuses commands that must not be probed, before the first probe. */
/* SPDX-License-Identifier: MIT */
#include "launcher/admission/preconditions.h"

#include "launcher/command/text/argument.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/request/step_ranks.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/*
 * A named pipe is read once: the first probe would leave nothing for the run.
 * Those of a shell, /dev/fd/N, are known by their names already.
 */
static bool is_pipe(const char *path)
{
	struct stat info;

	return strlen(path) < PATH_MAX && stat(path, &info) == 0 &&
	       S_ISFIFO(info.st_mode);
}

static enum command_outcome refuse_pipes(const struct request *request,
					 struct error *err)
{
	const struct strlist *argv = request->command.given;
	char shown[BRIEF_MAX];

	for (size_t i = 1; i < argv->count; i++) {
		const char *value = strchr(argv->items[i], '=');

		if (!is_pipe(argv->items[i]) && !(value && is_pipe(value + 1)))
			continue;
		(void)error_set(err, -EINVAL,
				"argument %zu (%s) is a pipe, and a probe "
				"would read it empty: put its content into a "
				"file",
				i, argument_brief(shown, argv->items[i]));
		return COMMAND_REFUSED;
	}
	return COMMAND_OK;
}

static enum command_outcome refuse_login_node(const struct request *request,
					      struct error *err)
{
	const struct options *options = request->options;

	if (options->target.device == DEVICE_HOST ||
	    options->target.device == DEVICE_PHANTOM ||
	    options->target.memory_bytes ||
	    !surroundings_is_login_node(&request->environment, ""))
		return COMMAND_OK;
	(void)error_set(err, -EPERM,
			"this looks like a login node (Slurm is configured and "
			"there is no allocation): start autofit inside a job, "
			"as in srun --gpus=1 autofit -- ...; if probes may run "
			"here, say so with --device host or --memory SIZE");
	return COMMAND_REFUSED;
}

enum command_outcome preconditions_check_outside(const struct request *request,
						 enum probe_device device,
						 struct error *err)
{
	const struct command_view *view = &request->command.view;
	const char *outside = view->outside;

	if (outside && device != PROBE_HOST && view->nodes > 1) {
		(void)error_set(err, -EPERM,
				"the GPUs of %lld nodes cannot be watched from "
				"one of them: tune on one node, with the "
				"effective batch of one node",
				(long long)view->nodes);
		return COMMAND_REFUSED;
	}
	if (!outside || device != PROBE_HOST || step_ranks_can_report(request))
		return COMMAND_OK;
	(void)error_set(err, -EPERM,
			"what %s starts is no child of autofit, so its host "
			"memory cannot be seen%s: start autofit inside it, in "
			"one task, in front of what starts the ranks (%s "
			"autofit -- torchrun --nproc-per-node %lld ...)",
			outside,
			strcmp(outside, "srun") == 0
				? ", but where autofit runs in an allocation "
				  "and srun stands in its command, outside of "
				  "shell text"
				: "",
			strcmp(outside, "srun") == 0 ? "srun --ntasks=1"
						     : outside,
			(long long)request->command.batch.world_size);
	return COMMAND_REFUSED;
}

enum command_outcome preconditions_check_unsafe(const struct request *request,
						struct error *err)
{
	enum command_outcome outcome = refuse_pipes(request, err);

	if (outcome == COMMAND_OK)
		outcome = refuse_login_node(request, err);
	if (outcome == COMMAND_OK &&
	    request->options->target.device == DEVICE_HOST)
		outcome = preconditions_check_outside(request, PROBE_HOST, err);
	return outcome;
}
