/* Programs that start another program: one row each. */
/* SPDX-License-Identifier: MIT */
#include "launcher/launchers.h"

#include <ctype.h>
#include <string.h>

static const char *const env_values[] = { "u", "unset", NULL };
static const char *const env_switches[] = {
	"i",
	"ignore_environment",
	"v",
	"debug",
	"block_signal",
	"ignore_signal",
	"default_signal",
	NULL,
};
static const char *const nice_values[] = { "n", "adjustment", NULL };

/* torch 1.13 to 2.9: get_args_parser() of torch/distributed/run.py. */
static const char *const torchrun_modules[] = { "torch.distributed.run",
						"torch.distributed.launch",
						NULL };
static const char *const torchrun_values[] = {
	"nnodes",
	"nproc_per_node",
	"rdzv_backend",
	"rdzv_endpoint",
	"rdzv_id",
	"rdzv_conf",
	"max_restarts",
	"monitor_interval",
	"start_method",
	"event_log_handler",
	"role",
	"log_dir",
	"r",
	"redirects",
	"t",
	"tee",
	"local_ranks_filter",
	"duplicate_stdout_filters",
	"duplicate_stderr_filters",
	"node_rank",
	"master_addr",
	"master_port",
	"local_addr",
	"logs_specs",
	"numa_binding",
	"signals_to_handle",
	NULL,
};
static const char *const torchrun_switches[] = {
	"standalone",         "m",        "module",
	"no_python",          "run_path", "use_env",
	"virtual_local_rank", NULL,
};

/* Everything else of accelerate launch takes a value. */
static const char *const accelerate_modules[] = { "accelerate.commands.launch",
						  NULL };
static const char *const accelerate_values[] = { "num_processes",
						 "num_machines", "config_file",
						 NULL };
static const char *const accelerate_switches[] = {
	"q",
	"quiet",
	"cpu",
	"multi_gpu",
	"tpu",
	"enable_cpu_affinity",
	"use_deepspeed",
	"use_fsdp",
	"use_megatron_lm",
	"use_xpu",
	"use_mps_device",
	"m",
	"module",
	"no_python",
	"debug",
	"dynamo_use_fullgraph",
	"dynamo_use_dynamic",
	"dynamo_use_regional_compilation",
	"downcast_bf16",
	"tpu_cluster",
	"no_tpu_cluster",
	"tpu_use_sudo",
	"same_network",
	"fp8_use_autocast_during_eval",
	"fp8_override_linear_precision",
	"use_parallelism_config",
	NULL,
};
static const char *const accelerate_files[] = { "config_file", NULL };
static const char *const accelerate_foreign[] = {
	"tpu", "tpu_cluster", "use_megatron_lm", "use_parallelism_config", NULL
};

#define IN_FRONT                                                               \
	"put it in front of autofit, which passes it on to probes and run"
#define RANKS_UNKNOWN                                                          \
	"the ranks it starts cannot be counted here: start them with "         \
	"torchrun or accelerate launch"
#define INSIDE                                                                 \
	"memory cannot be watched from outside: start autofit inside, in "     \
	"front of the training command"

#define OTHER(program, result, text)                                           \
	{                                                                      \
		.name = (program), .kind = LAUNCHER_OTHER,                     \
		.outcome = (result), .advice = (text)                          \
	}

static const struct launcher launchers[] = {
	{ .name = "env",
	  .kind = LAUNCHER_WRAPPER,
	  .values = env_values,
	  .switches = env_switches,
	  .assignments = true },
	{ .name = "nice",
	  .kind = LAUNCHER_WRAPPER,
	  .values = nice_values,
	  .digits = true },
	{ .name = "nohup", .kind = LAUNCHER_WRAPPER },
	{ .name = "python", .kind = LAUNCHER_PYTHON },
	{ .name = "torchrun",
	  .modules = torchrun_modules,
	  .kind = LAUNCHER_RANKS,
	  .values = torchrun_values,
	  .switches = torchrun_switches,
	  .abbreviations = true,
	  .ranks = "nproc_per_node",
	  .nodes = "nnodes" },
	{ .name = "accelerate",
	  .subcommand = "launch",
	  .modules = accelerate_modules,
	  .kind = LAUNCHER_RANKS,
	  .values = accelerate_values,
	  .switches = accelerate_switches,
	  .unknown_has_value = true,
	  .ranks = "num_processes",
	  .nodes = "num_machines",
	  .all_devices = "multi_gpu",
	  .one_rank = "cpu",
	  .many_by_default = true,
	  .files = accelerate_files,
	  .foreign = accelerate_foreign },
	OTHER("time", COMMAND_NOT_RECOGNISED, IN_FRONT),
	OTHER("timeout", COMMAND_NOT_RECOGNISED, IN_FRONT),
	OTHER("stdbuf", COMMAND_NOT_RECOGNISED, IN_FRONT),
	OTHER("setsid", COMMAND_NOT_RECOGNISED, IN_FRONT),
	OTHER("numactl", COMMAND_NOT_RECOGNISED, IN_FRONT),
	OTHER("taskset", COMMAND_NOT_RECOGNISED, IN_FRONT),
	OTHER("ionice", COMMAND_NOT_RECOGNISED, IN_FRONT),
	OTHER("uv", COMMAND_NOT_RECOGNISED, IN_FRONT),
	OTHER("poetry", COMMAND_NOT_RECOGNISED, IN_FRONT),
	OTHER("conda", COMMAND_NOT_RECOGNISED, IN_FRONT),
	OTHER("mamba", COMMAND_NOT_RECOGNISED, IN_FRONT),
	OTHER("micromamba", COMMAND_NOT_RECOGNISED, IN_FRONT),
	OTHER("srun", COMMAND_NOT_RECOGNISED,
	      "the ranks it starts cannot be counted here: write srun "
	      "--ntasks=1 autofit -- torchrun ..."),
	OTHER("deepspeed", COMMAND_NOT_RECOGNISED, RANKS_UNKNOWN),
	OTHER("mpirun", COMMAND_NOT_RECOGNISED, RANKS_UNKNOWN),
	OTHER("mpiexec", COMMAND_NOT_RECOGNISED, RANKS_UNKNOWN),
	OTHER("horovodrun", COMMAND_NOT_RECOGNISED, RANKS_UNKNOWN),
	OTHER("sbatch", COMMAND_REFUSED,
	      "it returns before anything has run: put autofit in front of "
	      "the training command inside the job script"),
	OTHER("sudo", COMMAND_REFUSED, IN_FRONT),
	OTHER("ssh", COMMAND_REFUSED, INSIDE),
	OTHER("kubectl", COMMAND_REFUSED, INSIDE),
	OTHER("docker", COMMAND_REFUSED, INSIDE),
	OTHER("podman", COMMAND_REFUSED, INSIDE),
	{ .name = NULL },
};

/* python, python3, python3.11 */
static bool is_python(const char *name)
{
	static const char stem[] = "python";

	if (strncmp(name, stem, strlen(stem)) != 0)
		return false;
	for (name += strlen(stem); *name; name++)
		if (!isdigit((unsigned char)*name) && *name != '.')
			return false;
	return true;
}

const struct launcher *launcher_find(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;

	if (is_python(name))
		name = "python";
	for (const struct launcher *row = launchers; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

const struct launcher *launcher_find_module(const char *module)
{
	for (const struct launcher *row = launchers; row->name; row++)
		for (const char *const *known = row->modules; known && *known;
		     known++)
			if (strcmp(*known, module) == 0)
				return row;
	return NULL;
}
