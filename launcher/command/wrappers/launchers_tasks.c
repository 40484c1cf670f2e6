/* Programs that start tasks, of any program: their options, what those say. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/launchers.h"

#include "launcher/command/wrappers/launchers_rows.h"

/* Open MPI 4 and 5, and the Hydra of MPICH and Intel MPI. */
static const struct launch_meaning mpirun_says[] = {
	{ "n", SAYS_RANKS, NULL },
	{ "np", SAYS_RANKS, NULL },
	{ "c", SAYS_RANKS, NULL },
	{ "H", SAYS_HOSTS, NULL },
	{ "host", SAYS_HOSTS, NULL },
	{ "hosts", SAYS_HOSTS, NULL },
	{ "hostlist", SAYS_HOSTS, NULL },
	{ "machinelist", SAYS_HOSTS, NULL },
	{ "machines", SAYS_HOSTS, NULL },
	{ "f", SAYS_HOSTFILE, NULL },
	{ "hostfile", SAYS_HOSTFILE, NULL },
	{ "machinefile", SAYS_HOSTFILE, NULL },
	{ "default_hostfile", SAYS_HOSTFILE, NULL },
	{ "x", SAYS_ASSIGN, NULL },
	{ "env", SAYS_ASSIGN, NULL },
	{ "genv", SAYS_ASSIGN, NULL },
	{ "app", SAYS_UNKNOWN, IN_A_FILE },
	{ "configfile", SAYS_UNKNOWN, IN_A_FILE },
	{ "wdir", SAYS_UNKNOWN, CHDIR },
	{ "wd", SAYS_UNKNOWN, CHDIR },
	{ "set_cwd_to_session_dir", SAYS_UNKNOWN, CHDIR },
	{ "rankfile", SAYS_UNKNOWN, WITHOUT },
	{ "rf", SAYS_UNKNOWN, WITHOUT },
	{ "nolocal", SAYS_REFUSED, INSIDE },
	{ 0 },
};
static const struct launch_meaning mpirun_variables[] = {
	{ "SLURM_JOB_NUM_NODES", SAYS_NODES, NULL },
	{ "PBS_NUM_NODES", SAYS_NODES, NULL },
	{ 0 },
};

/* parse_args() of horovod/runner/launch.py */
static const struct launch_meaning horovod_says[] = {
	{ "np", SAYS_RANKS, NULL },
	{ "num_proc", SAYS_RANKS, NULL },
	{ "H", SAYS_HOSTS, NULL },
	{ "hosts", SAYS_HOSTS, NULL },
	{ "hostfile", SAYS_HOSTFILE, NULL },
	{ "min_np", SAYS_REFUSED, ELASTIC },
	{ "min_num_proc", SAYS_REFUSED, ELASTIC },
	{ "max_np", SAYS_REFUSED, ELASTIC },
	{ "max_num_proc", SAYS_REFUSED, ELASTIC },
	{ "host_discovery_script", SAYS_REFUSED, ELASTIC },
	{ 0 },
};

#define NO_VARIABLES                                                           \
	"what probes are told by variables does not arrive without ALL: "      \
	"write ALL, first"

/* Slurm 25.05: slurm_opt.c and srun/opt.c; options of the pyxis plugin. */
static const struct launch_meaning srun_says[] = {
	{ "n", SAYS_RANKS, NULL },
	{ "ntasks", SAYS_RANKS, NULL },
	{ "ntasks_per_node", SAYS_RANKS_PER_NODE, NULL },
	{ "tasks_per_node", SAYS_RANKS_PER_NODE, NULL },
	{ "N", SAYS_NODES, NULL },
	{ "nodes", SAYS_NODES, NULL },
	{ "w", SAYS_HOSTS, NULL },
	{ "nodelist", SAYS_HOSTS, NULL },
	{ "export", SAYS_EXPORT, NO_VARIABLES },
	{ "G", SAYS_OTHER_DEVICES, NULL },
	{ "gpus", SAYS_OTHER_DEVICES, NULL },
	{ "gpus_per_node", SAYS_OTHER_DEVICES, NULL },
	{ "gpus_per_socket", SAYS_OTHER_DEVICES, NULL },
	{ "gpus_per_task", SAYS_OTHER_DEVICES, NULL },
	{ "gres", SAYS_OTHER_DEVICES, NULL },
	{ "tres_per_task", SAYS_OTHER_DEVICES, NULL },
	{ "multi_prog", SAYS_UNKNOWN, IN_A_FILE },
	{ "D", SAYS_UNKNOWN, CHDIR },
	{ "chdir", SAYS_UNKNOWN, CHDIR },
	{ "container", SAYS_UNKNOWN, INSIDE },
	{ "container_image", SAYS_UNKNOWN, INSIDE },
	{ "container_name", SAYS_UNKNOWN, INSIDE },
	{ "test_only", SAYS_REFUSED, "it starts nothing" },
	{ 0 },
};
static const struct launch_meaning srun_variables[] = {
	{ "SLURM_NTASKS", SAYS_RANKS, NULL },
	{ "SLURM_NPROCS", SAYS_RANKS, NULL },
	{ "SLURM_NTASKS_PER_NODE", SAYS_RANKS_PER_NODE, NULL },
	{ "SLURM_JOB_NUM_NODES", SAYS_NODES, NULL },
	{ "SLURM_NNODES", SAYS_NODES, NULL },
	{ "SRUN_EXPORT_ENV", SAYS_EXPORT, NO_VARIABLES },
	{ "SLURM_EXPORT_ENV", SAYS_EXPORT, NO_VARIABLES },
	{ 0 },
};

const struct launcher launchers_tasks[] = {
	{ .names = NAMES("mpirun", "mpiexec", "mpiexec.hydra", "mpirun.openmpi",
			 "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich",
			 "orterun", "prterun"),
	  .kind = LAUNCHER_TASKS,
	  .options =
		  "v verbose q quiet p parseable parsable report_pid= "
		  "report_uri= timeout= report_state_on_timeout "
		  "get_stack_traces report_child_jobs_separately hnp= xml "
		  "xml_file= tag_output timestamp_output output_filename= "
		  "output_directory= output= merge_stderr_to_stdout xterm= "
		  "stdin= index_argv_by_rank launch_agent= s preload_binary "
		  "preload_files= app= np= c= n= max_vm_size= hostfile= "
		  "machinefile= default_hostfile= do_not_resolve ompi_server= "
		  "rf= rankfile= x= display_map display_devel_map "
		  "display_diffable_map display= H= host= nolocal "
		  "nooversubscribe oversubscribe cpus_per_proc= "
		  "cpus_per_rank= bycore bynode byslot pernode npernode= N= "
		  "use_hwthread_cpus npersocket= map_by= rank_by= bind_to= "
		  "bind_to_core bind_to_socket report_bindings cpu_list= "
		  "cpu_set= ppr= slot_list= display_allocation "
		  "display_devel_allocation wdir= wd= path= "
		  "set_cwd_to_session_dir enable_recovery max_restarts= "
		  "continuous disable_recovery allow_run_as_root "
		  "personality= dvm= prefix= noprefix tmpdir= mca== gmca== "
		  "omca== gomca== prtemca== pmixmca== am= amca= tune= d "
		  "debug_devel debug_daemons debug_daemons_file "
		  "leave_session_attached show_progress forward_signals= "
		  "runtime_options= pset= with_ft= stream_buffering= "
		  "initial_errhandler= memory_alloc_kinds= display_comm "
		  "display_comm_finalize genv== genvlist= genvnone genvall "
		  "env== envlist= envnone envall f= machine= machines= "
		  "machinelist= hosts= hostlist= rankmap= ppn= perhost= "
		  "profile output_from= prepend_rank l prepend_pattern= "
		  "outfile_pattern= errfile_pattern= outfile= errfile= "
		  "configfile= launcher= launcher_exec= bootstrap= "
		  "bootstrap_exec= enable_x disable_x rmk= topolib= binding= "
		  "membind= demux= disable_auto_cleanup enable_auto_cleanup "
		  "disable_hostname_propagation enable_hostname_propagation "
		  "g= gpus_per_proc= gpu_subdevs_per_proc= hybrid_hosts "
		  "iface= localhost= nameserver= order_nodes= pmi_port "
		  "print_all_exitcodes print_rank_map skip_launch_node "
		  "usize=",
	  .meanings = mpirun_says,
	  .variables = mpirun_variables,
	  .single_dash = true,
	  .colon_joins = true,
	  .count = ranks_count_hosts,
	  .ranks_words = "-np N",
	  .advice = WITHOUT },
	{ .names = NAMES("horovodrun"),
	  .kind = LAUNCHER_TASKS,
	  .options =
		  "np= num_proc= disable_cache start_timeout= "
		  "network_interfaces= network_interface= output_filename= "
		  "verbose config_file= p= ssh_port= i= ssh_identity_file= "
		  "fusion_threshold_mb= cycle_time_ms= cache_capacity= "
		  "hierarchical_allreduce no_hierarchical_allreduce "
		  "hierarchical_allgather no_hierarchical_allgather autotune "
		  "no_autotune autotune_log_file= autotune_warmup_samples= "
		  "autotune_steps_per_sample= autotune_bayes_opt_max_samples= "
		  "autotune_gaussian_process_noise= min_np= min_num_proc= "
		  "max_np= max_num_proc= slots_per_host= elastic_timeout= "
		  "reset_limit= blacklist_cooldown_range== timeline_filename= "
		  "timeline_mark_cycles no_timeline_mark_cycles "
		  "no_stall_check stall_check "
		  "stall_check_warning_time_seconds= "
		  "stall_check_shutdown_time_seconds= mpi_threads_disable "
		  "no_mpi_threads_disable mpi_args= tcp binding_args= "
		  "num_nccl_streams= thread_affinity= gloo_timeout_seconds= "
		  "log_level= log_with_timestamp log_without_timestamp "
		  "prefix_timestamp prefix_output_with_timestamp "
		  "log_hide_timestamp no_log_hide_timestamp H= hosts= "
		  "hostfile= host_discovery_script= gloo mpi jsrun",
	  .meanings = horovod_says,
	  .single_dash = true,
	  .abbreviations = true,
	  .count = ranks_count_hosts,
	  .ranks_words = "-np N",
	  .advice = WITHOUT },
	{ .names = NAMES("srun"),
	  .kind = LAUNCHER_TASKS,
	  .options =
		  "A= account= accel_bind= acctg_freq= async B= "
		  "extra_node_info= b= begin= bb= bbf= bcast? bcast_exclude= "
		  "C= constraint= c= cpus_per_task= D= chdir= cluster= "
		  "clusters= M= cluster_constraint= comment= compress? "
		  "consolidate_segments container= container_id= context= "
		  "contiguous "
		  "core_spec= S= cores_per_socket= cpu_bind= cpu_freq= "
		  "cpus_per_gpu= d= dependency= deadline= debugger_test "
		  "delay_boot= X disable_status m= distribution= e= error= "
		  "epilog= exact x= exclude= exclusive? E preserve_env "
		  "export= external_launcher? extra= F= nodefile= G= gpus= "
		  "gpu_bind= gpu_freq= gpus_per_node= gpus_per_socket= "
		  "gpus_per_task= gres= gres_flags= H hold het_group= hint= "
		  "i= input= I? immediate? ignore_signals= interactive J= "
		  "job_name= jobid= K? kill_on_bad_exit? k? no_kill? L= "
		  "licenses= l label mail_type= mail_user= mcs_label= mem= "
		  "mem_bind= mem_per_cpu= mem_per_gpu= mincpus= mpi= "
		  "msg_timeout= multi_prog N= nodes= network= nice? Z "
		  "no_allocate w= nodelist= n= ntasks= ntasks_per_core= "
		  "ntasks_per_gpu= ntasks_per_node= tasks_per_node= "
		  "ntasks_per_socket= ntasks_per_tres= o= output= O "
		  "overcommit oom_kill_step? open_mode= overlap? "
		  "oversubscribe s p= partition= pack_group= parsable power= "
		  "prefer= priority= profile= prolog= propagate? pty? q= "
		  "qos= Q quiet quit_on_interrupt r= relative= reboot "
		  "reservation= resources= resv_ports? runtime= segment= "
		  "send_libs? signal= slurmd_debug= sockets_per_node= "
		  "spread_job spread_segments stepmgr switches= t= time= T= "
		  "threads= task_epilog= task_prolog= test_only thread_spec= "
		  "threads_per_core= time_min= tmp= treewidth= tres_bind= "
		  "tres_per_task= uid= u unbuffered use_min_nodes v verbose W= "
		  "wait= wait_for_children wckey= whole x11? "
		  "container_image= container_mounts= container_workdir= "
		  "container_name= container_save= container_mount_home "
		  "no_container_mount_home container_remap_root "
		  "no_container_remap_root container_entrypoint "
		  "no_container_entrypoint container_writable "
		  "container_readonly container_env=",
	  .meanings = srun_says,
	  .variables = srun_variables,
	  .abbreviations = true,
	  .colon_joins = true,
	  .count = ranks_count_srun,
	  .ranks_words = "--ntasks=N",
	  .outside = true,
	  .advice = WITHOUT },
	{ .names = NULL },
};
