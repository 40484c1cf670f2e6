/* Names of GPU models, compared as people write them. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_GPUS_NAME_H
#define AUTOFIT_CONFIGS_MODELS_GPUS_NAME_H

#include <stdbool.h>

/* Equal but for case, blanks and signs. */
bool gpu_same_name(const char *a, const char *b);

#endif
