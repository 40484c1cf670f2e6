/* How the ranks of accelerate launch share the model and its states. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/ranks.h"
#include "launcher/command/wrappers/unwrap.h"

#include <string.h>
#include <strings.h>

/* What the option says, else the file; NULL: neither does. */
static const char *said_or(const struct launch *launch, enum launch_word word,
			   const struct settings *config, const char *key)
{
	const char *value = launch->said[word].value;

	return value && *value ? value : launch_setting(config, key);
}

struct row {
	const char *word, *means;
};

static const char *meaning(const struct row *rows, const char *word)
{
	while (rows->word && strcasecmp(rows->word, word) != 0)
		rows++;
	return rows->means;
}

static const char *zero_stage(const struct launch *launch,
			      const struct settings *config,
			      const struct settings *deepspeed)
{
	static const struct row rows[] = {
		{ "0", "ddp" },   { "1", "zero1" }, { "2", "zero2" },
		{ "3", "zero3" }, { NULL, NULL },
	};
	const char *stage = said_or(launch, SAYS_STAGE, config,
				    "deepspeed_config.zero_stage");

	if (!stage)
		stage = launch_setting(deepspeed, "zero_optimization.stage");
	return stage ? meaning(rows, stage) : NULL;
}

/* utils/constants.py and dataclasses.py: by name or by number; its second
 * version says only whether weights are sharded anew after the forward pass. */
static const char *fsdp_strategy(const struct launch *launch,
				 const struct settings *config)
{
	static const struct row rows[] = {
		{ "FULL_SHARD", "fsdp" },
		{ "1", "fsdp" },
		{ "true", "fsdp" },
		{ "HYBRID_SHARD", "fsdp" },
		{ "4", "fsdp" },
		{ "SHARD_GRAD_OP", "fsdp-grad-op" },
		{ "2", "fsdp-grad-op" },
		{ "false", "fsdp-grad-op" },
		{ "HYBRID_SHARD_ZERO2", "fsdp-grad-op" },
		{ "5", "fsdp-grad-op" },
		{ "NO_SHARD", "ddp" },
		{ "3", "ddp" },
		{ NULL, NULL },
	};
	const char *strategy = said_or(launch, SAYS_STRATEGY, config,
				       "fsdp_config.fsdp_sharding_strategy");

	if (!strategy)
		strategy = said_or(launch, SAYS_STRATEGY, config,
				   "fsdp_config.fsdp_reshard_after_forward");
	return strategy ? meaning(rows, strategy) : "fsdp";
}

static bool is_away(const char *device)
{
	return device && strcasecmp(device, "none") != 0 &&
	       strcasecmp(device, "false") != 0;
}

/* Switches win over the file: _validate_launch_command(). */
static const char *distributed_type(const struct launch *launch,
				    const struct settings *config)
{
	const struct launch_said *said = launch->said;
	const char *type = launch_setting(config, "distributed_type");

	if (said[SAYS_DEEPSPEED].value)
		return "DEEPSPEED";
	if (said[SAYS_FSDP].value)
		return "FSDP";
	if (said[SAYS_MANY].value || said[SAYS_ONE].value)
		return "";
	return type ? type : "";
}

void launch_sharding_find(const struct wrapper *wrapper,
			  const struct launch *launch,
			  const struct settings *config,
			  const struct settings *deepspeed)
{
	struct command_view *view = wrapper->view;
	const char *type = distributed_type(launch, config);

	if (strcmp(type, "DEEPSPEED") == 0)
		view->sharding = zero_stage(launch, config, deepspeed);
	else if (strcmp(type, "FSDP") == 0)
		view->sharding = fsdp_strategy(launch, config);
	else
		return;
	view->offloads_optimizer =
		is_away(said_or(launch, SAYS_OFFLOAD_STATES, config,
				"deepspeed_config.offload_optimizer_device")) ||
		is_away(launch_setting(
			deepspeed,
			"zero_optimization.offload_optimizer.device"));
	view->offloads_weights =
		is_away(said_or(launch, SAYS_OFFLOAD_WEIGHTS, config,
				"deepspeed_config.offload_param_device")) ||
		is_away(launch_setting(
			deepspeed, "zero_optimization.offload_param.device")) ||
		is_away(said_or(launch, SAYS_OFFLOAD_WEIGHTS, config,
				"fsdp_config.fsdp_offload_params"));
}
