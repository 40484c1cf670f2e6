/* Did a size end earlier than others, which goes by no failure? Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_EFFECT_EARLY_END_H
#define AUTOFIT_LAUNCHER_TUNING_EFFECT_EARLY_END_H

#include "base/trial.h"

#include <stddef.h>

/*
 * The program ended by itself, with exit status 0, after fewer optimizer steps
 * and fewer samples than it made with each other size that fits, of which it
 * was stopped. Neither a limit of steps nor the end of the data does that: it
 * has met an error that it does not tell. The largest such size; NULL: not so.
 */
const struct trial *early_end_find(const struct trial *trials, size_t count,
				   const struct trial *trial);

#endif
