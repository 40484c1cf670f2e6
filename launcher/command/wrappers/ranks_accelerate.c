/* How many ranks accelerate launch starts: options, its YAML, devices. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/deepspeed_file.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/wrappers/ranks.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* What DistributedType means for the launcher. */
enum paradigm {
	PARADIGM_ONE,  /* a single process, whatever num_processes says */
	PARADIGM_MANY, /* num_processes of them */
	PARADIGM_FOREIGN,
	PARADIGM_UNKNOWN,
};

static const struct {
	const char *name;
	enum paradigm paradigm;
} paradigms[] = {
	/* no and false: what YAML makes of NO without quotes. */
	{ "NO", PARADIGM_ONE },
	{ "no", PARADIGM_ONE },
	{ "false", PARADIGM_ONE },
	{ "MULTI_CPU", PARADIGM_ONE },
	{ "MULTI_GPU", PARADIGM_MANY },
	{ "MULTI_NPU", PARADIGM_MANY },
	{ "MULTI_MLU", PARADIGM_MANY },
	{ "MULTI_SDAA", PARADIGM_MANY },
	{ "MULTI_XPU", PARADIGM_MANY },
	{ "MULTI_MUSA", PARADIGM_MANY },
	{ "MULTI_HPU", PARADIGM_MANY },
	{ "MULTI_NEURON", PARADIGM_MANY },
	{ "FSDP", PARADIGM_MANY },
	{ "DEEPSPEED", PARADIGM_MANY },
	{ "XLA", PARADIGM_FOREIGN },
	{ "TPU", PARADIGM_FOREIGN },
	{ "MEGATRON_LM", PARADIGM_FOREIGN },
};

/* Sizes above 1 of these make ranks share a batch. */
static const char *const shared_sizes[] = {
	"parallelism_config.parallelism_config_tp_size",
	"parallelism_config.parallelism_config_cp_size",
	"parallelism_config.parallelism_config_sp_size",
};

/* The config file; count 0 of its settings: there is none. */
struct config {
	char *path; /* NULL: where it would be is not known */
	struct settings settings;
};

static void config_release(struct config *config)
{
	settings_release(&config->settings);
	free(config->path);
}

static const char *config_value(const struct config *config, const char *key)
{
	return launch_setting(&config->settings, key);
}

static enum paradigm config_paradigm(const struct config *config)
{
	const char *type = config_value(config, "distributed_type");

	for (size_t i = 0; type && i < sizeof(paradigms) / sizeof(*paradigms);
	     i++)
		if (strcmp(paradigms[i].name, type) == 0)
			return paradigms[i].paradigm;
	return PARADIGM_UNKNOWN;
}

/* commands/config/config_args.py; NULL: it cannot be told. */
static char *default_path(const struct wrapper *wrapper)
{
	static const char name[] = "accelerate/default_config.yaml";
	const char *hf_home = wrapper_variable(wrapper, "HF_HOME");
	const char *cache = wrapper_variable(wrapper, "XDG_CACHE_HOME");
	const char *home = wrapper_variable(wrapper, "HOME");

	if (hf_home && strncmp(hf_home, "~/", 2) == 0)
		return home ? xasprintf("%s/%s/%s", home, hf_home + 2, name)
			    : NULL;
	if (hf_home)
		return xasprintf("%s/%s", *hf_home ? hf_home : ".", name);
	if (cache)
		return xasprintf("%s/huggingface/%s", cache, name);
	return home ? xasprintf("%s/.cache/huggingface/%s", home, name) : NULL;
}

static enum command_outcome config_parse(const struct wrapper *wrapper,
					 const struct launch *launch,
					 struct config *config,
					 struct named_file *file)
{
	enum settings_format format = SETTINGS_YAML;

	(void)settings_format_of(config->path, &format);
	if (format != SETTINGS_JSON)
		format = SETTINGS_YAML;
	if (settings_read(&config->settings, format, config->path,
			  strbuf_text(&file->text), file->text.length,
			  wrapper->err) == 0)
		return COMMAND_OK;
	(void)error_prefix(wrapper->err, "%s", launch->row->names.items[0]);
	return COMMAND_NOT_RECOGNISED;
}

static enum command_outcome config_read(const struct wrapper *wrapper,
					const struct launch *launch,
					struct config *config)
{
	const char *given = launch->said[SAYS_CONFIG].value;
	struct named_file *file;
	enum command_outcome outcome;
	char shown[BRIEF_MAX];

	config->path = given ? xstrdup(given) : default_path(wrapper);
	/* --cpu makes it leave the default file alone. */
	if (!config->path || (!given && launch->said[SAYS_ONE].value))
		return COMMAND_OK;
	outcome = launch_file(wrapper, launch, config->path, &file);
	if (outcome == COMMAND_OK && file)
		return config_parse(wrapper, launch, config, file);
	if (outcome != COMMAND_OK || !given)
		return outcome;
	return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
			   "%s: its config file %s cannot be read, and may say "
			   "how many ranks to start",
			   launch->row->names.items[0],
			   argument_brief(shown, given));
}

/* What only the file can say, and that is not understood. */
static enum command_outcome config_check(const struct wrapper *wrapper,
					 const struct launch *launch,
					 const struct config *config)
{
	const char *where = config_value(config, "compute_environment");
	const char *type = config_value(config, "distributed_type");
	char shown[BRIEF_MAX];

	if (where && strcmp(where, "LOCAL_MACHINE") != 0)
		return launch_fail(wrapper, COMMAND_REFUSED,
				   "%s: its config file starts the training on "
				   "%s, where memory cannot be watched from "
				   "here: start autofit there",
				   launch->row->names.items[0],
				   argument_brief(shown, where));
	if (config_value(config, "mpirun_config.mpirun_hostfile"))
		return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
				   "%s: its config file has mpirun start the "
				   "ranks: write mpirun itself",
				   launch->row->names.items[0]);
	for (size_t i = 0; i < sizeof(shared_sizes) / sizeof(*shared_sizes);
	     i++) {
		const char *size = config_value(config, shared_sizes[i]);

		if (size && strcmp(size, "1") != 0)
			return ranks_foreign(wrapper, launch,
					     "the parallelism of its config "
					     "file");
	}
	if (launch->said[SAYS_MANY].value || launch->said[SAYS_ONE].value)
		return COMMAND_OK;
	if (config_paradigm(config) == PARADIGM_FOREIGN)
		return ranks_foreign(wrapper, launch,
				     argument_brief(shown, type));
	if (config_paradigm(config) == PARADIGM_UNKNOWN)
		return launch_fail(
			wrapper, COMMAND_NOT_RECOGNISED,
			"%s: the distributed_type %s of its config "
			"file is not understood: add --multi_gpu "
			"and %s",
			launch->row->names.items[0],
			argument_brief(shown, type ? type : "(none)"),
			launch->row->ranks_option);
	return COMMAND_OK;
}

/* _validate_launch_command() with a config file. */
static enum command_outcome count_configured(const struct wrapper *wrapper,
					     struct launch *launch,
					     const struct config *config)
{
	const struct launch_said *said = launch->said;
	bool is_many = said[SAYS_MANY].value ||
		       config_paradigm(config) == PARADIGM_MANY;
	const char *ranks = said[SAYS_RANKS].value
				    ? said[SAYS_RANKS].value
				    : config_value(config, "num_processes");

	if (said[SAYS_ONE].value || !is_many) {
		launch->is_single = true;
		return COMMAND_OK;
	}
	if (ranks)
		return ranks_written(wrapper, launch, ranks);
	return ranks_unknown(wrapper, launch,
			     "its config file does not say num_processes");
}

/* The same without one: on one device it starts one process. */
static enum command_outcome count_visible(const struct wrapper *wrapper,
					  struct launch *launch,
					  const struct config *config)
{
	const struct launch_said *said = launch->said;
	int64_t visible = wrapper->view->visible_devices;
	const char *ranks = said[SAYS_RANKS].value;

	if (said[SAYS_MANY].value && !said[SAYS_ONE].value)
		return ranks ? ranks_written(wrapper, launch, ranks)
			     : ranks_of_devices(wrapper, launch);
	launch->is_single = said[SAYS_ONE].value ||
			    (ranks && strcmp(ranks, "1") == 0) ||
			    (!ranks && visible <= 1);
	if (launch->is_single)
		return COMMAND_OK;
	if (ranks && visible != 1)
		return ranks_written(wrapper, launch, ranks);
	if (ranks)
		return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
				   "%s starts one process where one device is "
				   "visible, whatever --num_processes says: "
				   "add --multi_gpu, or leave it out",
				   launch->row->names.items[0]);
	if (!config->path)
		return ranks_unknown(wrapper, launch,
				     "its default config file or the visible "
				     "devices decide");
	return ranks_of_devices(wrapper, launch);
}

static bool is_deepspeed(const struct launch *launch,
			 const struct config *config)
{
	const char *type = config_value(config, "distributed_type");

	return launch->said[SAYS_DEEPSPEED].value ||
	       (type && strcmp(type, "DEEPSPEED") == 0);
}

/* DeepSpeed's own file, where one is named that can be read. */
static enum command_outcome deepspeed_read(const struct wrapper *wrapper,
					   const struct launch *launch,
					   const struct config *config,
					   struct config *deepspeed)
{
	const char *path = launch->said[SAYS_DEEPSPEED_FILE].value;
	struct named_file *file;
	enum command_outcome outcome;
	char *fault;

	if (!path)
		path = config_value(config,
				    "deepspeed_config.deepspeed_config_file");
	if (!path || !is_deepspeed(launch, config))
		return COMMAND_OK;
	deepspeed->path = xstrdup(path);
	outcome = launch_file(wrapper, launch, path, &file);
	if (outcome == COMMAND_OK && file)
		outcome = config_parse(wrapper, launch, deepspeed, file);
	fault = deepspeed_fault(&deepspeed->settings, path);
	if (outcome == COMMAND_OK && fault)
		outcome = launch_fail(wrapper, COMMAND_NOT_RECOGNISED, "%s: %s",
				      launch->row->names.items[0], fault);
	free(fault);
	return outcome;
}

/*
 * DeepSpeed's accumulation reaches the script as a variable, which wins over
 * the script's own, or contradicts it: prepare_deepspeed_cmd_env() of
 * utils/launch.py, Accelerator.__init__().
 */
static enum command_outcome accum_check(const struct wrapper *wrapper,
					const struct launch *launch,
					const struct config *config)
{
	const char *option = launch->said[SAYS_ACCUM].value;
	const char *value = config_value(
		config, "deepspeed_config.gradient_accumulation_steps");

	if (option)
		value = option;
	if (!is_deepspeed(launch, config) || !value ||
	    strcmp(value, "auto") == 0)
		return COMMAND_OK;
	return launch_fail(
		wrapper, COMMAND_NOT_RECOGNISED,
		"%s: its own %sgradient_accumulation_steps wins over "
		"the script's or contradicts it: take it out there, "
		"and give it to the script alone",
		launch->row->names.items[0], option ? "--" : "");
}

/* Options, its config file, DeepSpeed's own file: all that is read. */
struct accelerate_files {
	struct config config, deepspeed;
};

static enum command_outcome files_read(const struct wrapper *wrapper,
				       const struct launch *launch,
				       struct accelerate_files *files)
{
	enum command_outcome outcome =
		config_read(wrapper, launch, &files->config);

	if (outcome != COMMAND_OK)
		return outcome;
	if (files->config.settings.count > 0)
		outcome = config_check(wrapper, launch, &files->config);
	if (outcome != COMMAND_OK)
		return outcome;
	outcome = accum_check(wrapper, launch, &files->config);
	if (outcome != COMMAND_OK)
		return outcome;
	return deepspeed_read(wrapper, launch, &files->config,
			      &files->deepspeed);
}

static enum command_outcome count_ranks(const struct wrapper *wrapper,
					struct launch *launch,
					const struct config *config)
{
	const char *nodes = launch->said[SAYS_NODES].value;
	enum command_outcome outcome;

	if (!nodes)
		nodes = config_value(config, "num_machines");
	outcome = ranks_check_nodes(wrapper, launch, nodes);
	if (outcome != COMMAND_OK)
		return outcome;
	return config->settings.count > 0
		       ? count_configured(wrapper, launch, config)
		       : count_visible(wrapper, launch, config);
}

enum command_outcome ranks_count_accelerate(const struct wrapper *wrapper,
					    struct launch *launch)
{
	const struct launch_said *foreign = &launch->said[SAYS_FOREIGN];
	struct accelerate_files files = { .config = { .path = NULL } };
	enum command_outcome outcome;
	char *option;

	if (foreign->value) {
		option = xasprintf("--%s", foreign->name);
		outcome = ranks_foreign(wrapper, launch, option);
		free(option);
		return outcome;
	}
	outcome = files_read(wrapper, launch, &files);
	if (outcome == COMMAND_OK)
		outcome = count_ranks(wrapper, launch, &files.config);
	if (outcome == COMMAND_OK)
		launch_sharding_find(wrapper, launch, &files.config.settings,
				     &files.deepspeed.settings);
	config_release(&files.config);
	config_release(&files.deepspeed);
	return outcome;
}
