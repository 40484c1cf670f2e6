/* Sets up one probe of a tuning: folders, files, command. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SETUP_PROBE_SETUP_H
#define AUTOFIT_LAUNCHER_TUNING_SETUP_PROBE_SETUP_H

#include "base/error.h"
#include "base/strlist.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/tuning/plan/plan.h"
#include "launcher/tuning/setup/probe_kit.h"
#include "probes/isolation/isolation.h"
#include "probes/leaving/shims.h"
#include "probes/observers/host/host.h"

#include <stdbool.h>

/* When torch.compile is at work. */
#define COMPILED_STEPS 5

/* Everything of one probe that lives until it is over. */
struct probe_setup {
	char id[PROBE_ID_MAX];
	/* "NAME=value": the command is to see the GPU of that alone; NULL: what
	 * the user's own environment and options let it see. */
	const char *only_gpu;
	char *scratch, *hook, *preload, *out, *tmp, *channel;
	char *ranks; /* where those of srun report; NULL: there are none */
	struct isolation_spec isolation;
	struct strlist shared; /* its places that are written for real */
	struct shims shims;
	struct rewrite run; /* the command, its copies written */
	/* Their paths, folders made empty, the channel where it is in memory:
	 * what is removed though it is not in scratch. */
	struct strlist copies;
	struct strlist covers;      /* of them those that lie over scripts */
	struct strlist environment; /* the whole of it */
	struct host_cgroup cgroup;
	bool has_cgroup;
};

/* Enough steps of a confirmation in which each is like the one before. */
int64_t probe_setup_same_steps(const struct options *options);

/* What a probe of this step says in its command: all but port and folders. */
struct command_values probe_setup_values(const struct options *options,
					 const struct plan_step *step);

/*
 * For the probe with setup->id and only_gpu: its folders below the kit's
 * scratch folder, with hook and library in them; the command of this step, with
 * the environment of a probe and the copies of config files that it reads; a
 * hard limit of host memory where one can be had. Release it, whatever the
 * result.
 */
int probe_setup_make(struct probe_setup *setup, struct probe_kit *kit,
		     const struct session_setup *session,
		     const struct plan_step *step, struct error *err);

/* Removes what it made. */
void probe_setup_release(struct probe_setup *setup);

#endif
