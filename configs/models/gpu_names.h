/* What users call a GPU, held against what its driver calls it. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_GPU_NAMES_H
#define AUTOFIT_CONFIGS_MODELS_GPU_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a name without its blanks; places in it are bits of a mask. */
#define GPU_ASKED_MAX 63

/* Equal but for case, blanks and signs. */
bool gpu_name_equals(const char *a, const char *b);

/* Letters and digits of name in lower case; false: none, or too many. */
bool gpu_name_fold(char folded[GPU_ASKED_MAX + 1], const char *name);

/* The same of name without its words that say nothing of the memory. */
bool gpu_name_fold_core(char folded[GPU_ASKED_MAX + 1], const char *name);

enum gpu_name_match {
	GPU_NAME_OTHER,
	GPU_NAME_PART, /* it leaves out a word that counts */
	GPU_NAME_WHOLE,
};

/* Is asked, as gpu_name_fold() writes it, some of the words of name, in their
 * order? */
enum gpu_name_match gpu_name_match(const char *asked, const char *name);

/* How near the name is to asked, as gpu_name_fold_core() writes it: models
 * differ at their end. 0: not at all. */
size_t gpu_name_nearness(const char *asked, const char *name);

#endif
