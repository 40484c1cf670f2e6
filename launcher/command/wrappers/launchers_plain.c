/* Programs that become the one that follows, or wait for it. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/launchers.h"

#include "launcher/command/wrappers/launchers_rows.h"

#define NO_START "it changes processes that run, and starts none"

/* Option lists are those of coreutils 9.6, util-linux 2.41, GNU time 1.9. */
static const struct launch_meaning env_says[] = {
	{ "u", SAYS_UNSET, NULL },
	{ "unset", SAYS_UNSET, NULL },
	{ "i", SAYS_CLEAR, NULL },
	{ "ignore_environment", SAYS_CLEAR, NULL },
	{ "C", SAYS_UNKNOWN, CHDIR },
	{ "chdir", SAYS_UNKNOWN, CHDIR },
	{ "S", SAYS_UNKNOWN, "write its words as arguments of their own" },
	{ "split_string", SAYS_UNKNOWN,
	  "write its words as arguments of their own" },
	{ 0 },
};
static const struct launch_meaning setsid_says[] = {
	{ "w", SAYS_WAIT, NULL },
	{ "wait", SAYS_WAIT, NULL },
	{ 0 },
};
static const struct launch_meaning ionice_says[] = {
	{ "p", SAYS_REFUSED, NO_START },
	{ "pid", SAYS_REFUSED, NO_START },
	{ "P", SAYS_REFUSED, NO_START },
	{ "pgid", SAYS_REFUSED, NO_START },
	{ "u", SAYS_REFUSED, NO_START },
	{ "uid", SAYS_REFUSED, NO_START },
	{ 0 },
};
static const struct launch_meaning pid_says[] = {
	{ "p", SAYS_REFUSED, NO_START },
	{ "pid", SAYS_REFUSED, NO_START },
	{ 0 },
};

/* docs/reference/cli.md of uv 0.9 */
static const struct launch_meaning uv_says[] = {
	{ "m", SAYS_MODULE, NULL },
	{ "module", SAYS_MODULE, NULL },
	{ "s", SAYS_SCRIPT, NULL },
	{ "script", SAYS_SCRIPT, NULL },
	{ "gui_script", SAYS_SCRIPT, NULL },
	{ "directory", SAYS_UNKNOWN, CHDIR },
	{ 0 },
};
static const struct launch_meaning poetry_says[] = {
	{ "C", SAYS_UNKNOWN, CHDIR },
	{ "directory", SAYS_UNKNOWN, CHDIR },
	{ 0 },
};
static const struct launch_meaning hatch_says[] = {
	{ "p", SAYS_UNKNOWN, CHDIR },
	{ "project", SAYS_UNKNOWN, CHDIR },
	{ 0 },
};
static const struct launch_meaning pixi_says[] = {
	{ "n", SAYS_REFUSED, "it only shows what would be started" },
	{ "dry_run", SAYS_REFUSED, "it only shows what would be started" },
	{ "clean_env", SAYS_CLEAR, NULL },
	{ 0 },
};
static const struct launch_meaning conda_says[] = {
	{ "cwd", SAYS_UNKNOWN, CHDIR },
	{ "d", SAYS_REFUSED, "it returns before anything has run" },
	{ "detach", SAYS_REFUSED, "it returns before anything has run" },
	{ "e", SAYS_ASSIGN, NULL },
	{ "env", SAYS_ASSIGN, NULL },
	{ "clean_env", SAYS_CLEAR, NULL },
	{ 0 },
};

#define WRAPPER .kind = LAUNCHER_WRAPPER, .advice = IN_FRONT

const struct launcher launchers_plain[] = {
	{ .names = NAMES("python"), .kind = LAUNCHER_PYTHON },
	{ .names = NAMES("sh", "bash", "dash", "zsh", "ksh"),
	  .kind = LAUNCHER_SHELL },
	{ .names = NAMES("env"),
	  WRAPPER,
	  .options = "u= unset= i ignore_environment v debug 0 null "
		     "block_signal? ignore_signal? default_signal? "
		     "list_signal_handling a= argv0= C= chdir= S= "
		     "split_string=",
	  .meanings = env_says,
	  .abbreviations = true,
	  .assignments = true },
	{ .names = NAMES("nice"),
	  WRAPPER,
	  .options = "n= adjustment=",
	  .abbreviations = true,
	  .digits = true },
	{ .names = NAMES("nohup"), WRAPPER },
	{ .names = NAMES("time"),
	  WRAPPER,
	  .options = "a append f= format= o= output= p portability q quiet v "
		     "verbose",
	  .abbreviations = true },
	{ .names = NAMES("timeout"),
	  WRAPPER,
	  .options = "f foreground p preserve_status k= kill_after= s= signal= "
		     "v verbose",
	  .abbreviations = true,
	  .operands = 1 },
	{ .names = NAMES("stdbuf"),
	  WRAPPER,
	  .options = "i= input= o= output= e= error=",
	  .abbreviations = true },
	{ .names = NAMES("setsid"),
	  WRAPPER,
	  .options = "c ctty f fork w wait",
	  .meanings = setsid_says,
	  .abbreviations = true,
	  .must_wait = true },
	{ .names = NAMES("ionice"),
	  WRAPPER,
	  .options = "c= class= n= classdata= p= pid= P= pgid= t ignore u= "
		     "uid=",
	  .meanings = ionice_says,
	  .abbreviations = true },
	{ .names = NAMES("taskset"),
	  WRAPPER,
	  .options = "a all_tasks p pid c cpu_list",
	  .meanings = pid_says,
	  .abbreviations = true,
	  .operands = 1 },
	{ .names = NAMES("chrt"),
	  WRAPPER,
	  .options = "b batch d deadline e ext f fifo i idle o other r rr R "
		     "reset_on_fork T= sched_runtime= P= sched_period= D= "
		     "sched_deadline= a all_tasks m max p pid v verbose",
	  .meanings = pid_says,
	  .abbreviations = true,
	  .operands = 1 },
	{ .names = NAMES("numactl"),
	  WRAPPER,
	  .options = "a all b balancing i= interleave= w= "
		     "weighted_interleave= p= preferred= P= preferred_many= c= "
		     "cpubind= N= cpunodebind= C= physcpubind= m= membind= l "
		     "localalloc t strict",
	  .abbreviations = true },
	{ .names = NAMES("uv"),
	  .subcommand = "run",
	  .command_modules = NAMES("uv"),
	  WRAPPER,
	  .options =
		  "active all_extras all_groups all_packages "
		  "allow_insecure_host= trusted_host= cache_dir= color= "
		  "compile_bytecode compile config_file= config_setting= "
		  "config_settings= C= config_settings_package= "
		  "default_index= directory= env_file= exact exclude_newer= "
		  "exclude_newer_package= extra= extra_index_url= find_links= "
		  "f= fork_strategy= frozen group= gui_script index= "
		  "index_strategy= index_url= i= isolated keyring_provider= "
		  "link_mode= locked managed_python module m native_tls "
		  "no_binary no_binary_package= no_build no_build_isolation "
		  "no_build_isolation_package= no_build_package= no_cache "
		  "no_cache_dir n no_config no_default_groups no_dev "
		  "no_editable no_env_file no_extra= no_group= no_index "
		  "no_managed_python no_progress no_project no_workspace "
		  "no_python_downloads no_sources no_sources_package= no_sync "
		  "offline only_dev only_group= package= prerelease= preview "
		  "no_preview preview_features= project= python= p= "
		  "python_platform= quiet q refresh refresh_package= reinstall "
		  "force_reinstall reinstall_package= resolution= script s "
		  "show_resolution system_certs torch_backend= upgrade U "
		  "upgrade_package= P= verbose v with= w= with_editable= "
		  "with_requirements= dev",
	  .meanings = uv_says },
	{ .names = NAMES("poetry"),
	  .subcommand = "run",
	  .command_modules = NAMES("poetry"),
	  WRAPPER,
	  .options = "v verbose q quiet ansi no_ansi n no_interaction "
		     "no_plugins no_cache C= directory= P= project=",
	  .meanings = poetry_says },
	{ .names = NAMES("pdm"),
	  .subcommand = "run",
	  .command_modules = NAMES("pdm"),
	  WRAPPER,
	  .options = "c= config= v verbose q quiet I ignore_python no_lock "
		     "n non_interactive g global p= project= s site_packages "
		     "k= skip= venv= recreate",
	  .abbreviations = true },
	{ .names = NAMES("hatch"),
	  .subcommand = "run",
	  .command_modules = NAMES("hatch"),
	  WRAPPER,
	  .options = "e= env= p= project= v verbose q quiet color no_color "
		     "interactive no_interactive data_dir= cache_dir= config=",
	  .meanings = hatch_says,
	  .bad_letters = ":+" },
	{ .names = NAMES("pixi"),
	  .subcommand = "run",
	  WRAPPER,
	  .options =
		  "e= environment= clean_env skip_deps n dry_run x "
		  "executable templated tls_no_verify auth_file= "
		  "pypi_keyring_provider= pypi_verify_direct_url_hashes "
		  "concurrent_solves= concurrent_downloads= "
		  "pinning_strategy= run_post_link_scripts no_symbolic_links "
		  "no_hard_links no_ref_links force_activate no_completions "
		  "no_install revalidate no_lockfile_update frozen locked "
		  "as_is m= manifest_path= w= workspace= v verbose q quiet "
		  "color= no_progress",
	  .meanings = pixi_says },
	{ .names = NAMES("conda", "mamba", "micromamba"),
	  .subcommand = "run",
	  .command_modules = NAMES("conda"),
	  WRAPPER,
	  .options = "n= name= p= prefix= r= root_prefix= v verbose q quiet y "
		     "yes json offline no_plugins no_rc no_env rc_file= "
		     "log_level= dev debug_wrapper_scripts cwd= s "
		     "no_capture_output live_stream a= attach= d detach e= "
		     "env= clean_env label= use_uv experimental",
	  .meanings = conda_says },
	{ .names = NAMES("pipenv"),
	  .subcommand = "run",
	  .command_modules = NAMES("pipenv"),
	  WRAPPER,
	  .options = "python= two three clear v verbose q quiet pypi_mirror= "
		     "site_packages no_site_packages system bare" },
	{ .names = NAMES("rye"),
	  .subcommand = "run",
	  WRAPPER,
	  .options = "f= pyproject= env_file= v verbose q quiet" },
	{ .names = NULL },
};
