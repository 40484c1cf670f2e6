/* Where autofit itself was started: as one of several ranks, on a login node.
 */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/surroundings.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "base/units.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More ranks than any machine has cores is a stray number. */
#define WORLD_MAX 100000000
/* Slurm's step ids from here on are no steps of ranks: of the batch script,
 * the interactive step of salloc. slurm.h: SLURM_MAX_NORMAL_STEP_ID. */
#define SLURM_SPECIAL_STEP INT64_C(0xfffffff0)

/* What a launcher tells each rank. */
struct rank_variables {
	const char *world, *rank;
	/* Must be set too; NULL: none. */
	const char *beside;
	const char *launcher;
};

/*
 * The inner launcher before the outer one, as both are seen. Only what is set
 * for each rank: PALS_NRANKS and SLURM_NTASKS are inputs of mpiexec and srun,
 * there in a batch script already (PALS sets PMI_SIZE for its ranks). Slurm
 * sets PMI_SIZE as well, so it stands before PMI.
 */
static const struct rank_variables table[] = {
	{ "WORLD_SIZE", "RANK", "TORCHELASTIC_RUN_ID", "torchrun" },
	{ "WORLD_SIZE", "RANK", "LOCAL_RANK", "deepspeed" },
	{ "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", NULL, "mpirun" },
	{ "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", NULL, "mpirun" },
	{ "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", NULL, "srun" },
	{ "FLUX_JOB_SIZE", "FLUX_TASK_RANK", "FLUX_TASK_RANK", "flux run" },
	{ "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", NULL, "jsrun" },
	{ "PMI_SIZE", "PMI_RANK", NULL, "mpiexec" },
};

/* The value of a variable as a number; -1: none. */
static int64_t surroundings_number_of(const struct strlist *environment,
				      const char *name)
{
	const char *text = strlist_env_get(environment, name);
	int64_t value;

	if (!text || !isdigit((unsigned char)*text) ||
	    integer_parse(text, &value, NULL) < 0)
		return -1;
	return value;
}

static bool surroundings_is_set(const struct strlist *environment,
				const char *name)
{
	const char *value = strlist_env_get(environment, name);

	return value && *value;
}

/* Slurm writes these ids as negative numbers too. */
static bool is_special_step(const struct strlist *environment)
{
	const char *text = strlist_env_get(environment, "SLURM_STEP_ID");
	int64_t value;

	return text && integer_parse(text, &value, NULL) == 0 &&
	       (value < 0 || value >= SLURM_SPECIAL_STEP);
}

static int64_t world_of(const struct rank_variables *row,
			const struct strlist *environment)
{
	int64_t world = surroundings_number_of(environment, row->world);

	if (world < 1 || world > WORLD_MAX)
		return 1;
	if (row->beside && !surroundings_is_set(environment, row->beside))
		return 1;
	if (strcmp(row->launcher, "srun") == 0 && is_special_step(environment))
		return 1;
	return world;
}

struct rank_place surroundings_rank(const struct strlist *environment)
{
	struct rank_place place = { .world = 1, .rank = -1 };

	/* mpirun inside srun: the larger world is the inner one's. */
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct rank_variables *row = &table[i];
		int64_t world = world_of(row, environment);
		int64_t rank = surroundings_number_of(environment, row->rank);

		if (world <= place.world)
			continue;
		place.world = world;
		place.rank = rank < world ? rank : -1;
		place.variable = row->world;
		place.launcher = row->launcher;
	}
	return place;
}

bool surroundings_has_slurm(const struct strlist *environment, const char *root)
{
	/* Of Debian and most sites, of older Debian, of a node without files
	 * of its own, of "make install", of AWS ParallelCluster. */
	static const char *const files[] = {
		"/etc/slurm/slurm.conf",      "/etc/slurm-llnl/slurm.conf",
		"/run/slurm/conf/slurm.conf", "/usr/local/etc/slurm.conf",
		"/opt/slurm/etc/slurm.conf",
	};
	bool found = surroundings_is_set(environment, "SLURM_CONF");

	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !found; i++) {
		char *path = xasprintf("%s%s", root, files[i]);
		struct stat info;

		found = stat(path, &info) == 0;
		free(path);
	}
	return found;
}

/* "job_123" in a path of Slurm's: a session that pam_slurm_adopt put there. */
static bool is_in_job_cgroup(const char *root)
{
	char *path = xasprintf("%s/proc/self/cgroup", root);
	struct strbuf text = STRBUF_INIT;
	const char *slurm;
	const char *request;

	(void)textfile_read(path, 65536, &text, NULL);
	slurm = strstr(strbuf_text(&text), "slurm");
	request = slurm ? strstr(slurm, "/job_") : NULL;
	free(path);
	strbuf_release(&text);
	return request != NULL;
}

bool surroundings_is_login_node(const struct strlist *environment,
				const char *root)
{
	if (!surroundings_has_slurm(environment, root))
		return false;
	return surroundings_number_of(environment, "SLURM_JOB_ID") < 0 &&
	       surroundings_number_of(environment, "SLURM_JOBID") < 0 &&
	       !is_in_job_cgroup(root);
}

/* A cluster's name becomes part of a text that is compared and printed. */
static bool surroundings_is_plain(const char *name)
{
	if (!name || !*name || strlen(name) > 64)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("._-", *name))
			return false;
	return true;
}

static char *slurm_job(const struct strlist *environment)
{
	const char *cluster =
		strlist_env_get(environment, "SLURM_CLUSTER_NAME");
	int64_t request = surroundings_number_of(environment, "SLURM_JOB_ID");

	if (request < 1)
		return NULL;
	if (!surroundings_is_plain(cluster))
		return xasprintf("slurm %lld", (long long)request);
	return xasprintf("slurm %s %lld", cluster, (long long)request);
}

/* Elements of an array share an id. */
static char *lsf_job(const struct strlist *environment)
{
	int64_t request = surroundings_number_of(environment, "LSB_JOBID");
	int64_t index = surroundings_number_of(environment, "LSB_JOBINDEX");

	if (request < 1)
		return NULL;
	if (index < 1)
		return xasprintf("lsf %lld", (long long)request);
	return xasprintf("lsf %lld[%lld]", (long long)request,
			 (long long)index);
}

/* "Set to Y if the job has been restarted or migrated; otherwise, it is not
 * defined" (LSF configuration reference). */
static bool lsf_is_restarted(const struct strlist *environment)
{
	const char *restart = strlist_env_get(environment, "LSB_RESTART");

	return restart && strcmp(restart, "Y") == 0;
}

char *surroundings_job(const struct strlist *environment)
{
	char *name = slurm_job(environment);

	return name ? name : lsf_job(environment);
}

char *surroundings_requeued(const struct strlist *environment)
{
	if (surroundings_number_of(environment, "SLURM_JOB_ID") >= 1)
		return surroundings_number_of(environment,
					      "SLURM_RESTART_COUNT") >= 1
			       ? slurm_job(environment)
			       : NULL;
	return lsf_is_restarted(environment) ? lsf_job(environment) : NULL;
}

void surroundings_folder_set(struct strlist *environment)
{
	const char *said = strlist_env_get(environment, "PWD");
	struct stat here, there;
	char folder[PATH_MAX];

	if (said && *said == '/' && stat(said, &there) == 0 &&
	    stat(".", &here) == 0 && here.st_dev == there.st_dev &&
	    here.st_ino == there.st_ino)
		return;
	if (said && getcwd(folder, sizeof(folder)))
		strlist_env_set(environment, "PWD", folder);
}
