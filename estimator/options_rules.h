/* The changes that save memory: how each is made to a run. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_ESTIMATOR_OPTIONS_RULES_H
#define AUTOFIT_ESTIMATOR_OPTIONS_RULES_H

#include "estimator/options.h"

#include <stdbool.h>

struct option_rule {
	const char *name, *words, *cost;
	/*
	 * false: it means nothing to this run, whatever it wrote. What is
	 * usable of the GPU is in run->gpu_bytes.
	 */
	bool (*apply)(struct workload *run);
};

extern const struct option_rule option_rules[MEMORY_OPTION_KINDS];

#endif
