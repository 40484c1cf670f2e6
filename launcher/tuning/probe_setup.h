/* What one probe of a session has of its own: folders, files, command. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_PROBE_SETUP_H
#define AUTOFIT_LAUNCHER_TUNING_PROBE_SETUP_H

#include "base/error.h"
#include "base/strlist.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/tuning/plan.h"
#include "launcher/tuning/session_internal.h"
#include "probes/isolation/isolation.h"
#include "probes/observers/host/host.h"

#include <stdbool.h>

/* Everything of one probe that lives until it is over. */
struct probe_setup {
	char id[PROBE_ID_MAX];
	char *scratch, *hook, *preload, *out, *tmp, *channel, *log;
	struct isolation_spec isolation;
	struct rewrite run;         /* the command, its copies written */
	struct strlist copies;      /* their paths */
	struct strlist environment; /* the whole of it */
	struct host_cgroup cgroup;
	bool has_cgroup;
};

/* Its folders below the shelter's, with hook and library in them. */
int probe_setup_folders(struct session *session, struct probe_setup *setup,
			struct error *err);

/*
 * The command of this step, with the environment of a probe and the copies of
 * config files that it reads.
 */
int probe_setup_command(const struct session *session,
			const struct plan_step *step, struct probe_setup *setup,
			struct error *err);

/* A hard limit of host memory, where one can be had. */
void probe_setup_cgroup(const struct session *session,
			struct probe_setup *setup);

/* Removes what it made, whatever of it there is. */
void probe_setup_release(struct probe_setup *setup);

#endif
