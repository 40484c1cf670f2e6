/* Ranks, login nodes and requeued jobs, by what launchers set. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/request/surroundings.h"

#include "tests/unit/scratch.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#define VARIABLES_MAX 10

static struct strlist environment_of(const char *const *variables)
{
	struct strlist environment = STRLIST_INIT;

	strlist_add(&environment, "PATH=/bin");
	for (size_t i = 0; i < VARIABLES_MAX && variables[i]; i++)
		strlist_add(&environment, variables[i]);
	return environment;
}

struct rank_row {
	const char *name;
	const char *variables[VARIABLES_MAX];
	int64_t world, rank;
	const char *variable, *launcher;
};

static const struct rank_row rank_rows[] = {
	{ .name = "nothing", .world = 1, .rank = -1 },
	{ "batch script, ntasks 2",
	  { "SLURM_JOB_ID=7", "SLURM_NTASKS=2", "SLURM_NPROCS=2",
	    "SLURM_PROCID=0", "SLURM_TASKS_PER_NODE=2" },
	  1,
	  -1,
	  NULL,
	  NULL },
	{ "batch script of a newer Slurm",
	  { "SLURM_NTASKS=2", "SLURM_STEP_ID=4294967291", "SLURM_PROCID=0" },
	  1,
	  -1,
	  NULL,
	  NULL },
	{ "srun, 4 tasks",
	  { "SLURM_JOB_ID=7", "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=4",
	    "SLURM_PROCID=3", "SLURM_NTASKS=4" },
	  4,
	  3,
	  "SLURM_STEP_NUM_TASKS",
	  "srun" },
	{ "srun, 1 task",
	  { "SLURM_STEP_ID=1", "SLURM_STEP_NUM_TASKS=1", "SLURM_PROCID=0" },
	  1,
	  -1,
	  NULL,
	  NULL },
	{ "srun with PMI",
	  { "SLURM_STEP_ID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=0",
	    "PMI_SIZE=2", "PMI_RANK=0" },
	  2,
	  0,
	  "SLURM_STEP_NUM_TASKS",
	  "srun" },
	{ "interactive step of salloc",
	  { "SLURM_STEP_ID=4294967290", "SLURM_STEP_NUM_TASKS=2",
	    "SLURM_PROCID=0" },
	  1,
	  -1,
	  NULL,
	  NULL },
	{ "interactive step, as a negative number",
	  { "SLURM_STEP_ID=-6", "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=0" },
	  1,
	  -1,
	  NULL,
	  NULL },
	{ "Open MPI",
	  { "OMPI_COMM_WORLD_SIZE=8", "OMPI_COMM_WORLD_RANK=7" },
	  8,
	  7,
	  "OMPI_COMM_WORLD_SIZE",
	  "mpirun" },
	{ "Open MPI over the daemons of srun",
	  { "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1",
	    "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=0" },
	  2,
	  0,
	  "OMPI_COMM_WORLD_SIZE",
	  "mpirun" },
	{ "MPICH, Intel MPI",
	  { "PMI_SIZE=2", "PMI_RANK=1" },
	  2,
	  1,
	  "PMI_SIZE",
	  "mpiexec" },
	{ "Intel MPI over the daemons of srun",
	  { "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1",
	    "PMI_SIZE=16", "PMI_RANK=9" },
	  16,
	  9,
	  "PMI_SIZE",
	  "mpiexec" },
	{ "MVAPICH",
	  { "MV2_COMM_WORLD_SIZE=4", "MV2_COMM_WORLD_RANK=2" },
	  4,
	  2,
	  "MV2_COMM_WORLD_SIZE",
	  "mpirun" },
	{ "PALS",
	  { "PALS_RANKID=1", "PMI_SIZE=6", "PMI_RANK=1" },
	  6,
	  1,
	  "PMI_SIZE",
	  "mpiexec" },
	{ "PALS, in the batch script",
	  { "PALS_NRANKS=6", "PBS_NP=6" },
	  1,
	  -1,
	  NULL,
	  NULL },
	{ "jsrun",
	  { "JSM_NAMESPACE_SIZE=6", "JSM_NAMESPACE_RANK=5" },
	  6,
	  5,
	  "JSM_NAMESPACE_SIZE",
	  "jsrun" },
	{ "flux run",
	  { "FLUX_JOB_SIZE=3", "FLUX_TASK_RANK=0" },
	  3,
	  0,
	  "FLUX_JOB_SIZE",
	  "flux run" },
	{ .name = "flux batch",
	  .variables = { "FLUX_JOB_SIZE=3" },
	  .world = 1,
	  .rank = -1 },
	{ "torchrun",
	  { "WORLD_SIZE=8", "RANK=3", "TORCHELASTIC_RUN_ID=none" },
	  8,
	  3,
	  "WORLD_SIZE",
	  "torchrun" },
	{ "torchrun of 4 in each of 2 tasks",
	  { "SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=1",
	    "WORLD_SIZE=8", "RANK=4", "TORCHELASTIC_RUN_ID=none" },
	  8,
	  4,
	  "WORLD_SIZE",
	  "torchrun" },
	{ "deepspeed",
	  { "WORLD_SIZE=2", "RANK=1", "LOCAL_RANK=1" },
	  2,
	  1,
	  "WORLD_SIZE",
	  "deepspeed" },
	{ "exported for a launcher to come",
	  { "WORLD_SIZE=8", "RANK=0", "MASTER_ADDR=here" },
	  1,
	  -1,
	  NULL,
	  NULL },
	{ "one rank",
	  { "WORLD_SIZE=1", "RANK=0", "TORCHELASTIC_RUN_ID=none" },
	  1,
	  -1,
	  NULL,
	  NULL },
	{ "rank not known", { "PMI_SIZE=2" }, 2, -1, "PMI_SIZE", "mpiexec" },
	{ "rank out of bounds",
	  { "PMI_SIZE=2", "PMI_RANK=2" },
	  2,
	  -1,
	  "PMI_SIZE",
	  "mpiexec" },
	{ "absurd: not a number", { "PMI_SIZE=two" }, 1, -1, NULL, NULL },
	{ "absurd: a rest", { "PMI_SIZE=2x" }, 1, -1, NULL, NULL },
	{ "absurd: empty", { "PMI_SIZE=" }, 1, -1, NULL, NULL },
	{ "absurd: zero", { "PMI_SIZE=0" }, 1, -1, NULL, NULL },
	{ "absurd: negative", { "PMI_SIZE=-4" }, 1, -1, NULL, NULL },
	{ "absurd: blank", { "PMI_SIZE= 4" }, 1, -1, NULL, NULL },
	{ "absurd: huge", { "PMI_SIZE=99999999999" }, 1, -1, NULL, NULL },
	{ "absurd: beyond 64 bits",
	  { "PMI_SIZE=99999999999999999999" },
	  1,
	  -1,
	  NULL,
	  NULL },
};

static void assert_same_text(const char *a, const char *b)
{
	assert_string_equal(a ? a : "(none)", b ? b : "(none)");
}

static void ranks_are_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rank_rows) / sizeof(*rank_rows); i++) {
		const struct rank_row *row = &rank_rows[i];
		struct strlist environment = environment_of(row->variables);
		struct rank_place place = surroundings_rank(&environment);

		print_message("%s\n", row->name);
		assert_int_equal(place.world, row->world);
		assert_int_equal(place.rank, row->rank);
		assert_same_text(place.variable, row->variable);
		assert_same_text(place.launcher, row->launcher);
		strlist_release(&environment);
	}
}

static void requeued_jobs_are_known(void **state)
{
	static const struct {
		const char *name;
		const char *variables[VARIABLES_MAX];
		const char *request;
	} rows[] = {
		{ "nothing", { NULL }, NULL },
		{ "first start", { "SLURM_JOB_ID=123" }, NULL },
		{ "never restarted",
		  { "SLURM_JOB_ID=123", "SLURM_RESTART_COUNT=0" },
		  NULL },
		{ "restarted",
		  { "SLURM_JOB_ID=123", "SLURM_RESTART_COUNT=2" },
		  "slurm 123" },
		{ "restarted, cluster known",
		  { "SLURM_JOB_ID=123", "SLURM_RESTART_COUNT=1",
		    "SLURM_CLUSTER_NAME=big-1.b" },
		  "slurm big-1.b 123" },
		{ "a cluster's name that is none",
		  { "SLURM_JOB_ID=123", "SLURM_RESTART_COUNT=1",
		    "SLURM_CLUSTER_NAME=a\nb" },
		  "slurm 123" },
		{ "no job", { "SLURM_RESTART_COUNT=1" }, NULL },
		{ "job that is none",
		  { "SLURM_JOB_ID=x", "SLURM_RESTART_COUNT=1" },
		  NULL },
		{ "count that is none",
		  { "SLURM_JOB_ID=123", "SLURM_RESTART_COUNT=yes" },
		  NULL },
		{ "LSF, first start", { "LSB_JOBID=9" }, NULL },
		{ "LSF, restarted",
		  { "LSB_JOBID=9", "LSB_JOBINDEX=0", "LSB_RESTART=Y" },
		  "lsf 9" },
		{ "LSF, of an array",
		  { "LSB_JOBID=9", "LSB_JOBINDEX=4", "LSB_RESTART=Y" },
		  "lsf 9[4]" },
		{ "LSF, another value",
		  { "LSB_JOBID=9", "LSB_RESTART=N" },
		  NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct strlist environment = environment_of(rows[i].variables);
		char *request = surroundings_requeued(&environment);

		print_message("%s\n", rows[i].name);
		assert_same_text(request, rows[i].request);
		free(request);
		strlist_release(&environment);
	}
}

static void make_file(const char *root, const char *name, const char *text)
{
	char path[SCRATCH_PATH_MAX];

	for (const char *slash = strchr(name, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		(void)snprintf(path, sizeof(path), "%s/%.*s", root,
			       (int)(slash - name), name);
		(void)mkdir(path, 0700);
	}
	scratch_path(path, root, name);
	assert_int_equal(scratch_write(path, text, strlen(text)), 0);
}

static const struct {
	const char *name;
	const char *variables[VARIABLES_MAX];
	const char *file, *cgroup;
	bool login;
} login_rows[] = {
	{ "no Slurm", { NULL }, NULL, NULL, false },
	{ "configured", { NULL }, "etc/slurm/slurm.conf", NULL, true },
	{ "older", { NULL }, "etc/slurm-llnl/slurm.conf", NULL, true },
	{ "configless", { NULL }, "run/slurm/conf/slurm.conf", NULL, true },
	{ "installed by hand",
	  { NULL },
	  "usr/local/etc/slurm.conf",
	  NULL,
	  true },
	{ "ParallelCluster", { NULL }, "opt/slurm/etc/slurm.conf", NULL, true },
	{ "by the environment", { "SLURM_CONF=/x" }, NULL, NULL, true },
	{ "empty variable", { "SLURM_CONF=" }, NULL, NULL, false },
	{ "in a job",
	  { "SLURM_JOB_ID=5" },
	  "etc/slurm/slurm.conf",
	  NULL,
	  false },
	{ "in a job, old name",
	  { "SLURM_JOBID=5" },
	  "etc/slurm/slurm.conf",
	  NULL,
	  false },
	{ "a job that is none",
	  { "SLURM_JOB_ID=" },
	  "etc/slurm/slurm.conf",
	  NULL,
	  true },
	{ "ssh into a job, cgroup v1",
	  { NULL },
	  "etc/slurm/slurm.conf",
	  "4:memory:/slurm/uid_1000/job_5/step_extern/task_0\n",
	  false },
	{ "ssh into a job, cgroup v2",
	  { NULL },
	  "etc/slurm/slurm.conf",
	  "0::/system.slice/slurmstepd.scope/job_5/step_extern\n",
	  false },
	{ "another cgroup",
	  { NULL },
	  "etc/slurm/slurm.conf",
	  "0::/user.slice/job_5\n",
	  true },
	{ "slurmctld's cgroup",
	  { NULL },
	  "etc/slurm/slurm.conf",
	  "0::/system.slice/slurmctld.service\n",
	  true },
};

static void login_nodes_are_known(void **state)
{
	for (size_t i = 0; i < sizeof(login_rows) / sizeof(*login_rows); i++) {
		struct strlist environment =
			environment_of(login_rows[i].variables);
		char root[SCRATCH_PATH_MAX];
		char name[16];

		print_message("%s\n", login_rows[i].name);
		(void)snprintf(name, sizeof(name), "root%zu", i);
		scratch_path(root, *state, name);
		assert_int_equal(mkdir(root, 0700), 0);
		if (login_rows[i].file)
			make_file(root, login_rows[i].file, "ClusterName=a\n");
		if (login_rows[i].cgroup)
			make_file(root, "proc/self/cgroup",
				  login_rows[i].cgroup);
		assert_int_equal(surroundings_is_login_node(&environment, root),
				 login_rows[i].login);
		strlist_release(&environment);
	}
}

/* "." may have several names; another folder is none of them. */
static void the_folder_is_the_one_it_is_in(void **state)
{
	char folder[PATH_MAX];
	struct strlist environment = environment_of(
		(const char *const[]){ "PWD=/proc/self/cwd", NULL });

	(void)state;
	assert_non_null(getcwd(folder, sizeof(folder)));
	surroundings_folder_set(&environment);
	assert_string_equal(strlist_env_get(&environment, "PWD"),
			    "/proc/self/cwd");
	strlist_env_set(&environment, "PWD", "/nowhere");
	surroundings_folder_set(&environment);
	assert_string_equal(strlist_env_get(&environment, "PWD"), folder);
	strlist_env_unset(&environment, "PWD");
	surroundings_folder_set(&environment);
	assert_null(strlist_env_get(&environment, "PWD"));
	strlist_release(&environment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_are_known),
		cmocka_unit_test(the_folder_is_the_one_it_is_in),
		cmocka_unit_test(requeued_jobs_are_known),
		cmocka_unit_test_setup_teardown(login_nodes_are_known,
						scratch_make, scratch_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
