/* Where autofit itself was started: as one of several ranks, on a login node.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_SURROUNDINGS_H
#define AUTOFIT_LAUNCHER_REQUEST_SURROUNDINGS_H

#include "base/strlist.h"

#include <stdbool.h>
#include <stdint.h>

/* How many ranks autofit is one of, by the environment. Pure. */
struct rank_place {
	int64_t world;        /* 1: alone */
	int64_t rank;         /* -1: not known */
	const char *variable; /* that says so: "SLURM_STEP_NUM_TASKS" */
	const char *launcher; /* to put autofit in front of: "srun" */
};

/*
 * SLURM_STEP_NUM_TASKS, OMPI_COMM_WORLD_SIZE, PMI_SIZE, MV2_COMM_WORLD_SIZE,
 * torchrun's WORLD_SIZE beside RANK and TORCHELASTIC_RUN_ID, ... A batch
 * script's SLURM_NTASKS is none of them: it runs once.
 */
struct rank_place surroundings_rank(const struct strlist *environment);

/* PWD becomes the folder that this process is in, where it is another: so a
 * shell does that is started now. Whoever starts a process elsewhere need not.
 */
void surroundings_folder_set(struct strlist *environment);

/* Slurm is configured here: SLURM_CONF is set, or one of its usual files is
 * there, below root, which is "" but in tests. */
bool surroundings_has_slurm(const struct strlist *environment,
			    const char *root);

/* It is, and this process has no allocation. */
bool surroundings_is_login_node(const struct strlist *environment,
				const char *root);

/*
 * The job this is part of, as the cluster names it ("slurm cluster 123"), or
 * NULL; the caller frees. Pure.
 */
char *surroundings_job(const struct strlist *environment);
/* The same when the job was requeued: this start continues an earlier one. */
char *surroundings_requeued(const struct strlist *environment);

#endif
