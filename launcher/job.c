/* One call of autofit on a command: what was read before anything starts. */
/* SPDX-License-Identifier: MIT */
#include "launcher/job.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "launcher/identity.h"
#include "probes/observers/gpu.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options of a script are declared near its top. */
#define SOURCE_MAX ((size_t)200 * 1024)

static void copy_environment(struct strlist *environment)
{
	for (char **item = environ; item && *item; item++)
		strlist_add(environment, *item);
}

/* CUDA_VISIBLE_DEVICES, else what the kernel driver lists: no library. */
static int64_t visible_devices(const struct strlist *environment)
{
	const char *list = strlist_env_get(environment, "CUDA_VISIBLE_DEVICES");
	struct gpu_device gpus[GPU_MAX];
	int64_t count = 1;

	if (!list)
		return gpu_identities("/proc", gpus);
	if (!*list)
		return 0;
	for (; *list; list++)
		count += *list == ',';
	return count;
}

static enum command_outcome read_source(struct job *job,
					const struct command_view *view,
					struct strbuf *source,
					struct error *err)
{
	const char *path;

	if (view->code != NO_INDEX)
		strbuf_adds(source, job->options->command.items[view->code]);
	if (view->script == NO_INDEX)
		return COMMAND_OK;
	path = job->options->command.items[view->script];
	if (textfile_read(path, SOURCE_MAX, source, err) < 0)
		return COMMAND_UNREADABLE;
	job->script = xstrdup(path);
	job->script_hash = hash_bytes(strbuf_text(source), source->length);
	return COMMAND_OK;
}

static enum command_outcome recognise(struct job *job, struct error *err)
{
	const struct options *options = job->options;
	const struct command_hints hints = {
		.micro_flag = options->micro_flag,
		.accum_flag = options->accum_flag,
		.global_flag = options->global_flag,
		.micro_scope = options->micro_scope,
		.accum_scope = options->accum_scope,
		.preset = options->preset,
		.env_templates = &options->env_templates,
		.visible_devices = options->device == DEVICE_HOST
					   ? 0
					   : visible_devices(&job->environment),
		.ranks_around = job->place.world,
	};
	struct command_view view = { .world = 1 };
	struct strbuf source = STRBUF_INIT;
	enum command_outcome outcome;

	outcome = command_unwrap(&view, &options->command,
				 hints.visible_devices, err);
	if (outcome == COMMAND_OK)
		outcome = read_source(job, &view, &source, err);
	if (outcome == COMMAND_OK)
		outcome = command_recognise(
			&job->command, &options->command, &job->presets, &hints,
			job->script ? strbuf_text(&source) : NULL, err);
	command_view_release(&view);
	strbuf_release(&source);
	return outcome;
}

/* E as asked: in the command, or by --effective-batch N. */
static enum command_outcome set_effective_batch(struct job *job,
						struct error *err)
{
	const struct options *options = job->options;

	job->effective_batch = options->effective == EFFECTIVE_NUMBER
				       ? options->effective_batch
				       : job->command.effective_batch;
	if (job->effective_batch == 0 && options->effective == EFFECTIVE_KEEP &&
	    options->subcommand != SUBCOMMAND_TUNE) {
		(void)error_set(err, -EINVAL,
				"the effective batch to keep is not known: "
				"write {micro:8} for the present value, or "
				"give --effective-batch N or --grow");
		return COMMAND_USAGE;
	}
	if (job->effective_batch % job->command.world_size != 0) {
		(void)error_set(err, -EINVAL,
				"effective batch %lld cannot be split over "
				"%lld ranks: give --effective-batch a multiple "
				"of %lld",
				(long long)job->effective_batch,
				(long long)job->command.world_size,
				(long long)job->command.world_size);
		return COMMAND_USAGE;
	}
	return COMMAND_OK;
}

enum command_outcome job_prepare(struct job *job, const struct options *options,
				 const struct process_state *state,
				 struct error *err)
{
	enum command_outcome outcome;
	char *folder;
	int result;

	memset(job, 0, sizeof(*job));
	job->options = options;
	job->state = state;
	copy_environment(&job->environment);
	job->place = surroundings_rank(&job->environment);
	if (paths_find(&job->paths, &job->environment, err) < 0)
		return COMMAND_USAGE;
	folder = xasprintf("%s/presets", job->paths.config);
	result = presets_load(&job->presets,
			      access(folder, R_OK) == 0 ? folder : NULL, err);
	free(folder);
	if (result < 0)
		return COMMAND_USAGE;
	outcome = recognise(job, err);
	if (outcome == COMMAND_OK)
		outcome = set_effective_batch(job, err);
	if (outcome != COMMAND_OK)
		return outcome;
	job->identity = identity_make(job);
	job->subject = identity_subject(job);
	return COMMAND_OK;
}

const char *job_name(const struct job *job)
{
	const struct command_view *view = &job->command.view;
	const char *name = job->command.argv.items[view->program];
	const char *slash;

	if (view->script != NO_INDEX)
		name = job->command.argv.items[view->script];
	else if (view->module != NO_INDEX)
		name = job->command.argv.items[view->module];
	slash = strrchr(name, '/');
	return slash ? slash + 1 : name;
}

void job_release(struct job *job)
{
	strlist_release(&job->environment);
	paths_release(&job->paths);
	presets_release(&job->presets);
	command_release(&job->command);
	free(job->script);
	free(job->identity);
	free(job->subject);
	memset(job, 0, sizeof(*job));
}
