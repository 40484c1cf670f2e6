/* The strategies that the table in search.c holds. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_SEARCH_STRATEGIES_H
#define AUTOFIT_SEARCH_STRATEGIES_H

#include "search/search.h"

/* By measured peaks: the next size is where the memory line meets the limit. */
extern const struct search_strategy search_guided;

/* By fits and misfits alone: doubling, halving, then bisection. */
extern const struct search_strategy search_bisect;

#endif
