/* One run to be estimated: its model, its sizes, the GPU it is to fit on. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate_case.h"

#include "base/alloc.h"
#include "configs/files/paths.h"
#include "configs/models/model.h"
#include "launcher/command/parts/command.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/devices/devices.h"
#include "launcher/estimate/estimate_command.h"
#include "launcher/estimate/estimate_family.h"
#include "launcher/estimate/estimate_usage.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/result.h"
#include "launcher/report/result_fill.h"
#include "launcher/request/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GPT2_VOCAB 50257
/* Of a head, where only the width of the model is said. */
#define HEAD_WIDTH 64

static void set_gpu(struct estimate_gpu *gpu, const char *name, uint64_t bytes)
{
	(void)snprintf(gpu->name, sizeof(gpu->name), "%s", name);
	gpu->usable_bytes = bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

/* The first one that the command would see; none is no problem. */
static void find_gpu(struct estimate_case *all, const struct options *options,
		     const struct strlist *environment)
{
	const struct gpu_model *known;
	struct devices devices;

	devices_list(&devices, options, environment, &host_roots_here);
	if (devices.gpu_count) {
		set_gpu(&all->gpu, devices.gpus[0].gpu.name,
			devices.gpus[0].gpu.total_bytes);
		known = gpu_catalogue_find(&all->gpus, all->gpu.name, NULL);
		all->gpu.compute_major = known ? known->compute_major : 0;
	}
	devices_release(&devices);
}

static void choose_gpu(struct estimate_case *all, const struct options *options,
		       const struct strlist *environment)
{
	const struct estimate_request *request = &options->estimate;

	all->gpu.compute_major = options->target.model.compute_major;
	if (options->target.as)
		set_gpu(&all->gpu, options->target.model.name,
			options->target.model.usable_bytes);
	else if (request->gpu_bytes)
		set_gpu(&all->gpu, "--gpu-memory", request->gpu_bytes);
	else if (options->target.memory_bytes)
		set_gpu(&all->gpu, "--memory", options->target.memory_bytes);
	else if (options->target.device != DEVICE_HOST)
		find_gpu(all, options, environment);
}

static int estimate_case_add_fields(struct model_facts *facts,
				    const struct estimate_request *request,
				    struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < request->field_count && result == 0; i++)
		result = model_facts_set(facts, request->fields[i].name,
					 request->fields[i].value, err);
	if (result == 0 && request->family &&
	    model_family_parse(request->family, &facts->family) < 0)
		result = error_set(
			err, -EINVAL,
			"--family: '%.64s' is none of " MODEL_FAMILY_NAMES,
			request->family);
	return result;
}

/* Numbers that were given count as they are: the total follows from them. */
static bool changes_shape(const struct estimate_request *request)
{
	for (size_t i = 0; i < request->field_count; i++)
		if (strcmp(request->fields[i].name, "parameters") != 0)
			return true;
	return false;
}

static bool names_shape(const struct command *command)
{
	return command &&
	       (command->model[MODEL_LAYERS] || command->model[MODEL_HIDDEN]);
}

static int estimate_case_add_numbers(struct model_facts *facts,
				     const struct estimate_request *request,
				     const struct command *command,
				     struct error *err)
{
	int result = command ? estimate_command_fields(command, facts, err) : 0;

	return result < 0 ? result
			  : estimate_case_add_fields(facts, request, err);
}

/* A family says what its models have anyway; what was given wins over that. */
static int choose_family(struct estimate_case *all,
			 const struct estimate_request *request,
			 const struct command *command, struct error *err)
{
	model_facts_init(&all->model,
			 estimate_family(&all->model, &all->assumed));
	if (estimate_case_add_numbers(&all->model, request, command, err) < 0)
		return -EINVAL;
	if (!all->model.heads && all->model.hidden % HEAD_WIDTH == 0) {
		all->model.heads = all->model.hidden / HEAD_WIDTH;
		if (all->model.heads)
			strlist_addf(&all->assumed, "heads of %d", HEAD_WIDTH);
	}
	if (all->model.family != MODEL_GPT2 || all->model.vocab)
		return 0;
	all->model.vocab = GPT2_VOCAB;
	strlist_addf(&all->assumed, "vocab %d, that of GPT-2", GPT2_VOCAB);
	return 0;
}

/* In the order of model_read(). */
static int read_model(struct estimate_case *all, const char *name,
		      struct error *err)
{
	const struct model_sources sources = { &all->environment, &all->known };
	int result = model_read(&all->model, name, &sources, err);
	char *folder;

	if (result < 0)
		return result;
	if (*all->model.unread)
		strlist_add(&all->notes, all->model.unread);
	if (access(name, F_OK) == 0) {
		all->source = xasprintf("read from %s", name);
		return 0;
	}
	folder = model_hub_folder(name, &all->environment, NULL);
	all->source = folder ? xasprintf("hub cache, %s", folder)
			     : xstrdup("known by name");
	free(folder);
	return 0;
}

static int no_model(struct error *err)
{
	return error_set(err, -ENODATA,
			 "no model is named: autofit estimate MODEL (a path, a "
			 "name), --params 7b, or --layers, --hidden, --heads "
			 "and --vocab");
}

/* What was counted of one size of image is as much of another as that has
 * pixels; what is given counts as it is. */
static void follow_image(struct estimate_case *all,
			 const struct model_facts *before)
{
	struct model_facts *model = &all->model;
	double ratio = before->image
			       ? (double)model->image / (double)before->image
			       : 1;

	if (model->family != MODEL_COUNTED || ratio == 1 ||
	    model->activations != before->activations)
		return;
	model->activations =
		(int64_t)((double)model->activations * ratio * ratio);
	strlist_add(&all->assumed, "activations as the number of pixels");
}

/* name NULL: only what options and command say. */
static int find_model(struct estimate_case *all, const char *name,
		      const struct estimate_request *request,
		      const struct command *command, struct error *err)
{
	bool is_shaped = changes_shape(request) || names_shape(command);
	struct model_facts before;
	int result = 0;

	if (!name && !request->field_count && !names_shape(command))
		return no_model(err);
	if (name)
		result = read_model(all, name, err);
	/* What a file counted is of another shape then. */
	if (name && is_shaped && all->model.family != MODEL_COUNTED)
		all->model.parameters = all->model.stored_bytes = 0;
	before = all->model;
	if (result == 0)
		result = estimate_case_add_numbers(&all->model, request,
						   command, err);
	if (result == 0 && name)
		follow_image(all, &before);
	if (result == 0 && !name)
		result = choose_family(all, request, command, err);
	if (result < 0)
		return result;
	if (!all->source)
		all->source = xstrdup(command && !request->field_count
					      ? "the command"
					      : "the options");
	model_facts_complete(&all->model);
	if (all->model.family == MODEL_GPT2 && !all->model.positions)
		all->model.positions = all->run.sequence ? all->run.sequence
							 : ESTIMATE_SEQUENCE;
	all->has_model = true;
	return model_facts_check(&all->model, err);
}

static void take_run(struct estimate_case *all,
		     const struct estimate_request *request)
{
	all->run = request->run;
	all->run.model = &all->model;
	all->gpu_count = request->gpus;
}

/* The catalogues, with what the user has added to them. */
static void find_data(struct estimate_case *all, const struct options *options,
		      const struct strlist *environment,
		      struct strlist *warnings)
{
	char *gpus = NULL, *models = NULL;
	struct paths paths;

	memset(all, 0, sizeof(*all));
	all->options = options;
	strlist_add_all(&all->environment,
			(const char *const *)environment->items,
			environment->count);
	/* Without a home there are the built-in ones still. */
	if (paths_find(&paths, environment, NULL) == 0) {
		all->folder = xstrdup(paths.config);
		gpus = xasprintf("%s/gpus.csv", paths.config);
		models = xasprintf("%s/models.csv", paths.config);
	}
	paths_release(&paths);
	gpu_catalogue_load(&all->gpus, gpus, warnings);
	model_table_load(&all->known, models, warnings);
	free(gpus);
	free(models);
}

int estimate_case_of_command(struct estimate_case *all,
			     const struct command *command,
			     const struct options *options,
			     const struct strlist *environment,
			     struct error *err)
{
	struct estimate_request request = options->estimate;
	const char *name =
		request.model ? request.model : command->model[MODEL_PATH];
	struct strlist warnings = STRLIST_INIT;
	int result;

	find_data(all, options, environment, &warnings);
	strlist_release(&warnings);
	estimate_command_run(command, &request, &all->notes);
	take_run(all, &request);
	all->effective_batch = command->batch.effective_batch;
	/* A folder of another machine; of the function there is one answer. */
	if (!request.model && command->model[MODEL_BUILDER] &&
	    (!name || access(name, F_OK) != 0))
		name = command->model[MODEL_BUILDER];
	result = find_model(all, name, &request, command, err);
	return result < 0 ? result : estimate_case_complete(all, err);
}

static int exit_code(enum command_outcome outcome, const char *message)
{
	struct result result = RESULT_INIT;
	int code;

	result_refuse(&result, outcome, message);
	code = result.exit_code;
	result_release(&result);
	return code;
}

/*
 * Nothing is started: of a command whose sizes cannot be changed the model can
 * be read all the same.
 */
static int open_command(struct estimate_case *all,
			const struct options *options,
			const struct process_state *state, struct error *err)
{
	struct error why = ERROR_INIT;
	struct request request;
	enum command_outcome outcome =
		request_prepare(&request, options, state, &why);
	int code = EXIT_DONE;

	if (!request.command.preset) {
		code = exit_code(outcome, why.message);
		(void)error_set(err, why.code, "%s", why.message);
	} else if (estimate_case_of_command(all, &request.command, options,
					    &request.environment, err) < 0) {
		code = EXIT_AUTOFIT_FAILED;
	} else if (outcome != COMMAND_OK) {
		strlist_add(&all->notes, why.message);
	}
	request_release(&request);
	return code;
}

static int open_request(struct estimate_case *all,
			const struct options *options, struct error *err)
{
	const struct estimate_request *request = &options->estimate;
	const char *name = request->need ? request->need : request->model;
	bool needs_none = request->fit || request->profile;

	take_run(all, request);
	if (request->need && request->model)
		return error_set(err, -EINVAL,
				 "--need %.64s and the model %.64s: name one",
				 request->need, request->model);
	if (needs_none && !name && !request->field_count)
		return 0;
	if (find_model(all, name, request, NULL, err) < 0)
		return -EINVAL;
	return estimate_case_complete(all, err);
}

int estimate_case_open(struct estimate_case *all, const struct options *options,
		       const struct process_state *state,
		       struct strlist *warnings, struct error *err)
{
	struct strlist environment = STRLIST_INIT;
	int code = EXIT_DONE;

	memset(all, 0, sizeof(*all));
	for (char **item = environ; item && *item; item++)
		strlist_add(&environment, *item);
	if (options->command.count) {
		code = open_command(all, options, state, err);
	} else {
		find_data(all, options, &environment, warnings);
	}
	if (code == EXIT_DONE)
		choose_gpu(all, options, &environment);
	if (code == EXIT_DONE && !options->command.count &&
	    open_request(all, options, err) < 0)
		code = EXIT_AUTOFIT_FAILED;
	all->run.model = &all->model;
	all->run.gpu_bytes = all->gpu.usable_bytes;
	all->gpu.usable_bytes = usage_budget(&all->run, all->gpu.usable_bytes);
	all->run.compute_major = all->gpu.compute_major;
	if (options->batch.choice == EFFECTIVE_NUMBER)
		all->effective_batch = options->batch.effective_batch;
	strlist_release(&environment);
	return code;
}

void estimate_case_release(struct estimate_case *all)
{
	free(all->source);
	free(all->folder);
	strlist_release(&all->environment);
	model_table_release(&all->known);
	strlist_release(&all->assumed);
	strlist_release(&all->notes);
	gpu_catalogue_release(&all->gpus);
	memset(all, 0, sizeof(*all));
}
