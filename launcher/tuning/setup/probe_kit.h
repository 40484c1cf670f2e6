/* The kit that all probes of a tuning share: isolation, patterns, secrets. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SETUP_PROBE_KIT_H
#define AUTOFIT_LAUNCHER_TUNING_SETUP_PROBE_KIT_H

#include "base/error.h"
#include "base/strlist.h"
#include "configs/presets/printed_sizes.h"
#include "configs/presets/steps.h"
#include "configs/signatures/signature.h"
#include "launcher/tuning/isolation/probe_isolation.h"
#include "launcher/tuning/setup/session_setup.h"
#include "probes/keeper/guardian.h"

#include <stdbool.h>
#include <stdint.h>

#define PROBE_ID_MAX 33

struct probe_kit {
	struct probe_isolation isolation;
	struct guardian guardian; /* where files of the isolation are kept */
	uint64_t scratch_reserve_bytes; /* of host memory; 0: on a disk */
	struct strlist secrets; /* masked in what is kept of the output */
	struct signatures *signatures;
	struct step_patterns *steps;          /* NULL: none */
	struct printed_sizes_patterns *sizes; /* NULL: none */
	char *log_folder;
	/* Additions of autofit's that an earlier probe's first error named. */
	bool without_hook, without_args, without_preload, without_output;
};

/* -EPERM: probing would not be safe here. Release it, whatever the result. */
int probe_kit_open(struct probe_kit *kit, const struct session_setup *setup,
		   struct error *err);
void probe_kit_release(struct probe_kit *kit);

/* Files of a scratch folder in memory are no memory of a probe's. */
int probe_kit_reserve(struct probe_kit *kit, struct memory_target *target,
		      struct error *err);

/* A name for one probe that no other has. */
int probe_kit_make_id(char id[PROBE_ID_MAX], struct error *err);

#endif
