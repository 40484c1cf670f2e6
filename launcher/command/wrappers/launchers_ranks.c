/* Programs that start ranks: their options, and what those say. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/launchers.h"

#include "launcher/command/wrappers/launchers_rows.h"

#define TORCHRUN "start the ranks with torchrun or accelerate launch"

/* torch 1.13 to 2.9: get_args_parser() of torch/distributed/run.py. */
static const struct launch_meaning torchrun_says[] = {
	{ "nproc_per_node", SAYS_RANKS, NULL },
	{ "nnodes", SAYS_NODES, NULL },
	{ "m", SAYS_MODULE, NULL },
	{ "module", SAYS_MODULE, NULL },
	{ "no_python", SAYS_NO_PYTHON, NULL },
	{ "master_port", SAYS_PORT, NULL },
	{ "rdzv_endpoint", SAYS_ENDPOINT, NULL },
	{ "rdzv_backend", SAYS_BACKEND, NULL },
	{ "standalone", SAYS_OWN_PORT, NULL },
	{ 0 },
};
/* Action "env" of torch/distributed/argparse_util.py. */
static const struct launch_meaning torchrun_variables[] = {
	{ "PET_NPROC_PER_NODE", SAYS_RANKS, NULL },
	{ "PET_NNODES", SAYS_NODES, NULL },
	{ "PET_MODULE", SAYS_MODULE, NULL },
	{ "PET_NO_PYTHON", SAYS_NO_PYTHON, NULL },
	{ "PET_RDZV_ENDPOINT", SAYS_ENDPOINT, NULL },
	{ "PET_RDZV_BACKEND", SAYS_BACKEND, NULL },
	{ "PET_STANDALONE", SAYS_OWN_PORT, NULL },
	{ 0 },
};

/* accelerate 0.20 to 1.9; what is no switch takes a value. */
static const struct launch_meaning accelerate_says[] = {
	{ "num_processes", SAYS_RANKS, NULL },
	{ "num_machines", SAYS_NODES, NULL },
	{ "multi_gpu", SAYS_MANY, NULL },
	{ "use_fsdp", SAYS_MANY, NULL },
	{ "use_deepspeed", SAYS_MANY, NULL },
	{ "cpu", SAYS_ONE, NULL },
	{ "use_deepspeed", SAYS_DEEPSPEED, NULL },
	{ "gradient_accumulation_steps", SAYS_ACCUM, NULL },
	{ "deepspeed_config_file", SAYS_DEEPSPEED_FILE, NULL },
	{ "use_fsdp", SAYS_FSDP, NULL },
	{ "zero_stage", SAYS_STAGE, NULL },
	{ "fsdp_sharding_strategy", SAYS_STRATEGY, NULL },
	{ "fsdp_reshard_after_forward", SAYS_STRATEGY, NULL },
	{ "offload_optimizer_device", SAYS_OFFLOAD_STATES, NULL },
	{ "offload_param_device", SAYS_OFFLOAD_WEIGHTS, NULL },
	{ "fsdp_offload_params", SAYS_OFFLOAD_WEIGHTS, NULL },
	{ "config_file", SAYS_CONFIG, NULL },
	{ "m", SAYS_MODULE, NULL },
	{ "module", SAYS_MODULE, NULL },
	{ "no_python", SAYS_NO_PYTHON, NULL },
	{ "main_process_port", SAYS_PORT, NULL },
	{ "mpirun_hostfile", SAYS_UNKNOWN, "write mpirun itself" },
	{ "tpu", SAYS_FOREIGN, NULL },
	{ "tpu_cluster", SAYS_FOREIGN, NULL },
	{ "use_megatron_lm", SAYS_FOREIGN, NULL },
	{ "use_parallelism_config", SAYS_FOREIGN, NULL },
	{ 0 },
};

/* deepspeed 0.9 to 0.18: parse_args() of deepspeed/launcher/runner.py. */
static const struct launch_meaning deepspeed_says[] = {
	{ "num_gpus", SAYS_RANKS, NULL },
	{ "num_accelerators", SAYS_RANKS, NULL },
	{ "num_nodes", SAYS_NODES, NULL },
	{ "i", SAYS_INCLUDE, NULL },
	{ "include", SAYS_INCLUDE, NULL },
	{ "e", SAYS_EXCLUDE, NULL },
	{ "exclude", SAYS_EXCLUDE, NULL },
	{ "H", SAYS_HOSTFILE, NULL },
	{ "hostfile", SAYS_HOSTFILE, NULL },
	{ "module", SAYS_MODULE, NULL },
	{ "no_python", SAYS_NO_PYTHON, NULL },
	{ "master_port", SAYS_PORT, NULL },
	{ "elastic_training", SAYS_REFUSED, ELASTIC },
	{ "min_elastic_nodes", SAYS_REFUSED, ELASTIC },
	{ "max_elastic_nodes", SAYS_REFUSED, ELASTIC },
	{ "autotuning", SAYS_REFUSED,
	  "it looks for a batch size too: leave it out" },
	{ "force_multi", SAYS_REFUSED, INSIDE },
	{ 0 },
};

/* paddle 3.0: parse_args() of paddle/distributed/launch/context. */
static const struct launch_meaning paddle_says[] = {
	{ "nproc_per_node", SAYS_RANKS, NULL },
	{ "nnodes", SAYS_NODES, NULL },
	{ "devices", SAYS_DEVICES, NULL },
	{ "gpus", SAYS_DEVICES, NULL },
	{ "npus", SAYS_DEVICES, NULL },
	{ "xpus", SAYS_DEVICES, NULL },
	{ "ips", SAYS_HOSTS, NULL },
	{ "servers", SAYS_UNKNOWN, TORCHRUN },
	{ "server_num", SAYS_UNKNOWN, TORCHRUN },
	{ "trainers", SAYS_UNKNOWN, TORCHRUN },
	{ "trainer_num", SAYS_UNKNOWN, TORCHRUN },
	{ "elastic_level", SAYS_REFUSED, ELASTIC },
	{ "auto_tuner_json", SAYS_REFUSED,
	  "it looks for a batch size too: leave it out" },
	{ 0 },
};
static const struct launch_meaning paddle_variables[] = {
	{ "PADDLE_NPROC_PER_NODE", SAYS_RANKS, NULL },
	{ "PADDLE_NNODES", SAYS_NODES, NULL },
	{ "PADDLE_DEVICES", SAYS_DEVICES, NULL },
	{ "PADDLE_IPS", SAYS_HOSTS, NULL },
	{ 0 },
};

const struct launcher launchers_ranks[] = {
	{ .names = NAMES("torchrun"),
	  .modules = NAMES("torch.distributed.run", "torch.distributed.launch"),
	  .kind = LAUNCHER_RANKS,
	  .options = "nnodes= nproc_per_node= rdzv_backend= rdzv_endpoint= "
		     "rdzv_id= rdzv_conf= standalone max_restarts= "
		     "monitor_interval= start_method= event_log_handler= role= "
		     "m module no_python run_path log_dir= r= redirects= t= "
		     "tee= local_ranks_filter= duplicate_stdout_filters= "
		     "duplicate_stderr_filters= node_rank= master_addr= "
		     "master_port= local_addr= logs_specs= numa_binding= "
		     "signals_to_handle= use_env virtual_local_rank",
	  .meanings = torchrun_says,
	  .variables = torchrun_variables,
	  .abbreviations = true,
	  .count = ranks_count_plain,
	  .ranks_words = "--nproc_per_node=N",
	  .port_option = "--master_port",
	  .advice = WITHOUT },
	{ .names = NAMES("accelerate"),
	  .subcommand = "launch",
	  .alone = NAMES("accelerate-launch"),
	  .modules = NAMES("accelerate.commands.launch"),
	  .command_modules = NAMES("accelerate.commands.accelerate_cli"),
	  .kind = LAUNCHER_RANKS,
	  .options =
		  "q quiet cpu multi_gpu tpu ipex enable_cpu_affinity "
		  "use_deepspeed use_fsdp use_megatron_lm use_xpu "
		  "use_mps_device use_parallelism_config m module no_python "
		  "debug dynamo_use_fullgraph dynamo_use_dynamic "
		  "dynamo_use_regional_compilation downcast_bf16 tpu_cluster "
		  "no_tpu_cluster tpu_use_sudo same_network t= "
		  "fp8_use_autocast_during_eval num_processes= num_machines= "
		  "config_file= main_process_port= mpirun_hostfile= "
		  "gradient_accumulation_steps= deepspeed_config_file= "
		  "zero_stage= "
		  "fsdp_sharding_strategy= fsdp_reshard_after_forward= "
		  "offload_optimizer_device= offload_param_device= "
		  "fsdp_offload_params=",
	  .meanings = accelerate_says,
	  .unknown_has_value = true,
	  .count = ranks_count_accelerate,
	  .ranks_words = "--num_processes=N",
	  .port_option = "--main_process_port",
	  .advice = WITHOUT },
	{ .names = NAMES("deepspeed", "ds"),
	  .modules = NAMES("deepspeed.launcher.runner"),
	  .kind = LAUNCHER_RANKS,
	  .options = "H= hostfile= i= include= e= exclude= num_nodes= "
		     "min_elastic_nodes= max_elastic_nodes= num_gpus= "
		     "num_accelerators= master_port= master_addr= node_rank= "
		     "launcher= launcher_args= module no_python no_local_rank "
		     "no_ssh no_ssh_check force_multi save_pid "
		     "enable_each_rank_log= autotuning= elastic_training "
		     "bind_cores_to_rank bind_core_list= ssh_port= "
		     "venv_script= log_level= q quiet",
	  .meanings = deepspeed_says,
	  .abbreviations = true,
	  .count = ranks_count_deepspeed,
	  .ranks_words = "--num_gpus=N",
	  .port_option = "--master_port",
	  .default_file = "/job/hostfile",
	  .advice = WITHOUT },
	{ .names = NAMES("paddle.distributed.launch", "fleetrun"),
	  .modules = NAMES("paddle.distributed.launch",
			   "paddle.distributed.fleet.launch"),
	  .kind = LAUNCHER_RANKS,
	  .options = "master= legacy= rank= log_level= log_overwrite= "
		     "sort_ip= enable_gpu_log= nnodes= nproc_per_node= "
		     "log_dir= run_mode= job_id= devices= gpus= npus= xpus= "
		     "host= ips= start_port= auto_parallel_config= "
		     "auto_cluster_config= auto_tuner_json= servers= "
		     "trainers= trainer_num= server_num= gloo_port= "
		     "with_gloo= max_restart= elastic_level= "
		     "elastic_timeout=",
	  .meanings = paddle_says,
	  .variables = paddle_variables,
	  .abbreviations = true,
	  .count = ranks_count_plain,
	  .ranks_words = "--nproc_per_node=N",
	  .many_by_default = true,
	  .advice = WITHOUT },
	{ .names = NULL },
};
