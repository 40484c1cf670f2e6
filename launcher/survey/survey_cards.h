/* The cards of a survey: which, and in which order they are asked. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_SURVEY_SURVEY_CARDS_H
#define AUTOFIT_LAUNCHER_SURVEY_SURVEY_CARDS_H

#include "base/error.h"
#include "configs/models/gpus.h"

#include <stddef.h>

/* Sorted into groups, each from its largest card down. */
struct survey_cards {
	struct gpu_model *items;
	size_t count;
};

/*
 * words: "t4,rtx4090", each as gpu_catalogue_find() takes it; NULL: every card
 * of the catalogue that PyTorch for CUDA 12 runs on and of which all is known
 * that a phantom needs. Negative: err says which
 * word is none. The caller releases the cards always.
 */
int survey_cards_choose(struct survey_cards *cards,
			const struct gpu_catalogue *catalogue,
			const char *words, struct error *err);
void survey_cards_release(struct survey_cards *cards);

/*
 * How many cards, from this one on, are of one group: PyTorch chooses kernels
 * and workspaces by the first number of the compute capability, so that what it
 * allocates is the same on all of them (docs/phantom.md has the figures).
 */
size_t survey_cards_group(const struct survey_cards *cards, size_t first);

#endif
