/* autofit estimate --profile and --tables. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate_profile.h"

#include "base/alloc.h"
#include "base/units.h"
#include "configs/profiles/profile.h"
#include "launcher/command/text/text.h"
#include "launcher/estimate/profile_tables.h"
#include "launcher/options/options_estimate.h"
#include "launcher/report/json.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define GB 1e9
#define WIDTH 79

static bool says_field(const struct estimate_request *request, const char *name)
{
	for (size_t i = 0; i < request->field_count; i++)
		if (strcmp(request->fields[i].name, name) == 0)
			return true;
	return false;
}

/* Only what was said: for the rest the guide has numbers of its own. */
static struct profile_inputs inputs_of(const struct estimate_case *all)
{
	const struct estimate_request *request = &all->options->estimate;
	const struct model_facts *model = &all->model;
	struct profile_inputs inputs = {
		.model_gb = (double)request->model_bytes / GB,
		.batch = (double)(request->run.micro_batch
					  ? request->run.micro_batch
					  : model->run_batch),
		.sequence =
			(double)(request->run.sequence ? request->run.sequence
						       : model->run_sequence),
		.gpu_gb = (double)all->gpu.usable_bytes / (double)GIB,
		.gpus = (double)request->gpus,
		.optimizer = request->run.optimizer
				     ? request->run.optimizer->name
				     : NULL,
		.method = request->method,
	};
	int64_t parameters = 0;

	if (request->has_regime)
		inputs.bytes = request->run.regime <= REGIME_AMP ? 4 : 2;
	if (!all->has_model)
		return inputs;
	if (model_parameters(model, &parameters, NULL) == 0)
		inputs.params = (double)parameters;
	inputs.hidden = (double)model->hidden;
	inputs.layers = (double)model->layers;
	inputs.vocab = (double)model->vocab;
	if (request->model || says_field(request, "positions"))
		inputs.positions = (double)model->positions;
	return inputs;
}

/* A number that the guide counts with, its own or the caller's; 0: none. */
static double guide_number(const struct profile *profile,
			   const struct profile_inputs *inputs,
			   const char *name)
{
	const struct profile_section *section =
		profile_section(profile, PROFILE_INPUTS, NULL);
	struct profile_scope scope;
	struct profile_figure figure;

	if (!section || !profile_key(section, name))
		return 0;
	if (profile_scope_init(&scope, profile, inputs, NULL) < 0 ||
	    profile_value(&scope, (struct profile_text){ name, strlen(name) },
			  &figure, NULL) < 0)
		return 0;
	return figure.value;
}

/* How the methods of guides are called, as globs; the first match counts. */
static const struct {
	const char *glob;
	enum task task;
	enum peft peft;
	enum weights weights;
} methods[] = {
	{ "*qlora*", TASK_TRAIN, PEFT_LORA, WEIGHTS_NF4 },
	{ "*lora*", TASK_TRAIN, PEFT_LORA, WEIGHTS_AS_COMPUTED },
	{ "inference-8bit", TASK_INFERENCE, PEFT_NONE, WEIGHTS_INT8 },
	{ "inference-4bit", TASK_INFERENCE, PEFT_NONE, WEIGHTS_NF4 },
	{ "inference*", TASK_INFERENCE, PEFT_NONE, WEIGHTS_AS_COMPUTED },
	{ "generation*", TASK_INFERENCE, PEFT_NONE, WEIGHTS_AS_COMPUTED },
	{ "*", TASK_TRAIN, PEFT_NONE, WEIGHTS_AS_COMPUTED },
};

/* The run that the guide speaks of: its method, precision, batch and tokens. */
static void run_of_guide(const struct profile *profile,
			 const struct profile_inputs *inputs,
			 const char *method, struct workload *run)
{
	double batch = guide_number(profile, inputs, "batch");
	double tokens = guide_number(profile, inputs, "sequence");
	double bytes = guide_number(profile, inputs, "bytes");
	size_t i = 0;

	while (fnmatch(methods[i].glob, method, 0) != 0)
		i++;
	run->task = methods[i].task;
	run->peft = methods[i].peft;
	run->rank = run->rank ? run->rank : LORA_RANK;
	run->weights = methods[i].weights;
	if (batch >= 1 && batch < INT32_MAX && run->task == TASK_TRAIN)
		run->micro_batch = (int64_t)batch;
	if (tokens >= 1 && tokens < INT32_MAX)
		run->sequence = (int64_t)tokens;
	if (bytes > 0)
		run->regime = bytes > 2 ? REGIME_FP32 : REGIME_BF16;
}

/* How far the guide is from the estimate of this very run. */
static void compare(struct strbuf *out, json_t *root,
		    const struct estimate_case *all,
		    const struct profile *profile,
		    const struct profile_result *result)
{
	const struct profile_inputs inputs = inputs_of(all);
	double claimed = (result->low + result->high) / 2 * profile->unit_bytes;
	struct workload run = all->run;
	struct strbuf words = STRBUF_INIT;
	struct estimate estimate;
	char size[BYTES_TEXT_MAX];
	double physical, percent;

	run_of_guide(profile, &inputs, result->method, &run);
	if (!all->has_model || claimed <= 0 ||
	    estimate_memory(&run, &estimate, NULL) < 0) {
		json_put(root, "above_estimate_percent", json_null());
		return;
	}
	physical = (double)estimate.peak[TIER_PROCESS];
	percent = (claimed - physical) / physical * 100;
	json_put(root, "above_estimate_percent", json_real(percent));
	strbuf_addf(&words,
		    "Without the guide the same run (%s, %s, batch %lld, %lld "
		    "tokens) is estimated at %s of the process: the guide says "
		    "%.0f%% %s.",
		    result->method, regime_words[run.regime],
		    (long long)run.micro_batch, (long long)run.sequence,
		    bytes_format(size, (uint64_t)estimate.peak[TIER_PROCESS]),
		    percent < 0 ? -percent : percent,
		    percent < 0 ? "less" : "more");
	strbuf_addch(out, '\n');
	text_add_wrapped(out, strbuf_text(&words), 0, WIDTH);
	strbuf_addch(out, '\n');
	strbuf_release(&words);
}

static int add_result(struct strbuf *out, json_t *root,
		      const struct estimate_case *all,
		      const struct profile *profile, struct error *err)
{
	const struct profile_inputs inputs = inputs_of(all);
	struct profile_result result;
	json_t *object;

	if (profile_estimate(profile, &inputs, &result, err) < 0)
		return error_prefix(err, "--profile %s", profile->name);
	profile_result_text(out, profile, &result);
	object = profile_result_json(profile, &result);
	compare(out, object, all, profile, &result);
	json_put(root, "profile", object);
	return 0;
}

static void add_tables(struct strbuf *out, json_t *root,
		       const struct profile *profile)
{
	char *text = profile_tables_text(profile);

	strbuf_adds(out, text);
	free(text);
	json_put(root, "profile", profile_tables_json(profile));
}

int estimate_profile(struct strbuf *out, json_t *root,
		     const struct estimate_case *all, struct error *err)
{
	const struct estimate_request *request = &all->options->estimate;
	char *folder =
		all->folder ? xasprintf("%s/profiles", all->folder) : NULL;
	struct profile profile = { .name = NULL };
	int result = 0;

	if (!request->profile && request->tables)
		result = error_set(err, -EINVAL,
				   "--tables needs --profile NAME");
	else if (!request->profile)
		json_put(root, "profile", json_null());
	else
		result = profile_open(&profile, request->profile, folder, err);
	if (result == 0 && request->profile && request->tables)
		add_tables(out, root, &profile);
	else if (result == 0 && request->profile)
		result = add_result(out, root, all, &profile, err);
	if (request->profile)
		profile_release(&profile);
	free(folder);
	return result;
}
