/* The memory that a recorded command needs, for `devices --watch`. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_DEVICES_DEVICES_NEED_H
#define AUTOFIT_LAUNCHER_DEVICES_DEVICES_NEED_H

#include "launcher/devices/devices.h"
#include "launcher/options/options.h"
#include "probes/observers/gpu/gpu.h"
#include "probes/process/process_state.h"

#include <stdint.h>

enum need_kind {
	NEED_NONE,   /* nothing is recorded */
	NEED_EXACT,  /* of this very command: peak and headroom */
	NEED_NEAR,   /* of a similar command */
	NEED_NEWEST, /* no command was given: the newest on such a device */
};

struct devices_need {
	enum need_kind kind;
	char *record; /* its name; NULL with NEED_NONE */
	uint64_t peak_bytes, headroom_bytes;
};

struct devices_needs {
	struct devices_need gpus[GPU_MAX]; /* in the order of struct devices */
	struct devices_need host;
	char *words; /* about the command's record, for the user; or NULL */
};

/*
 * Looks the records up once. 0, or an exit code after a line on stderr: the
 * command is not recognised. The caller releases needs whatever comes.
 */
int devices_needs_find(struct devices_needs *needs,
		       const struct devices *devices,
		       const struct options *options,
		       const struct process_state *state);
void devices_needs_release(struct devices_needs *needs);

/* What is to be free: with headroom where it is exact; 0: not known. */
uint64_t devices_need_bytes(const struct devices_need *need);

/* "exact", "near", "newest", "none". */
const char *devices_need_name(enum need_kind kind);

#endif
