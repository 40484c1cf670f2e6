/* Cloud instances: which GPUs one rents together. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_INSTANCES_H
#define AUTOFIT_CONFIGS_MODELS_INSTANCES_H

#include "base/strlist.h"
#include "configs/models/gpus.h"

#include <stddef.h>
#include <stdint.h>

#define INSTANCE_NAME_MAX 48

struct instance {
	char name[INSTANCE_NAME_MAX];
	char provider[INSTANCE_NAME_MAX];
	struct gpu_model gpu; /* of the catalogue it was read with */
	int64_t count;
};

/* All zero: empty. */
struct instances {
	struct instance *items;
	size_t count, capacity;
};

/*
 * The built-in ones (configs/instances.csv), then those of the user's file of
 * the same format; path NULL, or no such file: none. A line that cannot be
 * used, or whose GPU is not in the catalogue, is passed over with
 * "path:line: ..." in warnings. The caller releases instances.
 */
void instances_load(struct instances *instances, const char *path,
		    const struct gpu_catalogue *gpus, struct strlist *warnings);
void instances_release(struct instances *instances);

#endif
