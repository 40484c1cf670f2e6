/* autofit estimate --profile and --tables. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate_profile.h"

#include "base/alloc.h"
#include "base/units.h"
#include "configs/profiles/profile.h"
#include "launcher/estimate/profile_tables.h"
#include "launcher/report/json.h"

#include <errno.h>
#include <stdlib.h>

#define GB 1e9

/* Only what was said: for the rest the guide has numbers of its own. */
static struct profile_inputs inputs_of(const struct estimate_case *all)
{
	const struct estimate_request *request = &all->options->estimate;
	const struct model_facts *model = &all->model;
	struct profile_inputs inputs = {
		.model_gb = (double)request->model_bytes / GB,
		.batch = (double)request->run.micro_batch,
		.sequence = (double)request->run.sequence,
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
	inputs.positions = (double)model->positions;
	return inputs;
}

/* How far the guide is from the estimate of this very run. */
static void compare(struct strbuf *out, json_t *root,
		    const struct estimate_case *all,
		    const struct profile *profile,
		    const struct profile_result *result)
{
	double claimed = (result->low + result->high) / 2 * profile->unit_bytes;
	struct estimate estimate;
	char size[BYTES_TEXT_MAX];
	double physical, percent;

	if (!all->has_model || claimed <= 0 ||
	    estimate_memory(&all->run, &estimate, NULL) < 0) {
		json_put(root, "above_estimate_percent", json_null());
		return;
	}
	physical = (double)estimate.peak[TIER_PROCESS];
	percent = (claimed - physical) / physical * 100;
	json_put(root, "above_estimate_percent", json_real(percent));
	strbuf_addf(out,
		    "\nWithout the guide this run is estimated at %s of the "
		    "process: the guide says %.0f%% %s.\n",
		    bytes_format(size, (uint64_t)estimate.peak[TIER_PROCESS]),
		    percent < 0 ? -percent : percent,
		    percent < 0 ? "less" : "more");
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
